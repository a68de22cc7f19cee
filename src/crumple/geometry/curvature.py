"""Bending strain of faces from hinge angles, and rest angles from bending strain ([Narain2013] eq. 1).

    S_f = 1/(2 A_f) Σ_k θ_k ℓ_k t_k t_kᵀ        over the hinges k of face f

with ℓ_k the length of the edge and t_k the unit normal to it, both in the face's *own* pattern, so that hinges
across a seam need nothing special. S is in 1/m; it is positive where the normals diverge (the same sign as the
dihedral angle): S = ∇n in pattern coordinates, i.e. minus the Hessian of a height field.

**The factor.** The jump of the normal across edge e is a line density θ_e t_e t_eᵀ, so the integral of ∇n over a
patch is Σ_e θ_e ℓ_e t_e t_eᵀ. Each interior edge gives half of it to either face: that is the ½ in eq. 1, and
Σ_f A_f S_f = ∫∇n holds with no further factor. On a lattice (every edge midpoint is a point symmetry, which
exchanges the two kinds of triangles) all faces have the same share and S equals the true tensor face by face:
a cylinder of curvature κ gives eigenvalues (κ, 0). On irregular meshes this is true on average over a few
faces only, not face by face, however fine the mesh.

**Boundary faces** lack the half share of their boundary edges and so see less than the true curvature.
It is the definition in the paper, and S and S_p of one face suffer alike.

**Inverse.** With edge vectors e_0, e_1, e_2 of a face, eᵢᵀ t_k t_kᵀ eⱼ is -h_k² for {i, j, k} = {0, 1, 2} and 0 when
i = k or j = k, where h_k = 2A/ℓ_k is the height over edge k. So the 3×3 system has the closed solution

    θ_k = -(eᵢᵀ S eⱼ) ℓ_k / (2A).

Where boundary edges are missing, the remaining angles are the least-squares solution in the Frobenius norm.
Neighbours that disagree on a hinge are averaged. θ → S → θ is exact; S → θ → S is exact whenever S comes from angles.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from crumple.geometry.hinge import dihedral_angles
from crumple.geometry.tuning import TUNING
from crumple.mesh.sheet_mesh import SheetMesh
from crumple.runtime.typing import Bools, Floats, Ints

FLAT_TOLERANCE = TUNING.flat_face_height.value


@dataclass(frozen=True)
class CurvatureStencil:
    """The linear maps between hinge angles and the bending strain of each face; constant while the mesh is.

    `face_hinge` (face_count, 3) hinge of half-edge 3 f + k, -1 at the boundary;
    `strain_of_angle` (face_count, 3, 3): S (xx, yy, xy) of face f is Σ_k θ_k strain_of_angle[f, k] [1/m];
    `angle_of_strain` (face_count, 3, 3): θ_k of face f is angle_of_strain[f, k] · S [m];
    `hinge_corners` (hinge_count, 2) the two half-edges of each hinge;
    `face_valid` (face_count,) whether the face is not degenerate.
    """

    face_hinge: Ints
    strain_of_angle: Floats
    angle_of_strain: Floats
    hinge_corners: Ints
    face_valid: Bools


def curvature_stencil(mesh: SheetMesh) -> CurvatureStencil:
    """The maps of eq. 1 and of its inverse for every face of `mesh`."""
    corners = mesh.hinges.corners
    face_hinge: Ints = np.full((mesh.face_count, 3), -1, np.int32)
    face_hinge.ravel()[corners.T] = np.arange(len(corners), dtype=np.int32)
    forward = np.zeros((mesh.face_count, 3, 3))
    backward = np.zeros((mesh.face_count, 3, 3))
    valid = np.zeros(mesh.face_count, np.bool_)
    _fill_stencil(mesh.u, mesh.faces, face_hinge, forward, backward, valid)
    return CurvatureStencil(face_hinge, forward, backward, corners, valid)


def bending_strain(stencil: CurvatureStencil, angle: Floats, out: Floats | None = None) -> Floats:
    """Total bending strain S of each face from hinge angles (eq. 1).

    `angle` (hinge_count,) [rad] → (face_count, 3) = (xx, yy, xy) [1/m].
    """
    out = np.empty((len(stencil.face_hinge), 3)) if out is None else out
    _apply_strain(stencil.face_hinge, stencil.strain_of_angle, angle, out)
    return out


def rest_angle(stencil: CurvatureStencil, strain: Floats, out: Floats | None = None) -> Floats:
    """Hinge angles that recover the bending strain of both faces, averaged where these disagree.

    `strain` (face_count, 3) [1/m] → (hinge_count,) [rad]. A hinge between two degenerate faces gets 0.
    """
    out = np.empty(len(stencil.hinge_corners)) if out is None else out
    _apply_rest_angle(stencil.hinge_corners, stencil.angle_of_strain, stencil.face_valid, strain, out)
    return out


def shape_curvature(mesh: SheetMesh, x: Floats, stencil: CurvatureStencil | None = None) -> Floats:
    """Total bending strain S of each face in the shape x (node_count, 3) [m], (face_count, 3) [1/m]."""
    stencil = curvature_stencil(mesh) if stencil is None else stencil
    return bending_strain(stencil, dihedral_angles(x, mesh.hinges.nodes))


@njit(cache=True)
def _fill_stencil(u, faces, face_hinge, forward, backward, valid):
    """Write both maps of every face; see the module's docstring for the formulas."""
    e = np.empty((3, 2))
    for f in range(len(faces)):
        longest = 0.0
        for k in range(3):
            tail, head = faces[f, k], faces[f, (k + 1) % 3]
            e[k, 0] = u[head, 0] - u[tail, 0]
            e[k, 1] = u[head, 1] - u[tail, 1]
            longest = max(longest, e[k, 0] * e[k, 0] + e[k, 1] * e[k, 1])
        double_area = abs(e[0, 0] * e[1, 1] - e[0, 1] * e[1, 0])
        valid[f] = double_area > FLAT_TOLERANCE * longest
        if not valid[f]:
            continue
        boundary_count = 0
        for k in range(3):
            if face_hinge[f, k] < 0:
                boundary_count += 1
                continue
            # ℓ t tᵀ = (rotated e)(rotated e)ᵀ / ℓ
            length = np.sqrt(e[k, 0] * e[k, 0] + e[k, 1] * e[k, 1])
            scale = 1.0 / (length * double_area)
            forward[f, k, 0] = e[k, 1] * e[k, 1] * scale
            forward[f, k, 1] = e[k, 0] * e[k, 0] * scale
            forward[f, k, 2] = -e[k, 0] * e[k, 1] * scale
            i, j = (k + 1) % 3, (k + 2) % 3
            factor = -length / double_area
            backward[f, k, 0] = factor * e[i, 0] * e[j, 0]
            backward[f, k, 1] = factor * e[i, 1] * e[j, 1]
            backward[f, k, 2] = factor * (e[i, 0] * e[j, 1] + e[i, 1] * e[j, 0])
        if boundary_count > 0:
            _fill_least_squares(face_hinge[f], forward[f], backward[f])


@njit(cache=True)
def _fill_least_squares(hinge, forward, backward):
    """Replace `backward` by the pseudo-inverse of the one or two rows of `forward` that belong to hinges."""
    p, q = -1, -1
    for k in range(3):
        if hinge[k] >= 0:
            if p < 0:
                p = k
            else:
                q = k
    if p < 0:
        return
    pp, qq, pq = _inner(forward[p], forward[p]), 0.0, 0.0
    if q >= 0:
        qq, pq = _inner(forward[q], forward[q]), _inner(forward[p], forward[q])
    determinant = pp * qq - pq * pq
    for m in range(3):
        twice = 2.0 if m == 2 else 1.0  # the xy entry counts twice in the Frobenius product
        if q < 0:
            backward[p, m] = twice * forward[p, m] / pp
        else:
            backward[p, m] = twice * (qq * forward[p, m] - pq * forward[q, m]) / determinant
            backward[q, m] = twice * (pp * forward[q, m] - pq * forward[p, m]) / determinant


@njit(cache=True)
def _inner(a, b):
    """Frobenius product of two symmetric tensors."""
    return a[0] * b[0] + a[1] * b[1] + 2.0 * a[2] * b[2]


@njit(cache=True)
def _apply_strain(face_hinge, strain_of_angle, angle, out):
    """out[f] = Σ_k angle[hinge k of f] strain_of_angle[f, k]."""
    for f in range(len(face_hinge)):
        xx, yy, xy = 0.0, 0.0, 0.0
        for k in range(3):
            hinge = face_hinge[f, k]
            if hinge >= 0:
                xx += angle[hinge] * strain_of_angle[f, k, 0]
                yy += angle[hinge] * strain_of_angle[f, k, 1]
                xy += angle[hinge] * strain_of_angle[f, k, 2]
        out[f, 0], out[f, 1], out[f, 2] = xx, yy, xy


@njit(cache=True)
def _apply_rest_angle(hinge_corners, angle_of_strain, valid, strain, out):
    """out[h] = mean over the valid faces of h of angle_of_strain · strain."""
    for h in range(len(hinge_corners)):
        total, count = 0.0, 0
        for side in range(2):
            f, k = hinge_corners[h, side] // 3, hinge_corners[h, side] % 3
            if valid[f]:
                count += 1
                for m in range(3):
                    total += angle_of_strain[f, k, m] * strain[f, m]
        out[h] = total / count if count > 0 else 0.0
