"""A term of one's own is asked all that the built-in ones are: constraints, events, nodes to keep, rules of fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest
from simulation_samples import free_sheet

from crumple.contract import Energy, MountedTerm, Stage, Term
from crumple.energies.constraint_angle import ConstraintAngle
from crumple.geometry.hinge import dihedral_angles
from crumple.mesh.sheet_mesh import SheetMesh
from crumple.model.derived import Derived
from crumple.options.remeshing import RemeshingOptions
from crumple.options.sizing import SizingOptions
from crumple.runtime.errors import InputError
from crumple.runtime.typing import Floats, Ints
from crumple.simulation.frame import adapt, advance_once
from crumple.state import Change, State
from crumple.state.transfer import Custom
from crumple.tearing.tip_load import driving_force


@dataclass(frozen=True)
class Held(Term):
    """Holds the hinges of these numbers flat; `declared`: how many constraints it says that it has."""

    name: str
    hinges: tuple[int, ...]
    declared: int = 1

    def mount(self, state: State) -> MountedTerm:
        return MountedHeld(self, state.mesh)


@dataclass(frozen=True)
class MountedHeld(MountedTerm):
    kind: Held
    mesh: SheetMesh

    @property
    def constraint_count(self) -> int:
        return self.kind.declared

    def stored(self, state: State, time: float) -> Sequence[Energy]:
        return []

    def over(self, stage: Stage) -> Sequence[Energy]:
        nodes, count = self._nodes(), len(self.kind.hinges)
        return [
            ConstraintAngle(
                stencil=nodes,
                target=np.zeros(count),
                side=np.zeros(count),
                multiplier=np.zeros((count, 1)),
                weight=np.full(count, 1.0),
                strength=np.full(count, 1.0),
                tolerance=np.full(count, 1e-6),
            )
        ]

    def keep(self, state: State, step: float, multipliers: Sequence[Floats]) -> tuple[State, Sequence[str]]:
        shapes = [one.shape for one in multipliers]
        return state.with_field("borne", np.full(state.mesh.face_count, step), where="face", rule="copy"), [
            f"{self.kind.name} bears {shapes}"
        ]

    def residuals(self, state: State) -> tuple[Floats, np.ndarray]:
        off = dihedral_angles(state.x, self._nodes())
        return off, np.ones(len(off), bool)

    def protected(self, state: State) -> Ints:
        return np.unique(self._nodes())

    def field_rules(self, *, is_cut: bool) -> Mapping[str, Custom]:
        def follow(state: State, y: Floats, change: Change) -> Mapping[str, Floats]:
            return {"borne": np.full(change.mesh.face_count, 7.0)}

        return {} if is_cut else {"borne": follow}

    def driving_force(self, state: State, weight: Floats, stage: Stage | None) -> Sequence[Floats]:
        return [np.array([2.0, 3.0]), np.array([1.0, 0.0])]

    def _nodes(self) -> Ints:
        return np.ascontiguousarray(self.mesh.hinges.nodes[list(self.kind.hinges)])


def test_every_term_gets_what_its_own_constraints_bear_and_tells_what_has_happened():
    model, state = free_sheet(0.03)
    model = model.with_term(Held("one", (4,))).with_term(Held("two", (8, 12)))
    derived = Derived(model, state)
    state, report, derived = advance_once(state, derived, 1e-3)
    assert "one bears [(1, 3)]; two bears [(2, 3)]" in report.note
    assert (state.field("borne") == report.step).all()
    off, bears = derived.residuals(state)
    assert len(off) == 3
    assert bears.all()
    assert np.abs(off).max() < 2e-6
    loose, _, _ = advance_once(free_sheet(0.03)[1], Derived(free_sheet(0.03)[0], free_sheet(0.03)[1]), 1e-3)
    assert np.abs(derived.residuals(loose)[0]).max() > 1e-3


def test_a_wrong_count_of_constraints_is_an_error():
    model, state = free_sheet(0.03)
    model = model.with_term(Held("one", (4,), declared=0))
    with pytest.raises(InputError, match=r"term 'one': constraint_count = 0 .*must be 1"):
        advance_once(state, Derived(model, state), 1e-3)


def test_nodes_that_a_term_needs_outlast_a_remeshing_and_its_rule_is_followed():
    model, state = free_sheet(0.01)
    state = state.replaced(v=np.zeros_like(state.v))
    state = state.with_field("borne", np.zeros(state.mesh.face_count), where="face", rule="copy")
    coarse = SizingOptions(size_min=0.05, size_max=0.05)
    model = replace(model, remeshing=RemeshingOptions(coarse, projection=False))
    hinges = tuple(range(0, len(state.mesh.hinges.nodes), 40))
    held = Held("held", hinges)
    needed = state.x[np.unique(state.mesh.hinges.nodes[list(hinges)])]

    def missing(after: State) -> int:
        return sum(np.linalg.norm(after.x - place, axis=1).min() > 1e-12 for place in needed)

    free = adapt(state, Derived(model, state))
    kept = adapt(state, Derived(model.with_term(held), state))
    assert missing(free) > 0.5 * len(needed)
    assert missing(kept) == 0
    assert not free.field("borne").any()
    assert (kept.field("borne") == 7.0).all()


def test_a_term_has_its_part_in_what_drives_a_crack():
    model, state = free_sheet(0.03)
    weight = np.ones(state.mesh.node_count)
    plain = driving_force(state, Derived(model, state), weight)
    driven = driving_force(state, Derived(model.with_term(Held("held", (0,))), state), weight)
    np.testing.assert_allclose(driven - plain, [3.0, 3.0])
