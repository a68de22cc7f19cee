"""How the ledger of energy (`state.ledger`) is kept from step to step.

A step opens it: where the state is not the one that the last step has left, the difference is booked as remeshing. Then
the powers of what acts by velocities are integrated over the instants of the step with the weights by which the scheme
itself integrates forces. At its end the step books what handles, obstacles and loads have done, what has yielded and
torn, and the energies that are left.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from crumple.contact import barrier_energy, find_candidates
from crumple.contract import Stage
from crumple.contract.term import kinetic_energy
from crumple.model.derived import Derived
from crumple.state import Ledger, State
from crumple.stepping.integration import StepPath
from crumple.stepping.reports import StepReport
from crumple.stepping.schemes import Instant, integrate_power
from crumple.stepping.tuning import TUNING

LAYERS = TUNING.resting_layers.value


def open_ledger(state: State, derived: Derived) -> Ledger:
    """The ledger with the energies of `state`, at the start of a step."""
    ledger = state.ledger
    kinetic = kinetic_energy(derived.mass, state.v)
    if ledger.is_current and kinetic == ledger.kinetic:
        return ledger
    measured = {kind.name: term.measure(state) for kind, term in derived.terms}
    stored, potential = split_energies(measured | {"contact": contact_energy(state, derived)}, derived)
    now = replace(ledger, has_begun=True, is_current=True, kinetic=kinetic, stored=stored, potential=potential)
    if not ledger.has_begun:
        return replace(now, start=kinetic + stored)
    gained = kinetic + stored + potential - (ledger.kinetic + ledger.stored + ledger.potential)
    # so that the work of gravity is always the potential that was there at the start minus the present one
    return replace(now, remeshing=ledger.remeshing + gained, gravity=ledger.gravity + ledger.potential - potential)


def book_motion(ledger: Ledger, step_path: StepPath, derived: Derived, step: float) -> Ledger:
    """The ledger with what friction, impacts, damping and the air have done in a step of `step` [s]."""
    powers = [_powers(ledger)]
    known = zip(step_path.stages, step_path.instants[1:], step_path.rubbing, step_path.impacts, strict=True)
    for stage, instant, rubbing, impact in known:
        powers.append(drained_powers(stage, instant, derived, rubbing=rubbing, impact=impact))
    return _booked(ledger, powers, step, powers[-1])


def rebook_last(ledger: Ledger, now: Mapping[str, float], stages: int, step: float) -> Ledger:
    """The ledger of a step of `step` [s] in so many `stages` the last of which was solved again: with the powers that
    are drained `now` instead of those that were booked [W]."""
    change = {name: now[name] - booked for name, booked in _powers(ledger).items()}
    still = dict.fromkeys(change, 0.0)
    return _booked(ledger, [*(still for _ in range(stages)), change], step, now)


def drained_powers(
    stage: Stage, instant: Instant, derived: Derived, *, rubbing: float, impact: float
) -> dict[str, float]:
    """What is drained at the end of a stage, by its column [W]; `rubbing`, `impact` by friction and impacts."""
    now = {"friction": rubbing, "impacts": impact, "damping": 0.0, "velocity_damping": 0.0, "air": 0.0}
    for kind, term in derived.terms:
        now[kind.column] += term.drained(stage, instant.x, instant.half_turn)
    return now


def _booked(ledger: Ledger, powers: Sequence[Mapping[str, float]], step: float, last: Mapping[str, float]) -> Ledger:
    """The ledger with the work of `powers` at the start and at every stage of a step, and those that are `last`."""
    work = {name: integrate_power([now[name] for now in powers], step) for name in powers[0]}
    return replace(
        ledger,
        friction=ledger.friction + work["friction"],
        impacts=ledger.impacts + work["impacts"],
        damping=ledger.damping + work["damping"],
        velocity_damping=ledger.velocity_damping + work["velocity_damping"],
        air=ledger.air - work["air"],
        friction_power=last["friction"],
        impact_power=last["impacts"],
        damping_power=last["damping"],
        velocity_damping_power=last["velocity_damping"],
        air_power=last["air"],
    )


def close_ledger(before: State, state: State, derived: Derived, report: StepReport) -> Ledger:
    """The ledger at the end of a step from `before` to `state`, whose energies, pulls and losses are in its report."""
    ledger = state.ledger
    stored, potential = split_energies(report.energies, derived)
    driven = sum(term.driven_work(before, state) for _, term in derived.terms)
    return replace(
        ledger,
        handles=ledger.handles + sum(pull.work for pull in report.handles.values()),
        obstacles=ledger.obstacles + sum(pull.work for pull in report.obstacles.values()),
        gravity=ledger.gravity + ledger.potential - potential,
        creases=ledger.creases + driven,
        yielding=ledger.yielding + report.losses["yielding"],
        overstress=ledger.overstress + report.losses["overstress"],
        tearing=ledger.tearing + state.fracture_work - before.fracture_work,
        kinetic=report.energies["kinetic"],
        stored=stored,
        potential=potential,
        contact=report.energies["contact"],
        sheets=sum(report.energies[kind.name] for kind, _ in derived.terms if kind.is_in_play),
    )


def with_stale_ledger(state: State) -> State:
    """A state that was changed after its last step: what that changes is booked by the next one."""
    return state.replaced(ledger=replace(state.ledger, is_current=False))


def note_pressing(state: State, derived: Derived) -> tuple[State, tuple[str, ...]]:
    """The state at the end of a frame with whether contact stores more than the sheets noted in its ledger, and a
    warning when that has begun.

    What a sheet that only lies somewhere presses into the barrier does not count: at most its weight times the
    activation distance, `LAYERS` times for those below others.
    """
    ledger, contact = state.ledger, derived.model.contact
    weight = float(derived.mass.sum()) * float(np.linalg.norm(derived.acceleration()))
    resting = LAYERS * weight * contact.activation
    is_pressed = ledger.contact > max(ledger.sheets + ledger.kinetic, resting)
    if is_pressed == ledger.is_pressed:
        return state, ()
    told = (
        f"t = {state.time:.4g} s: the contact barrier stores {ledger.contact:.3g} J, more than the sheets "
        f"({ledger.sheets:.3g} J): its stiffness and reach shape what is seen; lower contact.activation, or press less"
    )
    return state.replaced(ledger=replace(ledger, is_pressed=is_pressed)), (told,) if is_pressed else ()


def present_ledger(state: State, derived: Derived) -> Ledger:
    """The ledger of `state`, with the last remeshing in it; as it is before the first step."""
    return open_ledger(state, derived) if state.ledger.has_begun else state.ledger


def split_energies(energies: Mapping[str, float], derived: Derived) -> tuple[float, float]:
    """Of energies by the names of the terms and of "contact" [J]: those stored in the sheets and in what holds them,
    and those of loads."""
    stored, potential = energies["contact"], 0.0
    for name, is_load in {kind.name: kind.is_load for kind, _ in derived.terms}.items():
        if is_load:
            potential += energies[name]
        else:
            stored += energies[name]
    return stored, potential


def contact_energy(state: State, derived: Derived) -> float:
    """Energy of the contact barrier [J]; 0 when contact is off."""
    surface = derived.surface(state.time)
    if surface is None:
        return 0.0
    x = np.ascontiguousarray(np.concatenate([state.x, state.obstacle_x]))
    candidates = find_candidates(surface, x, x, surface.reach)
    return barrier_energy(surface, candidates, x, derived.model.contact.stiffness)


def _powers(ledger: Ledger) -> dict[str, float]:
    """What was drained at the end of the last step, by its column [W]."""
    return {
        "friction": ledger.friction_power,
        "impacts": ledger.impact_power,
        "damping": ledger.damping_power,
        "velocity_damping": ledger.velocity_damping_power,
        "air": ledger.air_power,
    }
