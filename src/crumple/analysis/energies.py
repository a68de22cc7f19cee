"""How the energy of a frame is split."""

from __future__ import annotations

from crumple.model.derived import Derived
from crumple.model.model import Model
from crumple.state import State
from crumple.stepping.bookkeeping import contact_energy, present_ledger
from crumple.stepping.step import measure_energies


def energy_split(model: Model, state: State) -> dict[str, float]:
    """Kinetic energy, that of every term by its name, and that of the contact barrier [J]."""
    derived = Derived(model, state)
    return measure_energies(state, derived) | {"contact": contact_energy(state, derived)}


def measure_ledger(model: Model, state: State) -> dict[str, float]:
    """The columns of the ledger of energy of a frame [J], see `state.ledger.COLUMNS`; empty where there is none: before
    the first step, and in recordings that are older than ledgers."""
    return present_ledger(state, Derived(model, state)).entries()
