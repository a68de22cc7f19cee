"""Hard and pressed creases: held angles and held ridges (see `boundary.creases`).

What they remember from step to step, multipliers, yielded rest angles and what is broken, is in `State.creases`, by
place on the pattern (see `crease_memory`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from crumple.boundary.crease_chains import Ridges, find_ridges
from crumple.boundary.creases import HARD, Crease, crease_hinges, fold_targets, hinge_lengths, per_row
from crumple.contract import Energy, MountedTerm, Stage, Term
from crumple.energies.constraint_angle import ConstraintAngle, wrap
from crumple.energies.constraint_line import ConstraintLine, bend_weights, chord_normals
from crumple.energies.inertia import node_masses
from crumple.geometry.hinge import dihedral_angles
from crumple.materials.material import Material
from crumple.mesh.sheet_mesh import SheetMesh
from crumple.runtime.typing import Bools, Floats, Ints
from crumple.state import CreaseRows, State
from crumple.terms.crease_memory import (
    BROKEN,
    FLAP,
    HELD,
    LEFT,
    RIGHT,
    SPINE,
    aligned_rows,
    aligned_state,
    are_alike,
    chosen_rows,
    fresh_rows,
    join_rows,
    with_rows,
)
from crumple.terms.tuning import TUNING

WEIGHT = TUNING.held_angle_weight.value
SETTLING = TUNING.flattening_time.value
MOVED = TUNING.moved_rows.value
MOST_REPORTED = 5
"""Creases whose breaks a step tells one by one."""


@dataclass(frozen=True)
class Pressing(Term):
    """The creases that are held: hard ones, and pressed ones. `tolerance` of angles [rad]."""

    creases: tuple[Crease, ...]
    materials: tuple[Material, ...]
    tolerance: float
    name = "creases"
    keeps_stencils = True

    def mount(self, state: State) -> MountedPressing:
        mesh = state.mesh
        owner, column = crease_hinges(mesh, self.creases)
        is_held = [one.drive == HARD or one.press is not None for one in self.creases]
        flaps = np.flatnonzero(np.array([*is_held, False])[owner]).astype(np.int32)
        has_ridge = [one.press is not None and (one.press.spinal > 0 or one.press.torsion > 0) for one in self.creases]
        ridged = np.flatnonzero(np.array([*has_ridge, False])[owner]).astype(np.int32)
        ridges = find_ridges(mesh, ridged, hinge_group(mesh, ridged))
        return MountedPressing(self, mesh, flaps, owner[flaps], column[flaps], owner[ridges.hinges[:, 0]], ridges)


@dataclass(frozen=True)
class MountedPressing(MountedTerm):
    """Held angles and ridges on one mesh.

    `flaps` (n,) hinges with the crease and the number of the label of each;  `ridges` with the crease of each.
    """

    kind: Pressing
    mesh: SheetMesh
    flaps: Ints
    flap_owner: Ints
    flap_column: Ints
    ridge_owner: Ints
    ridges: Ridges

    @property
    def constraint_count(self) -> int:
        """Angles and ridges."""
        return 2

    def stored(self, state: State, time: float) -> Sequence[Energy]:
        """The constraints as they hold the present shape: with the multipliers of the state, which include what the
        last solve has left."""
        return self._constraints(state, time, state.step_size, state.x, hold=True)

    def over(self, stage: Stage) -> Sequence[Energy]:
        span = np.inf if stage.is_static else stage.span
        return self._constraints(stage.state, stage.time, span, stage.start, hold=False)

    def measure(self, state: State) -> float:
        """Constraints store nothing."""
        return 0.0

    def begin(self, state: State, step: float) -> State:
        """The state with the rows of this mesh. Rows that may break, and were calm, but are off now, have been moved by
        a remeshing: they are given time to get back, because a jolt of the mesh is no load."""
        fresh = self._fresh(state)
        state = aligned_state(state, fresh, HELD)
        rows = self._rows(state)
        moved = self._may_break & (rows.status == 0) & (rows.shift == 0.0)
        moved &= np.abs(fresh.shift) > MOVED * self.kind.tolerance
        if not moved.any():
            return state
        return with_rows(state, replace(rows, shift=np.where(moved, fresh.shift, rows.shift)), HELD)

    def relax(self, state: State) -> State:
        return aligned_state(state, self._fresh(state), HELD)

    def keep(self, state: State, step: float, multipliers: Sequence[Floats]) -> tuple[State, list[str]]:
        """The state after an accepted step whose constraints bear the `multipliers`, and what has happened: rows that
        were overloaded for too long break, of each crease line the one that is overloaded most."""
        rows = self._rows(state)
        held = self._held(state, state.time, step)
        bearing = np.concatenate([multipliers[0], multipliers[1]])
        moment = bearing / self._scale[:, None]
        limit, size = np.concatenate([held.strength, held.line_strength]), np.linalg.norm(bearing, axis=1)
        full = (limit > 0.0) & (size >= (1.0 - 1e-9) * limit)
        shift = self._behind(rows.shift, step)
        settled = np.where(self._is_wing, rows.shift, shift) == 0.0  # wings that still move are not overloaded
        counted = np.where(full & (settled | ~self._is_wing), rows.status + 1, 0)
        status = np.where(rows.status == BROKEN, BROKEN, counted).astype(np.int32)
        broken = self._breaking(state, np.where(settled, status, 0))
        status[broken] = BROKEN
        moment[status == BROKEN] = 0.0
        new = replace(rows, moment=moment, shift=shift, status=status)
        return with_rows(state, new, HELD), self._reported(rows, broken)

    def protected(self, state: State) -> Ints:
        """The nodes of ridges that are broken."""
        rows = self._rows(state)
        spine = rows.status[rows.kind == SPINE] == BROKEN
        return self.ridges.nodes[spine, 1]

    def residuals(self, state: State) -> tuple[Floats, Bools]:
        """By how much each held fold misses its target at the time of the state [rad], (flap_count,), and which of them
        are neither slack nor saturated."""
        angle, _ = self._constraints(state, state.time, state.step_size, state.x, hold=False)
        count = len(self.flaps)
        off = angle.residual(state.x)[:, 0]
        borne = angle.multiplier[:, 0]
        free = (angle.side != 0.0) & (angle.side * off >= 0.0)
        full = np.abs(borne) >= (1.0 - 1e-6) * angle.strength
        return off[:count], ~(free | full)[:count]

    # What follows is the same for all steps on the mesh.

    @cached_property
    def _kinds(self) -> Ints:
        """The kind of each row: flaps, wings left and right, spines."""
        count = len(self.ridges.nodes)
        wings = np.concatenate([np.full(len(self._wings[side]), kind) for side, kind in ((0, LEFT), (1, RIGHT))])
        return np.concatenate([np.full(len(self.flaps), FLAP), wings, np.full(count, SPINE)]).astype(np.int32)

    @cached_property
    def _wings(self) -> tuple[Ints, Ints]:
        """The ridges that have a torsion row on the left, and on the right: with strength, and two different apexes."""
        strong = np.array([one.press is not None and one.press.torsion > 0.0 for one in self.kind.creases])
        has = strong[self.ridge_owner] if len(self.ridge_owner) else np.zeros(0, bool)
        left = np.flatnonzero(has & (self.ridges.left[:, 0] != self.ridges.left[:, 1]))
        right = np.flatnonzero(has & (self.ridges.right[:, 0] != self.ridges.right[:, 1]))
        return left.astype(np.int32), right.astype(np.int32)

    @cached_property
    def _stencil(self) -> Ints:
        """Nodes of all angles, (n, 4)."""
        ridges, (left, right) = self.ridges, self._wings
        parts = [self.mesh.hinges.nodes[self.flaps]]
        for chosen, apex in ((left, ridges.left), (right, ridges.right)):
            ends = ridges.nodes[chosen][:, [0, 2]]
            parts.append(np.concatenate([ends, apex[chosen]], axis=1))
        return np.ascontiguousarray(np.concatenate(parts), np.int32)

    @cached_property
    def _lines(self) -> Ints:
        """Nodes of all ridges, (n, 3)."""
        return np.ascontiguousarray(self.ridges.nodes, np.int32)

    @cached_property
    def _owner(self) -> Ints:
        """The crease of each row."""
        left, right = self._wings
        own = self.ridge_owner
        return np.concatenate([self.flap_owner, own[left], own[right], own]).astype(np.int32)

    @cached_property
    def _edge_length(self) -> Floats:
        return hinge_lengths(self.mesh)

    @cached_property
    def _scale(self) -> Floats:
        """What the moment of each row is divided by to be remembered: lengths of edges [m], 1 for spines."""
        left, right = self._wings
        mean = self._edge_length[self.ridges.hinges].mean(axis=1)
        return np.concatenate([self._edge_length[self.flaps], mean[left], mean[right], np.ones(len(self.ridges.nodes))])

    @cached_property
    def _share(self) -> Floats:
        length = self._edge_length[self.ridges.hinges]
        return bend_weights(length[:, 0], length[:, 1])

    @cached_property
    def _opposed(self) -> tuple[Floats, Floats, Floats, Floats]:
        """What the sheet opposes to a row: bending stiffness [N m] and moment of inertia [kg m²], of angles, then of
        ridges."""
        mesh, mass = self.mesh, node_masses(self.mesh, self.kind.materials)
        bend = np.array([material.bend_stiffness for material in self.kind.materials])
        of_hinge = bend[mesh.face_material[mesh.hinges.faces]].mean(axis=1)
        left, right = self._wings
        chosen = self.ridges.hinges[:, 0]
        bending = np.concatenate([of_hinge[self.flaps], of_hinge[chosen[left]], of_hinge[chosen[right]]])
        x = mesh.node_rest
        i, j, a, b = (self._stencil[:, k] for k in range(4))
        length = np.maximum(np.linalg.norm(x[j] - x[i], axis=1), 1e-300)
        heights = [np.linalg.norm(np.cross(x[j] - x[i], x[apex] - x[i]), axis=1) / length for apex in (a, b)]
        height = np.maximum(0.5 * (heights[0] + heights[1]), 1e-3 * length)
        inertia = mass[a] * heights[0] ** 2 + mass[b] * heights[1] ** 2
        spans = self._edge_length[self.ridges.hinges]
        ends = mass[self.ridges.nodes[:, [0, 2]]]
        return (
            bending * length / height,
            inertia,
            of_hinge[chosen],
            np.einsum("nk,nk->n", ends, spans**2),
        )

    def _fresh(self, state: State) -> CreaseRows:
        """The rows as they are without memory: angles start from what they are, and ridges have as long to get straight
        as an angle has for 90°."""
        off = wrap(dihedral_angles(state.x, self._stencil) - self._wanted(state.time))
        shift = np.full(len(self._kinds), 0.5 * np.pi)
        shift[: len(off)] = np.where((self._side == 0.0) | (self._side * off < 0.0), off, 0.0)
        return replace(self._places, shift=shift)

    def _wanted(self, time: float) -> Floats:
        """The angles that are held, or held beyond, (angle_count,) [rad]: of torsion, wings in one plane."""
        target = fold_targets(self.kind.creases, self.flap_owner, self.flap_column, time)
        engage = np.array([0.0 if one.press is None else one.press.engage for one in self.kind.creases])
        count = len(self.flaps)
        wanted = np.full(len(self._stencil), np.pi)
        wanted[:count] = np.where(self._side[:count] == 0.0, target, engage[self.flap_owner])
        return wanted

    @cached_property
    def _side(self) -> Floats:
        """0 for equalities, else in which direction a pressed flap may fold on, (angle_count,)."""
        free = [one.press is not None and one.drive != HARD for one in self.kind.creases]
        sides = [float(np.sign(one.press.engage)) if is_free and one.press else 0.0 for one, is_free in
                 zip(self.kind.creases, free, strict=True)]  # fmt: skip
        side = np.zeros(len(self._stencil))
        side[: len(self.flaps)] = np.array(sides)[self.flap_owner]
        return side

    def _rows(self, state: State) -> CreaseRows:
        """What the rows of this mesh remember, in their order."""
        held = chosen_rows(state.creases, np.isin(state.creases.kind, HELD))
        if are_alike(held, self._places):
            return held
        return aligned_rows(state.creases, self._fresh(state))

    @cached_property
    def _places(self) -> CreaseRows:
        """The rows in their order, without memory."""
        left, right = self._wings
        place, hinge = self.ridges.place, self.ridges.hinges[:, 0]
        parts = [fresh_rows(self.mesh, self.flaps, FLAP)]
        for chosen, kind in ((left, LEFT), (right, RIGHT), (np.arange(len(place)), SPINE)):
            parts.append(replace(fresh_rows(self.mesh, hinge[chosen], kind), place=place[chosen]))
        return join_rows(parts)

    @cached_property
    def _may_break(self) -> Bools:
        """Angles that break for good when they are overloaded, (row_count,); ridges have no time to get straight in."""
        breaks = [one.press is not None and one.press.overload == "break" for one in self.kind.creases]
        flaps = (self._kinds == FLAP) & np.array([*breaks, False])[self._owner]
        return np.asarray(flaps | self._is_wing)

    @cached_property
    def _is_wing(self) -> Bools:
        """Rows that keep two wings in one plane, (row_count,)."""
        return np.isin(self._kinds, (LEFT, RIGHT))

    def _behind(self, shift: Floats, step: float) -> Floats:
        """By how much rows are behind their targets after a step, (row_count,) [rad]: 90° less in `ramp`. Wings go
        slower the nearer they are, because they would break if they had to stop at once."""
        ramp = per_row(self.kind.creases, self._owner, "ramp")
        speed, span = 0.5 * np.pi / ramp, SETTLING * ramp
        left = np.maximum(np.abs(shift) - speed * step, 0.0)
        slow = np.minimum(np.abs(shift), speed * span)
        rest = np.maximum(step - (np.abs(shift) - slow) / speed, 0.0)
        gentle = np.where(rest > 0.0, slow * np.exp(-rest / span), left)
        gentle[gentle < 0.5 * self.kind.tolerance] = 0.0
        return np.sign(shift) * np.where(self._is_wing, gentle, left)

    def _held(self, state: State, time: float, span: float) -> _Held:
        """Targets, weights and strengths of all rows at a time."""
        rows, creases = self._rows(state), self.kind.creases
        angles = len(self._stencil)
        behind = self._behind(rows.shift, max(0.0, time - state.time))[:angles]
        stiffness, inertia, line_stiffness, line_inertia = self._opposed
        rate = 0.0 if not np.isfinite(span) else 1.0 / span**2
        table = np.array([[_strength(one), 0.0 if one.press is None else one.press.torsion,
                           0.0 if one.press is None else one.press.spinal] for one in creases])  # fmt: skip
        per_length = table[self._owner[:angles], (self._kinds[:angles] != FLAP).astype(int)]
        whole = rows.status != BROKEN
        return _Held(
            target=self._wanted(time) + behind,
            side=self._side,
            weight=WEIGHT * (stiffness + rate * inertia),
            strength=np.where(whole[:angles], per_length * self._scale[:angles], 0.0),
            line_weight=WEIGHT * (line_stiffness + rate * line_inertia),
            line_strength=np.where(whole[angles:], table[self._owner[angles:], 2], 0.0),
            memory=rows.moment * self._scale[:, None],
        )

    def _constraints(
        self, state: State, time: float, span: float, start: Floats, *, hold: bool
    ) -> tuple[ConstraintAngle, ConstraintLine]:
        """Angles, then ridges; with `hold` they are met as they are."""
        held, count = self._held(state, time, span), len(self._stencil)
        target = dihedral_angles(start, self._stencil) if hold else held.target
        tolerance = self.kind.tolerance
        angle = ConstraintAngle(
            stencil=self._stencil,
            target=target,
            side=held.side,
            multiplier=np.zeros((count, 1)),
            weight=held.weight,
            strength=held.strength,
            tolerance=np.full(count, tolerance),
        )
        lines = len(self._lines)
        line = ConstraintLine(
            stencil=self._lines,
            share=self._share,
            normals=chord_normals(start, self._lines),
            multiplier=np.zeros((lines, 2)),
            weight=held.line_weight,
            strength=held.line_strength,
            tolerance=np.full(lines, tolerance),
        )
        line = line.resumed(held.memory[count:])
        if hold:
            line = line.with_multiplier(line.multiplier - line.weight[:, None] * line.residual(start))
        return angle.resumed(held.memory[:count]), line

    def _breaking(self, state: State, status: Ints) -> Ints:
        """The rows that break now: of each crease line and kind the one that is farthest off. `status` as in
        `CreaseRows`, 0 for rows that are still on their way to their target: these do not break."""
        creases = self.kind.creases
        patience = np.array([1 if one.press is None else one.press.patience for one in creases])
        breaks = np.array([one.press is not None and one.press.overload == "break" for one in creases])
        if not len(status):
            return np.zeros(0, np.int32)
        ripe = (status >= patience[self._owner]) & (breaks[self._owner] | (self._kinds != FLAP))
        found = np.flatnonzero(ripe).astype(np.int32)
        if not len(found):
            return found
        off = self._misfit(state)
        rows = self._places
        key = np.stack([rows.sheet[found], rows.label[found], rows.kind[found]], axis=1)
        order = np.lexsort((found, -off[found], key[:, 2], key[:, 1], key[:, 0]))
        first = np.append(True, np.any(key[order][1:] != key[order][:-1], axis=1))
        return np.sort(found[order[first]])

    def _misfit(self, state: State) -> Floats:
        """How far each row is from what it demands [rad]."""
        angles, lines = self._constraints(state, state.time, state.step_size, state.x, hold=False)
        return np.concatenate([np.abs(angles.residual(state.x)[:, 0]), np.linalg.norm(lines.residual(state.x), axis=1)])

    def _reported(self, rows: CreaseRows, broken: Ints) -> list[str]:
        """The breaks in words: of wings how many, of the others where."""
        words = {FLAP: "fold", SPINE: "ridge"}
        reported = []
        for number in np.unique(self._owner[broken]).tolist():
            own = broken[self._owner[broken] == number]
            places = [row for row in own.tolist() if int(rows.kind[row]) in words]
            parts = [f"{words[int(rows.kind[row])]} at ({rows.place[row, 0]:.4g}, {rows.place[row, 1]:.4g}) m"
                     for row in places]  # fmt: skip
            if len(own) > len(places):
                parts.append(f"{len(own) - len(places)} wing{'s' if len(own) > len(places) + 1 else ''}")
            reported.append(f"crease '{self.kind.creases[number].name}' breaks: {', '.join(parts)}")
        return reported[:MOST_REPORTED] + (
            [f"{len(reported) - MOST_REPORTED} more creases break"] if len(reported) > MOST_REPORTED else []
        )


@dataclass(frozen=True)
class _Held:
    """Targets [rad], sides, weights and strengths [N m] of angles and of ridges at a time, and the `memory` (rows, 3)
    [N m] of their multipliers."""

    target: Floats
    side: Floats
    weight: Floats
    strength: Floats
    line_weight: Floats
    line_strength: Floats
    memory: Floats


def hinge_group(mesh: SheetMesh, hinges: Ints) -> Ints:
    """One number for each sheet and label of hinges (n,), (n,)."""
    label = mesh.edge_label.ravel()[mesh.hinges.corners[hinges, 0]].astype(np.int64)
    sheet = mesh.face_sheet[mesh.hinges.faces[hinges, 0]].astype(np.int64)
    return np.unique(sheet * (1 << 32) + label, return_inverse=True)[1].ravel().astype(np.int32)


def _strength(crease: Crease) -> float:
    """What the flaps of a crease bear [N m/m]."""
    return crease.strength if crease.drive == HARD or crease.press is None else crease.press.strength
