"""Linear momentum through flips and collapses (compiled).

With a third of a face's mass at each corner, the momentum Σ m_i v_i is the integral of the piecewise linear velocity.
A split does not change that field. A flip or a collapse changes it on a patch, by Δp in all; the faces of the patch
take it up in proportion to their mass, each corner i with its share m of the node's mass m_i:

    v_i += Σ m/m_i · Δp/m_patch        so that  Σ m_i Δv_i = Δp.
"""

from __future__ import annotations

from numba import njit

from crumple.mesh.rings import INNER, enter, ring_start
from crumple.remeshing.measure import material_area


@njit(**INNER)
def third_of_mass(links, rest, surface, material, density, face):
    """A third of the mass of a face [kg]."""
    f = links.faces
    area = abs(material_area(links, rest, surface, f[face, 0], f[face, 1], f[face, 2]))
    return density[material[face]] * area / 3.0


@njit(**INNER)
def add_momentum(links, rest, surface, material, density, data, column, face, sign, total):
    """Add `sign` times the momentum of a face [kg m/s] to `total` (3,); v starts at `column` of the node data."""
    fraction = sign * third_of_mass(links, rest, surface, material, density, face)
    for k in range(3):
        node = links.vertex_node[links.faces[face, k]]
        for c in range(3):
            total[c] += fraction * data[node, column + c]


@njit(**INNER)
def _node_mass(links, rest, surface, material, density, node):
    """Mass of a node [kg]."""
    mass = 0.0
    first, leave = ring_start(links, node)
    corner = first
    while True:
        mass += third_of_mass(links, rest, surface, material, density, corner // 3)
        through = links.twin[leave]
        if through < 0:
            return mass
        corner, leave = enter(links, node, through)
        if corner == first:
            return mass


@njit(**INNER)
def restore_momentum(links, rest, surface, material, density, data, column, report, total):
    """Give the faces of the last edit's report the momentum `total` (3,) that the faces before had (overwritten)."""
    mass = 0.0
    for n in range(report.face_count):
        face = report.faces[n]
        add_momentum(links, rest, surface, material, density, data, column, face, -1.0, total)
        mass += 3.0 * third_of_mass(links, rest, surface, material, density, face)
    if not mass > 0.0:
        return
    for n in range(report.face_count):
        face = report.faces[n]
        fraction = third_of_mass(links, rest, surface, material, density, face) / mass
        for k in range(3):
            node = links.vertex_node[links.faces[face, k]]
            weight = fraction / _node_mass(links, rest, surface, material, density, node)
            for c in range(3):
                data[node, column + c] += weight * total[c]
