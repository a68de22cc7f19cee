"""Bending, with damping, yielding and damage ([Narain2013] §3): by mid-edge elements, or by hinges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import cast

import numpy as np

from crumple.boundary.creases import Crease, crease_hinges, loose_hinges, pressed_hinges
from crumple.boundary.handles import Handle
from crumple.contract import Energy, MountedTerm, Stage, Term
from crumple.energies.bending_midedge import (
    RIGID,
    BendingMidedge,
    angle_stiffness,
    bent_stiffness,
    curvature_of,
    face_stiffness,
    loosened,
    relax_turns,
    relaxed_rates,
    unloaded_angles,
)
from crumple.energies.driving_force import area_force, hinge_force, midedge_force
from crumple.energies.elastic_energy import drained_power
from crumple.energies.sheets import Hinge, HingeParts, make_hinges
from crumple.geometry.curvature import CurvatureStencil, bending_strain, curvature_stencil, rest_angle
from crumple.geometry.directors import (
    EdgeLinks,
    curvature_angles,
    curvature_shapes,
    edge_links,
    held_faces,
    split_angles,
)
from crumple.geometry.hinge import dihedral_angles
from crumple.materials.material import Material
from crumple.mesh.sheet_mesh import SheetMesh
from crumple.options.plasticity import PlasticityOptions
from crumple.plasticity import (
    YieldLaw,
    bending_work,
    follow_curvature,
    follow_fraction,
    make_yield_law,
    yield_curvature,
    yield_work,
)
from crumple.runtime.remembered import Equal, Remembered
from crumple.runtime.typing import Bools, Floats
from crumple.state import State
from crumple.state.transfer import Custom
from crumple.terms.plastic_following import follow_cut, follow_cut_hinges, follow_relaxed


@dataclass(frozen=True)
class Bending(Term):
    """The bending of sheets of the `materials`, which yield by the rule of `plasticity`.

    `element`: "midedge", right on any mesh and for any Poisson's ratio and grain, or "hinge". Materials with measured
    bending or of [Baraff1998] and the rule "rest-angle" are about hinges, so they have hinges in any case. Faces that
    one of the `handles` holds by all their nodes do not bend. At driven `creases` bending ends; the faces beside
    pressed ones do not yield.
    """

    materials: tuple[Material, ...]
    plasticity: PlasticityOptions
    element: str = "midedge"
    handles: tuple[Handle, ...] = ()
    creases: tuple[Crease, ...] = ()
    name = "bending"
    is_in_play = True

    @property
    def yields(self) -> bool:
        rule = self.plasticity.rule
        bends = any(np.isfinite(material.yield_curvature) for material in self.materials)
        return rule == "rest-angle" or (rule == "curvature" and bends)

    @property
    def has_hinges(self) -> bool:
        """Whether it is hinges that bend."""
        has_own = any(material.bending_is_measured or material.is_baraff_witkin for material in self.materials)
        return self.element == "hinge" or has_own or self.plasticity.rule == "rest-angle"

    def mount(self, state: State) -> MountedTerm:
        known = state.mesh, self.plasticity, Equal(self.element), Equal(len(self.materials))
        found = _MOUNTED.find((*known, *self.materials, *self.creases), lambda: self._mount(state))
        return found.with_handles(self)

    def _mount(self, state: State) -> MountedTerm:
        law = make_yield_law(
            state.mesh,
            self.materials,
            hardening=self.plasticity.hardening,
            crease_radius=self.plasticity.crease_radius,
            crease_strength=self.plasticity.crease_strength,
        )
        mesh = state.mesh
        loose = loose_hinges(mesh, self.creases)
        pressed = np.unique(mesh.hinges.faces[pressed_hinges(mesh, self.creases)])
        law.yield_curvature[pressed] = np.inf
        band = band_factors(mesh, self.creases)
        if self.has_hinges:
            hinges = make_hinges(mesh, self.materials)
            factor = np.where(loose, 0.0, band[mesh.hinges.faces].mean(axis=1))
            return MountedHinges(hinges, curvature_stencil(mesh), law, self.plasticity, factor)
        damping = np.array([material.damping for material in self.materials])[mesh.face_material]
        shape = curvature_shapes(mesh)
        corners = np.zeros(3 * mesh.face_count, bool)
        corners[mesh.hinges.corners[loose].ravel()] = True
        known = _Known(mesh, self.materials, shape, band)
        return MountedMidedge(self, mesh, edge_links(mesh), shape, law, damping, corners.reshape(-1, 3), known)


_MOUNTED: Remembered[MountedTerm] = Remembered(2)
"""The same on the same mesh but for the handles, from frame to frame."""


class _Known:
    """What was found last on one mesh: K and ψ_p of the faces, energies made of them, their values, and ψ of poses.

    `undamaged` K (face_count, 3, 3) [N m], and `angles_of` (face_count, 3, 3) [m]: ψ_p per S_p.
    """

    def __init__(self, mesh: SheetMesh, materials: tuple[Material, ...], shape: Floats, band: Floats) -> None:
        self.undamaged = angle_stiffness(mesh, shape, face_stiffness(mesh, materials) * band[:, None, None])
        units = (np.broadcast_to(unit, (mesh.face_count, 3)) for unit in np.eye(3))
        self.angles_of = np.stack([curvature_angles(mesh, unit) for unit in units], axis=2)
        self.weakening = np.array([material.weakening for material in materials])[mesh.face_material]
        self.held: Remembered[Bools] = Remembered()
        self.stiffness: Remembered[Floats] = Remembered()
        self.rest_angle: Remembered[Floats] = Remembered()
        self.energy: Remembered[BendingMidedge] = Remembered()
        self.value: Remembered[float] = Remembered()
        self.angle: Remembered[Floats] = Remembered()


@dataclass(frozen=True)
class MountedMidedge(MountedTerm):
    """Mid-edge bending of one mesh: `links` of faces to edges, `shape` (face_count, 3, 3) curvature per angle,
    `damping` (face_count,) [s], where faces yield, and `loose` (face_count, 3) corners that bear no moment; `known`:
    see `_Known`, the same for all handles and all damping."""

    kind: Bending
    mesh: SheetMesh
    links: EdgeLinks
    shape: Floats
    law: YieldLaw
    damping: Floats
    loose: Bools
    known: _Known

    @property
    def turn_count(self) -> int:
        """How many edges have unknown turns: all."""
        return self.links.edge_count

    def with_handles(self, term: Term) -> MountedMidedge:
        return replace(self, kind=cast(Bending, term))

    def undamped(self, faces: Bools) -> MountedMidedge:
        return replace(self, damping=np.where(faces, 0.0, self.damping))

    def stored(self, state: State, time: float) -> Sequence[Energy]:
        return [self._energy(state, time)]

    def over(self, stage: Stage) -> Sequence[Energy]:
        state = stage.state
        energy = self._energy(state, stage.time)
        if stage.is_static or not self._is_damped:
            return [energy]
        before = stage.past_turned(self._angles)
        return [energy.damped(before, self.damping / stage.span)]

    def drained(self, stage: Stage, x: Floats, half_turn: Floats) -> float:
        if stage.is_static or not self._is_damped:
            return 0.0
        before = stage.past_turned(self._angles)
        loss = self._energy(stage.state, stage.time).dissipation(before, self.damping / stage.span)
        return 2.0 * float(np.sum(loss.value(x, half_turn))) / stage.span

    def relax(self, state: State) -> State:
        """The state with its directors in equilibrium, and moving so that they stay there."""
        energy = self._energy(state, state.time)
        half_turn = relax_turns(energy, state.x, state.half_turn)
        return state.replaced(half_turn=half_turn, half_rate=relaxed_rates(energy, state.x, state.v, half_turn))

    def settle(self, state: State, step: float) -> State:
        if not self.kind.yields:
            return state
        return _yielded(state, self.curvature(state), self.law)

    def yield_loss(self, before: State, after: State) -> float:
        """The work of the yield law along its path: B κ_y² ∫ (m + ½ γ m²) dδ of every face, see `yield_work`."""
        if after.damage is before.damage:
            return 0.0
        law, flow = self.law, after.plastic_curvature - before.plastic_curvature
        work = yield_work(flow, before.damage, after.damage, law.hardening, law.weakening, law.strength, law.band)
        angle = np.einsum("fkq,fq->fk", self.known.angles_of, flow)
        energy = np.einsum("fk,fkl,fl->f", angle, self.known.undamaged, angle)
        worked = work > 0.0
        square = flow[worked, 0] ** 2 + flow[worked, 1] ** 2 + 2.0 * flow[worked, 2] ** 2
        return float(np.sum(work[worked] * law.yield_curvature[worked] ** 2 * energy[worked] / square))

    def curvature(self, state: State) -> Floats:
        """S of each face (face_count, 3) [1/m]; driven creases have no part in it."""
        angle = self.angles(state)
        if self._has_loose:
            rest = self._rest_angle(state.plastic_curvature)
            angle = unloaded_angles(self._stiffness(state, state.time), self.loose, angle, rest)
        return curvature_of(self.shape, angle)

    def measure(self, state: State) -> float:
        energy = self._energy(state, state.time)
        return self.known.value.find(
            (energy, state.x, state.half_turn), lambda: float(np.sum(energy.value(state.x, state.half_turn)))
        )

    @cached_property
    def _has_loose(self) -> bool:
        return bool(self.loose.any())

    @cached_property
    def _is_damped(self) -> bool:
        return bool(self.damping.any())

    def _stiffness(self, state: State, time: float) -> Floats:
        """K of each face, loose corners or not, (face_count, 3, 3) [N m]."""
        parts = state.damage, state.pins.node, state.pins.handle, self._holding(time)
        return self.known.stiffness.find(parts, lambda: self._make_stiffness(state, time))

    def _holding(self, time: float) -> Equal:
        """Which handles hold something at `time` [s]."""
        return Equal(tuple([handle.strength(time) > 0.0 for handle in self.kind.handles]))

    def _make_stiffness(self, state: State, time: float) -> Floats:
        pins, known = state.pins, self.known
        parts = pins.node, pins.handle, self._holding(time)
        held = known.held.find(parts, lambda: _held_faces(self.kind.handles, state, time))
        factor = np.where(held, RIGID, 1.0) / (1.0 + known.weakening * state.damage)
        return known.undamaged * factor[:, None, None]

    def angles(self, state: State) -> Floats:
        """ψ of each face (face_count, 3) [rad]."""
        return self._angles(state.x, state.half_turn)

    def _angles(self, x: Floats, half_turn: Floats) -> Floats:
        return self.known.angle.find((x, half_turn), lambda: split_angles(self.links, x, half_turn))

    def field_rules(self, *, is_cut: bool) -> Mapping[str, Custom]:
        return {"plastic_curvature": follow_cut if is_cut else follow_relaxed}

    def driving_force(self, state: State, weight: Floats, stage: Stage | None) -> Sequence[Floats]:
        mesh, angle = self.mesh, self.angles(state)
        plate = face_stiffness(mesh, self.kind.materials, damage=state.damage)
        parts = [midedge_force(mesh, angle, plate, state.plastic_curvature, weight)]
        if stage is not None and self._is_damped:
            before = stage.past_turned(lambda x, turn: self.curvature(state.replaced(x=x, half_turn=turn)))
            rate = (self.damping / stage.span)[:, None, None]
            parts.append(midedge_force(mesh, angle, plate * rate, before, weight))
        return parts

    def fold_force(self, state: State, weight: Floats, stage: Stage | None) -> Sequence[Floats]:
        parts = self.driving_force(state, weight, stage)
        if not self.kind.yields:
            return parts
        curvature = self.curvature(state)
        taken = bending_work(self.law, curvature, state.plastic_curvature, state.damage, state.crease)
        taken *= bent_stiffness(face_stiffness(self.mesh, self.kind.materials), curvature)
        return [*parts, area_force(self.mesh, taken, weight)]

    def _energy(self, state: State, time: float) -> BendingMidedge:
        pins = state.pins
        parts = state.plastic_curvature, state.damage, pins.node, pins.handle, self._holding(time)
        return self.known.energy.find(parts, lambda: self._make_energy(state, time))

    def _make_energy(self, state: State, time: float) -> BendingMidedge:
        stiffness = self._stiffness(state, time)
        return BendingMidedge(
            stencil=self.links.face_nodes,
            edges=self.links.face_edge,
            side=self.links.side,
            beyond=self.links.beyond,
            shape=self.shape,
            stiffness=loosened(stiffness, self.loose) if self._has_loose else stiffness,
            rest_angle=self._rest_angle(state.plastic_curvature),
        )

    def _rest_angle(self, curvature: Floats) -> Floats:
        """ψ_p of each face (face_count, 3) [rad]."""
        known = self.known
        return known.rest_angle.find((curvature,), lambda: np.einsum("fkq,fq->fk", known.angles_of, curvature))


def band_factors(mesh: SheetMesh, creases: tuple[Crease, ...]) -> Floats:
    """By how much each face is stiffer because it lies beside a crease with a band, (face_count,)."""
    factor = np.ones(mesh.face_count)
    if not any(crease.band_width > 0.0 for crease in creases):
        return factor
    owner, _ = crease_hinges(mesh, creases)
    middle = mesh.u[mesh.faces].mean(axis=1)
    for number, crease in enumerate(creases):
        if crease.band_width <= 0.0:
            continue
        corners = mesh.hinges.corners[owner == number].ravel()
        tail, head = mesh.faces.ravel()[corners], mesh.faces.ravel()[3 * (corners // 3) + (corners + 1) % 3]
        own = np.flatnonzero(mesh.face_sheet == crease.sheet)
        near = np.zeros(len(own), bool)
        for p, q in zip(mesh.u[tail], mesh.u[head], strict=True):
            along = np.clip((middle[own] - p) @ (q - p) / max(float((q - p) @ (q - p)), 1e-300), 0.0, 1.0)
            near |= np.linalg.norm(middle[own] - p - along[:, None] * (q - p), axis=1) <= crease.band_width
        factor[own[near]] = crease.band_factor
    return factor


def _held_faces(handles: tuple[Handle, ...], state: State, time: float) -> Bools:
    """Faces all of whose nodes one handle holds at `time` [s], (face_count,)."""
    node_handle = np.full(state.mesh.node_count, -1, np.int32)
    for index, handle in enumerate(handles):
        if handle.strength(time) > 0.0:
            node_handle[state.pins.node[state.pins.handle == index]] = index
    return held_faces(state.mesh.face_nodes, node_handle)


def _yielded(state: State, curvature: Floats, law: YieldLaw) -> State:
    """The state after faces have been bent to the `curvature` (face_count, 3); the same object when none yields."""
    yielded = yield_curvature(law, curvature, state.plastic_curvature, state.damage, state.crease)
    if not yielded.count:
        return state
    return state.replaced(plastic_curvature=yielded.plastic_curvature, damage=yielded.damage, crease=yielded.crease)


@dataclass(frozen=True)
class MountedHinges(MountedTerm):
    """The hinges of one mesh, where its faces yield, and the `factor` (hinge_count,) of each hinge's stiffness, 0 at
    driven creases."""

    hinges: HingeParts
    stencil: CurvatureStencil
    law: YieldLaw
    plasticity: PlasticityOptions
    factor: Floats

    @cached_property
    def _known(self) -> Remembered[list[tuple[Hinge, Floats]]]:
        return Remembered(2)

    def undamped(self, faces: Bools) -> MountedHinges:
        near = faces[self.hinges.faces].any(axis=1)
        return replace(self, hinges=replace(self.hinges, damping=np.where(near, 0.0, self.hinges.damping)))

    def stored(self, state: State, time: float) -> Sequence[Energy]:
        return [energy for energy, _ in self._parts(state)]

    def _parts(self, state: State) -> list[tuple[Hinge, Floats]]:
        """The energies of the hinges, and the damping times of each."""
        return self._known.find((state.plastic_curvature, state.damage), lambda: self._make_parts(state))

    def _make_parts(self, state: State) -> list[tuple[Hinge, Floats]]:
        parts = self.hinges.at(rest_angle(self.stencil, state.plastic_curvature), state.damage)
        if np.all(self.factor == 1.0):
            return parts
        groups = [group for group in self.hinges.hinges if len(group)]
        return [
            (replace(energy, stiffness=(energy.stiffness.T * self.factor[group]).T), damping)
            for (energy, damping), group in zip(parts, groups, strict=True)
        ]

    def over(self, stage: Stage) -> Sequence[Energy]:
        state = stage.state
        energies: list[Energy] = []
        for energy, damping in self._parts(state):
            if stage.is_static or not damping.any():
                energies.append(energy)
            else:
                energies += energy.damped(stage.past(energy.deformation), damping / stage.span)
        return energies

    def drained(self, stage: Stage, x: Floats, half_turn: Floats) -> float:
        if stage.is_static:
            return 0.0
        return sum(drained_power(energy, damping, stage, x) for energy, damping in self._parts(stage.state))

    @property
    def can_yield(self) -> bool:
        """Whether any face can yield."""
        if self.plasticity.rule == "curvature":
            return bool(np.isfinite(self.law.yield_curvature).any())
        return self.plasticity.rule == "rest-angle"

    def settle(self, state: State, step: float) -> State:
        if not self.can_yield:
            return state
        if self.plasticity.rule == "rest-angle":
            return self._follow(state, step)
        return _yielded(state, self.curvature(state), self.law)

    def curvature(self, state: State) -> Floats:
        """S of each face (face_count, 3) [1/m], by eq. 1 of [Narain2013]; driven creases have no part in it."""
        return bending_strain(self.stencil, self._angles(state))

    def field_rules(self, *, is_cut: bool) -> Mapping[str, Custom]:
        return {"plastic_curvature": follow_cut_hinges} if is_cut else {}

    def driving_force(self, state: State, weight: Floats, stage: Stage | None) -> Sequence[Floats]:
        bent = np.zeros(len(state.mesh.hinges.nodes))
        groups = [chosen for chosen in self.hinges.hinges if len(chosen)]
        for (energy, _), chosen in zip(self._parts(state), groups, strict=True):
            bent[chosen] = energy.value(state.x)
        return [hinge_force(state.mesh, bent, weight)]

    def fold_force(self, state: State, weight: Floats, stage: Stage | None) -> Sequence[Floats]:
        return self.driving_force(state, weight, stage)

    def _angles(self, state: State) -> Floats:
        """Angles of the hinges (hinge_count,) [rad], 0 at driven creases."""
        return np.where(self.factor == 0.0, 0.0, dihedral_angles(state.x, state.mesh.hinges.nodes))

    def _follow(self, state: State, step: float) -> State:
        """The state after the rest angles have followed the angles beyond the threshold."""
        plastic = follow_curvature(
            self.stencil,
            self._angles(state),
            state.plastic_curvature,
            threshold=self.plasticity.follow_threshold,
            fraction=follow_fraction(self.plasticity.follow_rate, step),
        )
        same = np.array_equal(plastic, state.plastic_curvature)
        return state if same else state.replaced(plastic_curvature=plastic)
