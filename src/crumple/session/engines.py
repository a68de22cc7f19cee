"""The engines by name: what advances the model of a scene."""

from __future__ import annotations

from collections.abc import Sequence

from crumple.model.model import Model
from crumple.options.developable import DevelopableOptions
from crumple.runtime.errors import InputError
from crumple.simulation.engine import Engine, PhysicsEngine
from crumple.state import State

PHYSICS, DEVELOPABLE = "physics", "developable"
ENGINES = (PHYSICS, DEVELOPABLE)
"""The full physics on any sheets; one flat sheet as a piecewise developable surface."""


def make_engine(name: str, model: Model, state: State, developable: DevelopableOptions | None = None) -> Engine:
    """The engine of this name with a model at its first state; `InputError` when it cannot do what the model asks.

    `developable`: options of that engine, by default as fine as the size of the sheet asks for.
    """
    if name not in ENGINES:
        raise InputError("engine", f"must be one of {', '.join(ENGINES)}", name)
    if name == DEVELOPABLE:
        from crumple.developable.adoption import adopt  # slow to import, seldom needed

        return adopt(model, state, developable)
    if developable is not None:
        raise InputError("developable", f"are options of the engine {DEVELOPABLE}; choose it, or leave them out")
    return PhysicsEngine(model, state)


def refuse_resumption(path: str, terms: Sequence[str]) -> None:
    """`InputError` for a recording at `path` of a model with these own `terms`, if no state can be gone on with."""
    from crumple.developable.memory import FOLDS

    if FOLDS in terms:
        remedy = (
            "was made by the engine developable, of whose rulings and singular points a recording holds the mesh alone;"
            " go on by playing the script of its session again and adding to it: crumple play SHEET --engine"
            " developable --replay SCRIPT --out FOLDER, in Python Simulation(…, engine='developable').play(script)"
        )
        raise InputError(path, remedy)
