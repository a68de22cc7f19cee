"""What the phases of a frame ask of the mesh, all in one."""

from __future__ import annotations

from crumple.model.derived import Derived
from crumple.model.model import Model
from crumple.remeshing.demands import Demands
from crumple.remeshing.sizing.field import compute_sizing
from crumple.runtime.typing import Floats
from crumple.state import State
from crumple.tearing.sizing import crack_demands


def mesh_demands(model: Model) -> Demands:
    """What is asked of every remeshing of `model` beside what its options say."""
    return crack_demands(model)


def state_sizing(model: Model, state: State) -> Floats:
    """The sizing field that a remeshing of `state` would follow, (vertex_count, 3) [1/m²], for pictures and tables."""
    return compute_sizing(state, Derived(model, state), mesh_demands(model).criteria)
