"""Linear momentum through flips and collapses (compiled).

With a third of a face's mass at each corner, the momentum Σ m_i v_i is the integral of the piecewise linear velocity.
A split does not change that field. A flip or a collapse changes it on a patch, by Δp in all; the faces of the patch
take it up in proportion to their mass, each corner i with its share m of the node's mass m_i:

    v_i += Σ m/m_i · Δp/m_patch        so that  Σ m_i Δv_i = Δp.
"""

from __future__ import annotations

from numba import njit

from crumple.mesh.buffers import FACE_COUNT, FACE_LIST
from crumple.mesh.rings import INNER, enter, ring_start
from crumple.remeshing.arrays import VELOCITY
from crumple.remeshing.measure import material_area


@njit(**INNER)
def third_of_mass(work, face):
    """A third of the mass of a face [kg]."""
    f = work.buf.links.faces
    area = abs(material_area(work, f[face, 0], f[face, 1], f[face, 2]))
    return work.density[work.buf.face_material[face]] * area / 3.0


@njit(**INNER)
def add_momentum(work, face, sign, total):
    """Add `sign` times the momentum of a face [kg m/s] to `total` (3,)."""
    share, column = sign * third_of_mass(work, face), work.flag[VELOCITY]
    for k in range(3):
        node = work.buf.links.vertex_node[work.buf.links.faces[face, k]]
        for c in range(3):
            total[c] += share * work.buf.node_data[node, column + c]


@njit(**INNER)
def _node_mass(work, node):
    """Mass of a node [kg]."""
    links, mass = work.buf.links, 0.0
    first, leave = ring_start(links, node)
    corner = first
    while True:
        mass += third_of_mass(work, corner // 3)
        through = links.twin[leave]
        if through < 0:
            return mass
        corner, leave = enter(links, node, through)
        if corner == first:
            return mass


@njit(**INNER)
def restore_momentum(work, total):
    """Give the faces of the last edit's report the momentum `total` (3,) that the faces before had (overwritten)."""
    report, column = work.buf.report, work.flag[VELOCITY]
    mass = 0.0
    for n in range(report[FACE_COUNT]):
        face = report[FACE_LIST + n]
        add_momentum(work, face, -1.0, total)
        mass += 3.0 * third_of_mass(work, face)
    if not mass > 0.0:
        return
    for n in range(report[FACE_COUNT]):
        face = report[FACE_LIST + n]
        share = third_of_mass(work, face) / mass
        for k in range(3):
            node = work.buf.links.vertex_node[work.buf.links.faces[face, k]]
            weight = share / _node_mass(work, node)
            for c in range(3):
                work.buf.node_data[node, column + c] += weight * total[c]
