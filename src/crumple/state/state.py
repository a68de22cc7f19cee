"""What varies during a run: exactly what a checkpoint holds.

Every array that lives on the mesh declares, with `attached`, on what kind of element it lives, how many numbers it has
there and by which rule it follows a change of the mesh. Transfer, recording, digest and the checks below all read
these declarations, so a new field is one line here. Fields of a user's own are added to a state with `with_field`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from crumple.mesh.fields import Field, Place, Rule
from crumple.mesh.sheet_mesh import SheetMesh
from crumple.runtime.errors import InputError
from crumple.runtime.typing import Floats
from crumple.state.cracks import Tips, Torn, no_tips, nothing_torn
from crumple.state.following import element_count
from crumple.state.ledger import Ledger
from crumple.state.ragged import Bonds, CreaseRows, Pins, no_bonds, no_creases, no_pins


def attached(where: Place, width: int, rule: Rule, *, optional: bool = False) -> Any:
    """Declares an array of `width` numbers on each element; `optional` ones are zero when they are left out."""
    metadata = {"where": where, "width": width, "rule": rule}
    return dataclasses.field(default=None, metadata=metadata) if optional else dataclasses.field(metadata=metadata)


@dataclass(frozen=True)
class OwnField:
    """A field of the user's: `values` (element_count, …) on elements of the kind `where` that follow by `rule`."""

    where: str
    rule: str
    values: np.ndarray

    def declared(self, name: str) -> Field:
        """Its declaration; `InputError` when there is no such rule on such elements."""
        width = int(np.prod(self.values.shape[1:], dtype=np.int64))
        return Field(name, self.where, width, self.rule)  # type: ignore[arg-type]


@dataclass(frozen=True)
class State:
    """One instant of a simulation.

    `x`, `v` (node_count, 3) world positions [m] and velocities [m/s];  `y` (node_count, 3) plastic embedding [m];
    `plastic_curvature` (face_count, 3) S_p as (xx, yy, xy) [1/m];  `damage` (face_count,) [-];
    `crease` (face_count, 3) crease tensor C as (xx, yy, xy), tr C = δ: across which lines a face was bent for good;
    `sizing_floor` (vertex_count, 3) [1/m²]: the mesh is never to be coarser than this tensor says, 0 = no matter;
    `plastic_strain` (face_count, 3) plastic part E_p of the Green strain (xx, yy, xy), none by default;
    `texture` (vertex_count, 2) where on a picture a vertex is, as the file of the sheet says, zero where it does not;
    `half_turn` (edge_count,) [rad] how far the director of an edge is turned from the middle of its faces, see
    `geometry.directors`, and `half_rate` its rate [rad/s];
    `a` (node_count, 3) accelerations [m/s²], if `has_acceleration`;
    `obstacle_x` (obstacle_nodes, 3) where the obstacles are [m];
    `obstacle_lag` (obstacle_count,) how far behind its motion each obstacle is held [s], 0 = on time;
    `obstacle_force` (obstacle_nodes, 3) with which obstacles push and rub the sheets at the end of the last step [N],
    and `handle_load` (handle_count, 4, 3) what handles pull with, see `stepping.pulling`; both are empty before the
    first step;
    `pins`, `bonds`: nodes that handles hold, and that attachments join;  `creases`: what driven and pressed creases
    bear;  `own`: fields of the user's, by name;
    `tips`, `torn`: where cracks end, and the paths that they have torn;  `fracture_work` [J] that tearing has taken;
    `ledger` of energy since the start;
    `dense_steps` steps still to be taken as in dense contact;  `step_size` the step that the step control tries next
    [s];  `frame` the number of finished frames;
    `steps`, `iterations` done since the start.
    """

    mesh: SheetMesh
    x: Floats = attached("node", 3, "interpolate")
    v: Floats = attached("node", 3, "interpolate")
    y: Floats = attached("node", 3, "interpolate")
    plastic_curvature: Floats = attached("face", 3, "custom")
    damage: Floats = attached("face", 1, "conserve")
    obstacle_x: Floats
    obstacle_lag: Floats
    plastic_strain: Floats = attached("face", 3, "conserve", optional=True)
    crease: Floats = attached("face", 3, "conserve", optional=True)
    sizing_floor: Floats = attached("vertex", 3, "interpolate", optional=True)
    a: Floats = attached("node", 3, "interpolate", optional=True)
    texture: Floats = attached("vertex", 2, "interpolate", optional=True)
    half_turn: Floats = attached("edge", 1, "discard", optional=True)
    half_rate: Floats = attached("edge", 1, "discard", optional=True)
    pins: Pins = dataclasses.field(default_factory=no_pins)
    bonds: Bonds = dataclasses.field(default_factory=no_bonds)
    creases: CreaseRows = dataclasses.field(default_factory=no_creases)
    own: Mapping[str, OwnField] = dataclasses.field(default_factory=dict)
    tips: Tips = dataclasses.field(default_factory=no_tips)
    torn: Torn = dataclasses.field(default_factory=nothing_torn)
    obstacle_force: Floats = dataclasses.field(default_factory=lambda: np.zeros((0, 3)))
    handle_load: Floats = dataclasses.field(default_factory=lambda: np.zeros((0, 4, 3)))
    fracture_work: float = 0.0
    ledger: Ledger = dataclasses.field(default_factory=Ledger)
    time: float = 0.0
    step_size: float = 1e-3
    dense_steps: int = 0
    has_acceleration: bool = False
    frame: int = 0
    steps: int = 0
    iterations: int = 0

    def __post_init__(self) -> None:
        for field in state_fields():
            count = element_count(self.mesh, field.where)
            values = getattr(self, field.name)
            if values is None or (len(values) == 0 and count > 0 and field.name in _OPTIONAL):
                object.__setattr__(self, field.name, np.zeros(field.shape(count)))
            else:
                _check(field, values, field.shape(count))
        for name, own in self.own.items():
            field = own.declared(name)
            _check(field, own.values, (element_count(self.mesh, field.where), *own.values.shape[1:]))

    def replaced(self, **changes: object) -> State:
        """A copy with the named fields changed."""
        if not all(self._may_be(name, value) for name, value in changes.items()):
            return replace(self, **changes)  # type: ignore[arg-type]
        copy = object.__new__(type(self))  # what is not changed has been checked
        copy.__dict__.update(self.__dict__)
        copy.__dict__.update(changes)
        return copy

    def _may_be(self, name: str, value: object) -> bool:
        """Whether a field can have this value on the same mesh: of those that live on it, one of the present shape."""
        if name in _ATTACHED:
            return isinstance(value, np.ndarray) and value.shape == getattr(self, name).shape
        return name in _NAMES and name not in ("mesh", "own")

    def with_field(self, name: str, values: np.ndarray, *, where: Place, rule: Rule) -> State:
        """The state with a field of one's own, which follows remeshing and is recorded and resumed like any other.

        `values` (element_count, …) on the elements `where`: "node", "vertex", "edge", "face" or "hinge";
        `rule`: "interpolate" (nodes, vertices), "conserve" (faces), "copy" or "discard".
        """
        if rule == "custom":
            raise InputError(f"field {name!r}", "choose interpolate, conserve, copy or discard", rule)
        if name in _NAMES or not name.isidentifier():
            raise InputError("name of a field", "must be a word that no other field of a state has", name)
        own = OwnField(where, rule, np.ascontiguousarray(values))
        return self.replaced(own={**self.own, name: own})

    def field(self, name: str) -> np.ndarray:
        """The values of a field by its name, one's own or not."""
        if name in self.own:
            return self.own[name].values
        if name not in {field.name for field in state_fields()}:
            known = [*(field.name for field in state_fields()), *self.own]
            raise InputError("field", f"the state has {', '.join(known)}", name)
        values: np.ndarray = getattr(self, name)
        return values


@cache
def state_fields() -> tuple[Field, ...]:
    """The declared fields of `State`."""
    return tuple(
        Field(one.name, one.metadata["where"], one.metadata["width"], one.metadata["rule"])
        for one in dataclasses.fields(State)
        if one.metadata
    )


def attached_values(state: State) -> Iterator[tuple[Field, np.ndarray]]:
    """Every field of a state that lives on the mesh, those of the user's included, with its values."""
    for field in state_fields():
        yield field, getattr(state, field.name)
    for name, own in state.own.items():
        yield own.declared(name), own.values


def initial_state(
    mesh: SheetMesh,
    x: Floats,
    *,
    v: Floats | None = None,
    obstacle_x: Floats | None = None,
    obstacle_count: int = 0,
    pins: Pins | None = None,
    step_size: float = 1e-3,
) -> State:
    """A state at time 0 without plastic deformation; at rest unless `v` says otherwise.

    Raises InputError for positions or velocities that are not finite.
    """
    for name, values in (("positions", x), ("velocities", v), ("obstacle positions", obstacle_x)):
        if values is not None and not np.isfinite(values).all():
            raise InputError(name, "must all be finite numbers")
    x = np.ascontiguousarray(x, np.float64)
    return State(
        mesh=mesh,
        x=x,
        v=np.zeros_like(x) if v is None else np.ascontiguousarray(v, np.float64),
        y=mesh.node_rest.copy(),
        plastic_curvature=np.zeros((mesh.face_count, 3)),
        damage=np.zeros(mesh.face_count),
        obstacle_x=np.zeros((0, 3)) if obstacle_x is None else np.ascontiguousarray(obstacle_x, np.float64),
        obstacle_lag=np.zeros(obstacle_count),
        pins=no_pins() if pins is None else pins,
        step_size=step_size,
    )


def _check(field: Field, values: np.ndarray, shape: tuple[int, ...]) -> None:
    """Refuse values that do not have the `shape` that the mesh asks for."""
    if np.shape(values) != shape:
        raise InputError(f"state.{field.name}", f"must have the shape {shape} ({field.where}s)", np.shape(values))


_NAMES = frozenset(one.name for one in dataclasses.fields(State))
_ATTACHED = frozenset(field.name for field in state_fields())
_OPTIONAL = frozenset(one.name for one in dataclasses.fields(State) if one.metadata and one.default is None)
