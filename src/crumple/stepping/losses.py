"""Where energy is lost for good within a step, by the name of the cause."""

from __future__ import annotations

from dataclasses import replace

from crumple.model.derived import Derived
from crumple.state import State


def yield_loss(before: State, after: State, derived: Derived) -> float:
    """What yielding has dissipated [J] when the plastic state p and the damage δ of `before` became those of `after`.

        D = −∂E/∂p · Δp + E(p, δ₀) − E(p, δ),     E the elastic energy, all after yielding

    The first part is the work of the moments and stresses that are left when a face has yielded: while it yields they
    are what they are then, whatever the length of the step. E is quadratic in p, so the derivative is a difference,
    ½ (E(p − Δp) − E(p + Δp)). The second part is what weakening takes.
    """
    is_same = after.plastic_curvature is before.plastic_curvature and after.plastic_strain is before.plastic_strain
    if is_same and after.creases is before.creases:
        return 0.0
    back = after.replaced(
        plastic_curvature=before.plastic_curvature, plastic_strain=before.plastic_strain, creases=before.creases
    )
    on = after.replaced(
        plastic_curvature=2.0 * after.plastic_curvature - before.plastic_curvature,
        plastic_strain=2.0 * after.plastic_strain - before.plastic_strain,
        creases=replace(after.creases, shift=2.0 * after.creases.shift - before.creases.shift),
    )
    loss = 0.5 * (_elastic(back, derived) - _elastic(on, derived))
    if after.damage is not before.damage:
        loss += _elastic(after.replaced(damage=before.damage), derived) - _elastic(after, derived)
    return loss


def _elastic(state: State, derived: Derived) -> float:
    """The elastic energy of the sheets [J]."""
    return sum(term.measure(state) for kind, term in derived.terms if kind.is_in_play)
