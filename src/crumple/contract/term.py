"""The contract of a term: something that stores energy in the sheets, or exchanges it with them.

A `Term` is constant, part of the model: the membrane, gravity, the handles, an energy of one's own. Before a step on a
mesh it is mounted there (`mount`), once per mesh, so also after each remeshing; the mounted term then says for every
stage of a step what is to be minimised, and afterwards what the step has left behind.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from crumple.contract.energy import Energy, total_value
from crumple.runtime.typing import Bools, Floats, Ints
from crumple.state import State
from crumple.state.transfer import Custom


@dataclass(frozen=True)
class Stage:
    """One implicit solve within a step: x = origin + span v and v = drift + span a(x, v) at its end.

    `state` at the start of the step;  `since`, `time` [s] at the start and the end of the stage;
    `start` (node_count, 3) [m] from which the solve sets out, free of collisions;  `velocity` there [m/s];
    `origin` [m] and `drift` [m/s] as above, (node_count, 3);  `span` [s] by which rates are formed: the rate of a
    quantity q is (q(x) − q_before)/span, with q_before the sum of weight · q(pose) over `before`. Implicit Euler has
    q_before = q(x₀) and the whole step as its span.
    `half_turns`: those of the edges (edge_count,) [rad] in the poses of `before`, where bending has any.
    `guess` (node_count, 3): where the solve may end;  `is_static`: equilibrium is sought, there are no rates.
    """

    state: State
    since: float
    time: float
    start: Floats
    velocity: Floats
    origin: Floats
    drift: Floats
    span: float
    before: tuple[tuple[float, Floats], ...]
    guess: Floats | None = None
    is_static: bool = False
    half_turns: tuple[Floats, ...] = ()

    def past(self, quantity: Callable[[Floats], Floats]) -> Floats:
        """What `quantity`, a function of the positions (node_count, 3), is before the stage."""
        return self._sum([quantity(x) for _, x in self.before])

    def past_turned(self, quantity: Callable[[Floats, Floats], Floats]) -> Floats:
        """The same for a function of the positions (node_count, 3) and the half turns (edge_count,)."""
        return self._sum([quantity(x, turn) for (_, x), turn in zip(self.before, self.half_turns, strict=True)])

    def _sum(self, values: Sequence[Floats]) -> Floats:
        """The values of the poses before the stage with their weights."""
        weights = [weight for weight, _ in self.before]
        total = values[0] if weights[0] == 1.0 else weights[0] * values[0]
        for weight, value in zip(weights[1:], values[1:], strict=True):
            total = total + weight * value
        return total


class MountedTerm(ABC):
    """A term on one mesh. It is not changed by steps: what varies is in the state.

    Everything that others want to know of a term they ask by these methods, which all but `stored` have an answer for
    those that have nothing to say.
    """

    @abstractmethod
    def stored(self, state: State, time: float) -> Sequence[Energy]:
        """The energies that depend on the positions alone, as they are at `time` [s] for a sheet in `state`."""

    def over(self, stage: Stage) -> Sequence[Energy]:
        """What a stage minimises: the stored energy at its end, and what the motion dissipates on the way."""
        return self.stored(stage.state, stage.time)

    def begin(self, state: State, step: float) -> State:
        """The state at the start of a step of `step` [s]: handles take hold here. The same object as a rule."""
        return state

    def acceleration(self) -> Floats | None:
        """An acceleration that acts on all nodes alike (3,) [m/s²], if there is one; it needs no energy in `over`."""
        return None

    def drained(self, stage: Stage, x: Floats, half_turn: Floats) -> float:
        """The power [W] that what `over` adds to the stored energy takes out of the motion at the end of a `stage`, at
        the positions x (node_count, 3) and half turns (edge_count,) that it has reached; for the ledger of energy. What
        is not told here, the ledger counts as the integrator's."""
        return 0.0

    def driven_work(self, before: State, after: State) -> float:
        """The work [J] that was done on the sheets over a step because the stored energy depends on time; for the
        ledger of energy. That of handles is known from their forces."""
        return 0.0

    def measure(self, state: State) -> float:
        """The energy stored in the sheets [J], for reports."""
        return total_value(self.stored(state, state.time), state.x, state.half_turn)

    @property
    def turn_count(self) -> int:
        """How many edges have a turn that its energies depend on, unknown like the positions: all of the mesh or none,
        which is the rule."""
        return 0

    @property
    def constraint_count(self) -> int:
        """How many of the energies in `over` are constraints, which are enforced by multipliers: none as a rule."""
        return 0

    def with_handles(self, term: Term) -> MountedTerm:
        """The same for `term`, which differs from the own in nothing but the handles; the same object as a rule."""
        return self

    def undamped(self, faces: Bools) -> MountedTerm:
        """The same without damping in the marked `faces` (face_count,), whose past is not known."""
        return self

    def relax(self, state: State) -> State:
        """The state on a new mesh, with what can be found anew there in its place. The same object as a rule."""
        return state

    def keep(self, state: State, step: float, multipliers: Sequence[Floats]) -> tuple[State, Sequence[str]]:
        """The state at the end of an accepted step of `step` [s] with what its constraints bear kept in it, and what
        has happened, in words for the report.

        `multipliers`: what each of its constraints bears, as `Constraint.remembered` says it, (n, 3) each.
        """
        return state, ()

    def residuals(self, state: State) -> tuple[Floats, Bools]:
        """By how much what its constraints demand at the time of the state is missed (n,), and where they bear load
        that they can bear (n,)."""
        return np.zeros(0), np.zeros(0, bool)

    def protected(self, state: State) -> Ints:
        """Nodes (n,) that no edit of the mesh may remove."""
        return np.zeros(0, np.int32)

    def field_rules(self, *, is_cut: bool) -> Mapping[str, Custom]:
        """How fields of the state follow a change of the mesh, by their names, where they do not by the rule that they
        are declared with.

        `is_cut`: the mesh is only cut open, or its nodes slide along a cut; else it is remeshed.
        """
        return {}

    def curvature(self, state: State) -> Floats | None:
        """The curvature that the sheet has by this term, of each face (face_count, 3) [1/m]; None if it bends none."""
        return None

    def driving_force(self, state: State, weight: Floats, stage: Stage | None) -> Sequence[Floats]:
        """Parts (2,) [N] of the force on a tip of a crack: −∂E/∂u when the pattern moves by `weight` (node_count,) and
        the positions stay, with what is dissipated over a `stage` of motion, if given. None as a rule."""
        return ()

    def fold_force(self, state: State, weight: Floats, stage: Stage | None) -> Sequence[Floats] | None:
        """Parts (2,) [N] of the same force that the fold of a flap has on a tip when its lips move aside by `weight`
        (node_count,): of what bending stores, and of what it has taken for good. None as a rule: not of bending."""
        return None

    def tension(self, state: State, faces: Ints, stage: Stage | None) -> tuple[Floats, Floats] | None:
        """The tension in the plane of some `faces` (n,), on the axes of the pattern as (xx, yy, xy), (n, 3) [N/m], and
        what they oppose to a pull along one axis, E t (n,) [N/m]; with what is viscous over a `stage` of motion, if
        given. None as a rule."""
        return None

    def settle(self, state: State, step: float) -> State:
        """The state after an accepted step of `step` [s]: what has yielded, multipliers, counters.

        The same object when there is nothing to change.
        """
        return state

    def yield_loss(self, before: State, after: State) -> float:
        """What yielding has dissipated [J] when plastic state p and damage δ of `before` became those of `after`
        in the same shape.

            D = −∂E/∂p · Δp + E(p, δ₀) − E(p, δ),     E the energy stored, all after yielding

        The first part is the work of the moments and stresses that are left when a face has yielded: while it yields
        they are what they are then, whatever the length of the step. E is quadratic in p, so the derivative is a
        difference, ½ (E(p − Δp) − E(p + Δp)). The second part is what weakening takes.
        """
        back = after.replaced(
            plastic_curvature=before.plastic_curvature, plastic_strain=before.plastic_strain, creases=before.creases
        )
        on = after.replaced(
            plastic_curvature=2.0 * after.plastic_curvature - before.plastic_curvature,
            plastic_strain=2.0 * after.plastic_strain - before.plastic_strain,
            creases=replace(after.creases, shift=2.0 * after.creases.shift - before.creases.shift),
        )
        loss = 0.5 * (self.measure(back) - self.measure(on))
        if after.damage is not before.damage:
            loss += self.measure(after.replaced(damage=before.damage)) - self.measure(after)
        return loss


class Term(ABC):
    """A constant part of the model."""

    name: ClassVar[str]
    """Under which its energy is reported."""
    is_in_play: ClassVar[bool] = False
    """Whether errors of a step are compared with its energy, which then is never negative: that of the sheets is, that
    of springs which only hold something, or of a potential with any zero, is not."""

    is_load: ClassVar[bool] = False
    """Whether its energy is the potential of a load from outside: in the ledger of energy a change of it is work, and
    it is not stored in the sheets."""

    column: ClassVar[str] = "damping"
    """The column of the ledger of energy for what its `drained` tells: "damping", "velocity_damping" or "air"."""

    keeps_stencils: ClassVar[bool] = False
    """Whether its energies have the same stencils in all steps on a mesh, so that the linear system has room for them
    from the start: what is in play always does, springs that hold something come and go."""

    is_projected: ClassVar[bool] = True
    """Whether the projection after a remeshing keeps its forces: those of the sheets and of what holds them. A smooth
    potential in space is the same on any mesh, and where it curves downwards the projection would run away."""

    @property
    def yields(self) -> bool:
        """Whether its `settle` may change the plastic curvature or strain, which the plastic embedding then follows."""
        return False

    @abstractmethod
    def mount(self, state: State) -> MountedTerm:
        """The term on the mesh of `state`."""


class EnergyTerm(Term):
    """A term of one's own: a function that makes energies for a mesh, called again whenever the mesh changes.

    `make(state)` returns an energy or a list of them;  `is_projected` as in `Term`: True for what depends on the mesh.
    """

    def __init__(
        self, name: str, make: Callable[[State], Energy | Sequence[Energy]], *, is_projected: bool = False
    ) -> None:
        self.name = name  # type: ignore[misc]
        self.is_projected = is_projected  # type: ignore[misc]
        self._make = make

    def mount(self, state: State) -> MountedTerm:
        made = self._make(state)
        return _Fixed([made] if isinstance(made, Energy) else list(made))


class _Fixed(MountedTerm):
    """Energies that do not change while the mesh does not."""

    def __init__(self, energies: list[Energy]) -> None:
        self._energies = energies

    def stored(self, state: State, time: float) -> Sequence[Energy]:
        return self._energies


def kinetic_energy(mass: Floats, v: Floats | float) -> float:
    """½ Σ m v² [J] for velocities (n, 3) or one speed [m/s]."""
    square = np.einsum("ni,ni->n", v, v) if isinstance(v, np.ndarray) else v * v
    return 0.5 * float(np.sum(mass * square))
