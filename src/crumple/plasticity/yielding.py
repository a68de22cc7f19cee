"""Faces bent beyond the yield curvature keep a part of it, and are weakened ([Narain2013] §3, eq. 1-3).

    S   = total bending strain of the face from its hinge angles (eq. 1, see `geometry.curvature`)
    S_e = S - S_p                                             elastic part
    S_p ← S_p + Δ S_e/‖S_e‖,   Δ = ‖S_e‖ - κ_y                when ‖S_e‖ > κ_y, Frobenius norm (eq. 2)
    δ   ← δ + Δ/κ_y                                           (eq. 3)

    C   ← C + (Δ/κ_y) S_e²/‖S_e‖²                              crease tensor, tr C = δ

So κ_y δ is the plastic curvature that a face has gone through, back and forth, and nᵀC n is how much of it was across a
line with the normal n: unlike S_p it survives when a crease is flattened. Tearing follows it.

S of single faces scatters on irregular meshes (see `geometry.curvature`): on a cylinder of curvature κ, ‖S‖/κ is 1 on
lattices, up to 1.6 on alternating diagonals and up to 2.7 on jittered points, where some faces yield that much earlier.

**Hardening** (H, off by default). The yield curvature grows to κ_y (1 + H δ). The return is still exact in one step:
Δ = (‖S_e‖ - κ_y (1 + H δ))/(1 + H). The moment at which a weakened face yields is B κ_y (1 + H δ)/(1 + γ δ):
constant for H = γ, rising for H > γ, falling (creases localise) for H < γ.

**Strength that is left** (ρ, of materials that weaken). With B/(1 + γδ) alone the moment at which a face yields falls
to nothing, and by the curvature of the face: a fold of the angle θ_p in one row of faces of the height h has δ =
θ_p/(κ_y h), so what a crease can bear, how far it springs back and whether its own swing opens it again are those of
mesh and step, as in every local model that softens. A crease has to be a hinge whose moment and stiffness are functions
of its *angle*. Its stiffness is that already: the compliance h (1 + γδ)/B = (h + γ θ_p/κ_y)/B of the row is that of the
sheet and a spring which does not know h. Its moment becomes it with the crack band of [Bazant1983]: it falls by θ_p/ℓ,
with the width ℓ of creases, a length of the material, and down to the fraction ρ of that of the new sheet, where it
does not matter any more how many rows share the fold:

    M_y = B κ_y max(ρ, (1 + H δ)/(1 + c γ δ)),   c = min(h/ℓ, 1 + 1/γ),

so faces yield at κ_y (1 + γδ) M_y/(B κ_y). h is the longest chord of the face in the direction of the bend
[Oliver1989]. Above the limit of c a face that begins to yield would snap by itself, whatever is around it, and the
return would jump. The return is implicit and exact: it ends at the moment that belongs to the damage it leaves, the
root of a quadratic equation. A crease of the angle θ_p springs back by ρ (κ_y w + γ θ_p): by a fraction of its angle,
and hardly by its width w. With ρ = 0 the law is that of the paper, c = 1.

**Crease radius** (ℓ, off by default). With H = 0 the moment does not rise with the plastic curvature, so nothing
but the mesh fixes the width of a crease: it is one row of elements, of curvature θ_p/h. With ℓ > 0 the plastic
curvature is limited to ‖S_p‖ ≤ 1/ℓ; what exceeds it stays elastic and loads the rows beside. A crease with the
angle θ_p then covers at least the width θ_p ℓ on any mesh that is finer than that, and coarser meshes do not
notice. ℓ is a length of the material: a few times its thickness.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import atan2, cos, inf, pi, sin, sqrt

import numpy as np
from numba import njit

from crumple.geometry.triangle import shape_gradients
from crumple.materials.material import Material
from crumple.mesh.sheet_mesh import SheetMesh
from crumple.plasticity.tuning import TUNING
from crumple.runtime.typing import Floats

CREASE_THICKNESSES = TUNING.crease_thicknesses.value
WORK_PARTS = TUNING.work_parts.value


@dataclass(frozen=True)
class YieldLaw:
    """Where faces yield, all (n,): `yield_curvature` κ_y [1/m], inf = elastic; `hardening` H; `largest` 1/ℓ [1/m];
    `weakening` γ; `strength` ρ that is left; `band` (n, 3, 2) ℓ ∇N, the width of creases times the gradients of the
    shape functions: the largest along the bend is ℓ/h."""

    yield_curvature: Floats
    hardening: Floats
    largest: Floats
    weakening: Floats
    strength: Floats
    band: Floats


@dataclass(frozen=True)
class Yielded:
    """After yielding: S_p (n, 3) as (xx, yy, xy) [1/m], δ (n,), C (n, 3), and how many faces yielded."""

    plastic_curvature: Floats
    damage: Floats
    crease: Floats
    count: int


def make_yield_law(
    mesh: SheetMesh,
    materials: tuple[Material, ...],
    *,
    hardening: float = 0.0,
    crease_radius: float = 0.0,
    crease_strength: float = 0.0,
) -> YieldLaw:
    """The yield law of every face of `mesh`: κ_y and γ from its material, H, ℓ [m] and ρ the same everywhere."""
    limit, weakening, thickness = (
        np.array([getattr(material, name) for material in materials], np.float64)[mesh.face_material]
        for name in ("yield_curvature", "weakening", "thickness")
    )
    law = uniform_yield_law(limit, hardening=hardening, crease_radius=crease_radius)
    band = (CREASE_THICKNESSES * thickness)[:, None, None] * shape_gradients(mesh.u[mesh.faces])
    return replace(law, weakening=weakening, strength=np.full(len(limit), crease_strength), band=band)


def uniform_yield_law(yield_curvature: Floats, *, hardening: float = 0.0, crease_radius: float = 0.0) -> YieldLaw:
    """The yield law with the given κ_y (n,) [1/m] per face, one H and one ℓ [m]; nothing weakens."""
    largest = 1.0 / crease_radius if crease_radius > 0.0 else np.inf
    size = len(yield_curvature)
    limit = np.ascontiguousarray(yield_curvature, np.float64)
    none = np.zeros(size)
    return YieldLaw(limit, np.full(size, hardening), np.full(size, largest), none, none, np.zeros((size, 3, 2)))


def yield_curvature(
    law: YieldLaw, total: Floats, plastic_curvature: Floats, damage: Floats, crease: Floats | None = None
) -> Yielded:
    """S_p, δ and C after the faces have been bent to the total strain S; nothing is changed in place.

    `total`, `plastic_curvature` (n, 3) [1/m];  `damage` (n,);  `crease` (n, 3), 0 when left out. Faces below yield keep
    their values bit by bit.
    """
    plastic, weakened = plastic_curvature.copy(), damage.copy()
    count = return_map(
        total, plastic, weakened, law.yield_curvature, law.hardening, law.largest, law.weakening, law.strength, law.band
    )
    creased = np.zeros_like(plastic) if crease is None else crease.copy()
    if count:
        grown = np.flatnonzero(weakened != damage)
        creased[grown] += crease_tensor(total[grown] - plastic_curvature[grown], weakened[grown] - damage[grown])
    return Yielded(plastic, weakened, creased, int(count))


def crease_tensor(curvature: Floats, damage: Floats) -> Floats:
    """δ S²/‖S‖² of faces that were bent by S (n, 3) [1/m] and damaged by δ (n,) in one go, (n, 3); 0 where S is."""
    xx, yy, xy = curvature[:, 0], curvature[:, 1], curvature[:, 2]
    norm = xx * xx + yy * yy + 2.0 * xy * xy
    fraction = damage / np.where(norm > 0.0, norm, np.inf)
    return np.stack([fraction * (xx * xx + xy * xy), fraction * (yy * yy + xy * xy), fraction * (xx + yy) * xy], axis=1)


@njit(cache=True)
def softening(xx, yy, xy, weakening, strength, band):
    """c γ of a face that is bent by (xx, yy, xy) [1/m]; `band` (3, 2) as in `YieldLaw`."""
    if strength == 0.0 or weakening == 0.0:
        return weakening
    turn = 0.5 * atan2(2.0 * xy, xx - yy) + (0.5 * pi if xx + yy < 0.0 else 0.0)  # towards the larger principal bend
    across, along = cos(turn), sin(turn)
    inverse = 0.0
    for corner in range(3):
        inverse = max(inverse, abs(band[corner, 0] * across + band[corner, 1] * along))
    return min(weakening / inverse if inverse > 0.0 else inf, 1.0 + weakening)


@njit(cache=True)
def worked_damage(ratio, damage, hardening, weakening, fall, strength):
    """The damage after a face with ‖S_e‖ = `ratio` κ_y has yielded; `damage` itself when it does not. `fall`: c γ.

    The larger of two limits bounds what is elastic, and with both the sum of limit and flow rises: the smaller damage
    is the right one.
    """
    weaker = 1.0 + weakening * damage
    if not ratio > weaker * max((1.0 + hardening * damage) / (1.0 + fall * damage), strength):
        return damage
    square = fall + weakening * hardening
    linear = 1.0 + weakening + hardening - fall * (damage + ratio)
    constant = 1.0 - damage - ratio
    root = sqrt(max(linear * linear - 4.0 * square * constant, 0.0))
    falling = (root - linear) / (2.0 * square) if linear <= 0.0 else -2.0 * constant / (linear + root)
    left = (ratio + damage - strength) / (1.0 + strength * weakening)
    return max(damage, min(falling, left))


@njit(cache=True)
def yield_work(flow, before, after, hardening, weakening, strength, band):
    """What yielding takes along its path, over the bending stiffness times κ_y², (n,):

        ∫ (m + ½ γ m²) dδ,    m = M_y/(B κ_y),

    the work of the moment that falls with the damage, from `before` to `after` (n,), and what weakening takes of the
    elastic energy. `flow` (n, 3): how S_p has changed; see `YieldLaw` for the others. By Simpson's rule.
    """
    work = np.zeros(len(flow))
    for f in range(len(flow)):
        if not after[f] > before[f]:
            continue
        fall = softening(flow[f, 0], flow[f, 1], flow[f, 2], weakening[f], strength[f], band[f])
        part = (after[f] - before[f]) / WORK_PARTS
        for k in range(WORK_PARTS + 1):
            damage = before[f] + k * part
            moment = max((1.0 + hardening[f] * damage) / (1.0 + fall * damage), strength[f])
            weight = 1.0 if k == 0 or k == WORK_PARTS else 4.0 if k % 2 == 1 else 2.0
            work[f] += weight / 3.0 * part * (moment + 0.5 * weakening[f] * moment * moment)
    return work


@njit(cache=True)
def return_map(total, plastic, damage, limit, hardening, largest, weakening, strength, band):
    """Move `plastic` (n, 3) towards `total` where they are farther apart than allowed; add to `damage` (n,).

    See the module's docstring, and `YieldLaw` for the others. Returns the number of tensors that moved. Serves strains
    as well as curvatures.
    """
    count = 0
    for f in range(len(total)):
        xx, yy, xy = total[f, 0] - plastic[f, 0], total[f, 1] - plastic[f, 1], total[f, 2] - plastic[f, 2]
        norm = sqrt(xx * xx + yy * yy + 2.0 * xy * xy)
        if not norm > 0.0 or limit[f] == inf:
            continue
        fall = softening(xx, yy, xy, weakening[f], strength[f], band[f])
        worked = worked_damage(norm / limit[f], damage[f], hardening[f], weakening[f], fall, strength[f])
        if not worked > damage[f]:
            continue
        flow = limit[f] * (worked - damage[f])
        scale = flow / norm
        p, q, r = plastic[f, 0] + scale * xx, plastic[f, 1] + scale * yy, plastic[f, 2] + scale * xy
        size = sqrt(p * p + q * q + 2.0 * r * r)
        if size > largest[f]:
            # a crease that was given tighter than allowed may turn, but is not opened
            before = sqrt(plastic[f, 0] ** 2 + plastic[f, 1] ** 2 + 2.0 * plastic[f, 2] ** 2)
            shrink = min(1.0, max(largest[f], before) / size)
            p, q, r = shrink * p, shrink * q, shrink * r
            flow = sqrt((p - plastic[f, 0]) ** 2 + (q - plastic[f, 1]) ** 2 + 2.0 * (r - plastic[f, 2]) ** 2)
        plastic[f, 0], plastic[f, 1], plastic[f, 2] = p, q, r
        damage[f] += flow / limit[f]
        count += 1
    return count
