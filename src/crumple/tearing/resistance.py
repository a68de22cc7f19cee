"""What a crack takes to run: energy per length, by place and direction.

    R(u, θ) = G_c(θ) t η / m      [N = J/m]

with the tear energy G_c of the material, t its thickness, η of a labelled line (a perforation) and m of the creases.

**Grain.** G_c(θ) = G_∥ cos²θ + G_⊥ sin²θ for a crack at the angle θ to the grain.

**Creases.** A face whose crease tensor is C (see `plasticity.yielding`) has been bent by κ_y nᵀC n per length across a
crack with the normal n, back and forth. What a crack feels is the angle by which the strip that it is about to run
through was bent in all,

    φ = ∫∫ κ_y nᵀC n (1 − |r|/w) dr p(s) ds,   w = `WINDOW` ℓ,

r across the crack, s along it, p a hat over the next 2 ℓ whose integral is 1: a crack on a fold by θ that is narrow
beside w feels φ = θ, on any mesh, one beside it less. So a fold is a valley of R with its bottom on the fold, and a
crack that strays is drawn back. With the bend of single faces instead, everywhere on a creased face is as good as on
the fold itself, and cracks wander off. Then m = 1 + (m∞−1)(1 − exp(−φ/φ₀)).

With the rule "jiang" instead m = (1 + d (D·n)²)², d the damage and D the direction of largest |S_p| [Jiang2016]; there
the strength is multiplied by 1 + d (D·n)², and energies go with the square of strengths.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, inf, sqrt

import numpy as np
from numba import njit

from crumple.geometry.metric import tensor_eigen
from crumple.materials.material import Material
from crumple.mesh.sheet_mesh import SheetMesh
from crumple.options.tearing import Tearing
from crumple.runtime.typing import Floats
from crumple.tearing.tuning import TUNING

ON_EDGE = TUNING.along_edge.value
WINDOW = TUNING.resistance_window.value
PARTS = TUNING.resistance_parts.value


@dataclass(frozen=True)
class Toughness:
    """What the faces of one mesh oppose to cracks.

    `energy` (face_count, 2) G_c t [N] along the grain and across it;  `grain` (face_count, 2) its unit direction;
    `fold` (face_count, 3) κ_y C [1/m] with the rule "angle", d D Dᵀ with the rule "jiang";  `is_jiang` which of them;
    `line` (face_count, 3) η of each half-edge;  `crease_factor` m∞, `crease_angle` φ₀ [rad].
    """

    energy: Floats
    grain: Floats
    fold: Floats
    line: Floats
    is_jiang: bool
    crease_factor: float
    crease_angle: float


def make_toughness(
    mesh: SheetMesh,
    materials: tuple[Material, ...],
    options: Tearing,
    *,
    crease: Floats,
    damage: Floats,
    plastic_curvature: Floats,
) -> Toughness:
    """The toughness of a mesh with the crease tensors `crease` (face_count, 3), `damage` (face_count,) and S_p
    `plastic_curvature` (face_count, 3) [1/m]."""
    group = mesh.face_material
    angle = np.array([material.grain_angle for material in materials])[group]
    is_jiang = options.crease_rule == "jiang"
    if is_jiang:
        fold = damage[:, None] * main_direction_tensor(plastic_curvature)
    else:
        limit = np.array([material.yield_curvature for material in materials])[group]
        fold = np.where(np.isfinite(limit), limit, 0.0)[:, None] * crease
    line = np.ones((mesh.face_count, 3))
    for one in options.lines:
        line[mesh.edge_label == one.label] = one.factor
    energy = np.array([[energy * material.thickness for energy in material.tear_energy] for material in materials])
    return Toughness(
        energy=np.ascontiguousarray(energy[group]),
        grain=np.stack([np.cos(angle), np.sin(angle)], axis=1),
        fold=np.ascontiguousarray(fold),
        line=line,
        is_jiang=is_jiang,
        crease_factor=options.crease_factor,
        crease_angle=options.crease_angle,
    )


def resistance(toughness: Toughness, mesh: SheetMesh, vertex: int, directions: Floats, *, size: float) -> Floats:
    """R [N] of a crack that runs on from `vertex` in each of the unit `directions` (n, 2) on the pattern, (n,).

    `size` ℓ [m], edge length at tips. Infinite where a direction leaves the sheet, or the material does not tear. A
    direction along an edge sees the mean of its two faces.
    """
    fan = np.flatnonzero((mesh.faces == vertex).any(axis=1)).astype(np.int32)
    out = np.empty(len(directions))
    directions = np.ascontiguousarray(directions, np.float64)
    tables = (toughness.energy, toughness.grain, toughness.fold, toughness.line)
    ease = np.empty(0)
    if not toughness.is_jiang:
        ease = fold_angles(toughness.fold, mesh, vertex, directions, size)
    fold_numbers = (toughness.is_jiang, ease, toughness.crease_factor, toughness.crease_angle)
    _resistance(mesh.u, mesh.faces, fan, vertex, directions, *tables, *fold_numbers, out)
    return out


def weak_lines(line: Floats, mesh: SheetMesh, vertex: int) -> Floats:
    """Unit vectors (n, 2) along the edges at a `vertex` that tear more easily than the sheet; `line` (face_count, 3)
    η of each half-edge."""
    tail, head = mesh.faces, np.roll(mesh.faces, -1, axis=1)
    weak = line < 1.0
    ends = np.unique(np.concatenate([head[weak & (tail == vertex)], tail[weak & (head == vertex)]]))
    along = mesh.u[ends] - mesh.u[vertex]
    return np.asarray(along / np.linalg.norm(along, axis=1, keepdims=True))


def fold_angles(fold: Floats, mesh: SheetMesh, vertex: int, directions: Floats, size: float) -> Floats:
    """φ (n,) [rad] that a crack from `vertex` feels in each of the unit `directions` (n, 2); see the module.

    `fold` (face_count, 3) κ_y C [1/m];  `size` ℓ [m]. The mean over the part of the strip that is in the sheet counts.
    """
    width, length = WINDOW * size, 2.0 * size
    corner = mesh.u[mesh.faces] - mesh.u[vertex]
    reach = np.hypot(width, length)
    sheet = mesh.face_sheet[np.argmax((mesh.faces == vertex).any(axis=1))]
    near = np.all((corner.min(axis=1) < reach) & (corner.max(axis=1) > -reach), axis=1)
    chosen = np.flatnonzero(near & (mesh.face_sheet == sheet))
    out = np.zeros(len(directions))
    if not fold[chosen].any():
        return out
    area = np.abs(mesh.face_area[chosen])
    _fold_angles(corner[chosen], area, fold[chosen], directions, width, length, out)
    return out


def main_direction_tensor(tensor: Floats) -> Floats:
    """D Dᵀ (n, 3) of the eigenvector D whose eigenvalue has the largest modulus, 0 where the tensor (n, 3) is 0.

    The largest modulus, not the largest value: a valley fold has a negative eigenvalue across it.
    """
    values, first = tensor_eigen(tensor)
    is_first = (np.abs(values[:, 0]) >= np.abs(values[:, 1]))[:, None]
    axis = np.where(is_first, first, np.stack([-first[:, 1], first[:, 0]], axis=1))
    axis = np.where(np.any(tensor != 0.0, axis=1)[:, None], axis, 0.0)
    return np.stack([axis[:, 0] ** 2, axis[:, 1] ** 2, axis[:, 0] * axis[:, 1]], axis=1)


@njit(cache=True)
def _fold_angles(corner, area, fold, directions, width, length, out):
    """`fold_angles` for arrays: mean of κ_y nᵀC n times the width, weighted over the strip, in parts of the faces."""
    parts = PARTS * PARTS
    for k in range(len(directions)):
        p, q = directions[k, 0], directions[k, 1]
        total, weight = 0.0, 0.0
        for f in range(len(corner)):
            share = 0.0
            for i in range(PARTS):
                for j in range(2 * i + 1):
                    # the middle of part j in row i, of which every other one stands on its head
                    a = (i + (2.0 if j % 2 == 0 else 1.0) / 3.0) / PARTS
                    b = (j // 2 + (1.0 if j % 2 == 0 else 2.0) / 3.0) / PARTS
                    x = corner[f, 0, 0] * (1.0 - a) + corner[f, 1, 0] * (a - b) + corner[f, 2, 0] * b
                    y = corner[f, 0, 1] * (1.0 - a) + corner[f, 1, 1] * (a - b) + corner[f, 2, 1] * b
                    ahead, beside = p * x + q * y, abs(p * y - q * x)
                    if ahead <= 0.0 or ahead >= length or beside >= width:
                        continue
                    share += (1.0 - beside / width) * (1.0 - abs(2.0 * ahead / length - 1.0))
            if share == 0.0:
                continue
            bent = fold[f, 0] * q * q - 2.0 * fold[f, 2] * p * q + fold[f, 1] * p * p
            share *= area[f] / parts
            weight += share
            total += share * max(bent, 0.0)
        out[k] = width * total / weight if weight > 0.0 else 0.0


@njit(cache=True)
def _resistance(
    u, faces, fan, vertex, directions, energy, grain, fold, line, is_jiang, felt, crease_factor, crease_angle, out
):
    """`resistance` for arrays; `felt` (n,) φ, or nothing with the rule "jiang"; see the module's docstring."""
    for k in range(len(directions)):
        p, q = directions[k, 0], directions[k, 1]
        total, ease, count, factor = 0.0, 0.0, 0, 1.0
        for i in range(len(fan)):
            f = fan[i]
            corner = 0 if faces[f, 0] == vertex else (1 if faces[f, 1] == vertex else 2)
            before = (corner + 2) % 3
            ax, ay = _unit(u, vertex, faces[f, (corner + 1) % 3])
            bx, by = _unit(u, vertex, faces[f, before])
            # sines of the angles from the first edge to the direction, and from there to the second
            first, second = ax * q - ay * p, p * by - q * bx
            ahead = ax * p + ay * q > 0.0 or bx * p + by * q > 0.0
            if not (ahead and first > -ON_EDGE and second > -ON_EDGE):
                continue
            if (first < ON_EDGE and ax * p + ay * q > 0.0) or (second < ON_EDGE and bx * p + by * q > 0.0):
                # the half-edges at the vertex are the one that leaves the corner and the one that comes before
                factor = line[f, corner] if first < ON_EDGE else line[f, before]
            along = (p * grain[f, 0] + q * grain[f, 1]) ** 2
            total += energy[f, 0] * along + energy[f, 1] * (1.0 - along)
            if is_jiang:
                ease += fold[f, 0] * q * q - 2.0 * fold[f, 2] * p * q + fold[f, 1] * p * p
            count += 1
        if count == 0:
            out[k] = inf
            continue
        if is_jiang:
            m = (1.0 + ease / count) ** 2
        else:
            m = 1.0 + (crease_factor - 1.0) * (1.0 - exp(-felt[k] / crease_angle))
        out[k] = total / count * factor / m


@njit(cache=True)
def _unit(u, a, b):
    """The unit vector from vertex a to vertex b."""
    x, y = u[b, 0] - u[a, 0], u[b, 1] - u[a, 1]
    length = sqrt(x * x + y * y)
    return x / length, y / length
