"""The configurational force at a point of the pattern: what elastic energy a crack sets free when its tip moves there.

    g = −∂E/∂u_tip,   x fixed,   the motion spread over the faces around by weights q (1 at the tip)      [N = J/m]

A crack that runs along the unit vector e sets free g·e per length (Eshelby; J-integral as a sum over elements). With
the weights fixed, a pattern moved by δu = q d changes every element's area and its derivatives:

* faces with an energy E(F, A):   δA = A ∇q·d,   δF = −(F d) ⊗ ∇q, hence   −δE/δd = −E ∇q + Fᵀ Σ_p q_p ∂E/∂x_p;
* mid-edge bending ½ A (S−S_p):D:(S−S_p) with the angles ψ and S_p fixed:   S = Σ_k ψ_k shape_k changes with the
pattern;
* hinges ½ k (θ−θ_rest)², k = B l²/(A₁+A₂):   δE = E (2 δl/l − δ(A₁+A₂)/(A₁+A₂)).

How stiffness and plastic state vary from face to face is left aside: that drives creases, not cracks.
"""

from __future__ import annotations

import numpy as np

from crumple.contract.energy import Energy
from crumple.geometry.triangle import shape_gradients
from crumple.mesh.sheet_mesh import SheetMesh
from crumple.runtime.compiled import kernel
from crumple.runtime.typing import Floats, Ints


def membrane_force(mesh: SheetMesh, energy: Energy, faces: Ints, x: Floats, weight: Floats) -> Floats:
    """g (2,) [N] of an energy with one element for each of the `faces` (n,), which depends on their deformation only.

    `weight` (node_count,) q; only elements with a node of weight count.
    """
    near = np.flatnonzero((weight[energy.stencil] != 0.0).any(axis=1))
    if not len(near):
        return np.zeros(2)
    part = type(energy)(**{name: np.ascontiguousarray(rows[near]) for name, rows in vars(energy).items()})
    nodes = part.stencil
    gradients = shape_gradients(mesh.u[mesh.faces[faces[near]]])
    q = weight[nodes]
    slope = np.einsum("fp,fpa->fa", q, gradients)
    deformation = np.einsum("fpi,fpa->fia", x[nodes], gradients)
    pull = np.einsum("fp,fpi->fi", q, part.gradient(x))
    total: Floats = -part.value(x) @ slope + np.einsum("fia,fi->a", deformation, pull)
    return total


def midedge_force(mesh: SheetMesh, angle: Floats, plate: Floats, plastic_curvature: Floats, weight: Floats) -> Floats:
    """g (2,) [N] of mid-edge bending with the angles ψ `angle` (face_count, 3) [rad], the stiffness D `plate`
    (face_count, 3, 3) [N m] and S_p (face_count, 3) [1/m]."""
    total = np.zeros(2)
    _midedge_force(mesh.u, mesh.faces, mesh.face_nodes, angle, plate, plastic_curvature, weight, total)
    return total


def area_force(mesh: SheetMesh, density: Floats, weight: Floats) -> Floats:
    """g (2,) [N] of an energy per area `density` (face_count,) [J/m²] that stays with the faces."""
    near = np.flatnonzero((weight[mesh.face_nodes] != 0.0).any(axis=1))
    gradients = shape_gradients(mesh.u[mesh.faces[near]])
    slope = np.einsum("fp,fpa->fa", weight[mesh.face_nodes[near]], gradients)
    return np.asarray(-(density[near] * np.abs(mesh.face_area[near])) @ slope)


@kernel
def _midedge_force(u, faces, face_nodes, angle, plate, plastic_curvature, weight, total):
    """See `midedge_force`: its two numbers are added to `total`."""
    edge, shape, length = np.empty((3, 2)), np.empty((3, 3)), np.empty(3)
    q, beyond, moment = np.empty(3), np.empty(3), np.empty(3)
    for f in range(faces.shape[0]):
        for k in range(3):
            q[k] = weight[face_nodes[f, k]]
        if q[0] == 0.0 and q[1] == 0.0 and q[2] == 0.0:
            continue
        for k in range(3):
            tail, head = faces[f, k], faces[f, (k + 1) % 3]
            for a in range(2):
                edge[k, a] = u[head, a] - u[tail, a]
            length[k] = np.hypot(edge[k, 0], edge[k, 1])
        double = edge[0, 0] * edge[1, 1] - edge[0, 1] * edge[1, 0]  # twice the area, with its sign
        area = 0.5 * abs(double)
        for k in range(3):
            scale = 1.0 / (length[k] * area)
            shape[k, 0] = edge[k, 1] * edge[k, 1] * scale
            shape[k, 1] = edge[k, 0] * edge[k, 0] * scale
            shape[k, 2] = -edge[k, 0] * edge[k, 1] * scale
        for a in range(3):
            beyond[a] = -plastic_curvature[f, a]
            for k in range(3):
                beyond[a] += angle[f, k] * shape[k, a]
        energy = 0.0
        for a in range(3):
            moment[a] = 0.0
            for b in range(3):
                moment[a] += plate[f, a, b] * beyond[b]
            energy += 0.5 * area * moment[a] * beyond[a]
        for axis in range(2):
            growth = 0.0  # δA/A for unit motion along the axis
            for k in range(3):
                across = -edge[(k + 1) % 3, 1] if axis == 0 else edge[(k + 1) % 3, 0]
                growth += q[k] * across / double
            work = 0.0
            for k in range(3):
                motion = q[(k + 1) % 3] - q[k]
                stretch = edge[k, axis] * motion / (length[k] * length[k])
                scale = motion / (length[k] * area)
                turned_x = 0.0 if axis == 0 else 2.0 * edge[k, 1] * scale
                turned_y = 2.0 * edge[k, 0] * scale if axis == 0 else 0.0
                turned_xy = -edge[k, 1 - axis] * scale
                bent = moment[0] * (turned_x - shape[k, 0] * (stretch + growth))
                bent += moment[1] * (turned_y - shape[k, 1] * (stretch + growth))
                bent += moment[2] * (turned_xy - shape[k, 2] * (stretch + growth))
                work += angle[f, k] * bent
            total[axis] -= energy * growth + area * work


def hinge_force(mesh: SheetMesh, energy: Floats, weight: Floats) -> Floats:
    """g (2,) [N] of hinges with the energies (hinge_count,) [J] that go with l²/(A₁+A₂)."""
    hinges = mesh.hinges
    near = np.flatnonzero((weight[hinges.nodes] != 0.0).any(axis=1))
    area = np.abs(mesh.face_area)
    total = np.zeros(2)
    if not len(near):
        return total
    gradients = shape_gradients(mesh.u[mesh.faces])
    slope = np.einsum("fp,fpa->fa", weight[mesh.face_nodes], gradients) * area[:, None]
    faces = hinges.faces[near]
    spread = slope[faces].sum(axis=1) / area[faces].sum(axis=1)[:, None]
    for side in range(2):
        corners = hinges.corners[near, side]
        face, k = corners // 3, corners % 3
        tail, head = mesh.faces[face, k], mesh.faces[face, (k + 1) % 3]
        edge = mesh.u[head] - mesh.u[tail]
        growth = (weight[mesh.vertex_node[head]] - weight[mesh.vertex_node[tail]]) / np.einsum("ha,ha->h", edge, edge)
        total -= energy[near] @ (edge * growth[:, None])
    return total + energy[near] @ spread
