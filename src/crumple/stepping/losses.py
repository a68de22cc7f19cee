"""Where energy is lost for good within a step, by the name of the cause."""

from __future__ import annotations

from crumple.model.derived import Derived
from crumple.state import State


def yield_losses(before: State, after: State, derived: Derived) -> dict[str, float]:
    """What is lost [J] when the plastic state and the damage of `before` became those of `after`, in the same shape.

    "yielding" is what the yield law takes along its path, whatever the length of the step;  "overstress" the rest of
    what the stored energy falls by: a step bends sheets elastically, beyond where they yield; they yield at its end.
    """
    is_same = after.plastic_curvature is before.plastic_curvature and after.plastic_strain is before.plastic_strain
    if is_same and after.creases is before.creases:
        return {"yielding": 0.0, "overstress": 0.0}
    unyielded = after.replaced(
        plastic_curvature=before.plastic_curvature,
        plastic_strain=before.plastic_strain,
        creases=before.creases,
        damage=before.damage,
    )
    terms = [term for kind, term in derived.terms if kind.is_in_play]
    fallen = sum(term.measure(unyielded) - term.measure(after) for term in terms)
    loss = sum(term.yield_loss(before, after) for term in terms)
    return {"yielding": loss, "overstress": fallen - loss}
