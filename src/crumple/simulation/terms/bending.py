"""Bending, with damping, yielding and damage ([Narain2013] §3): by mid-edge elements, or by hinges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from crumple.boundary.creases import Crease, crease_hinges, loose_hinges, pressed_hinges
from crumple.boundary.handles import Handle
from crumple.contract import EdgeEnergy, Energy, MountedTerm, Stage, Term
from crumple.energies.bending_midedge import (
    BendingMidedge,
    angle_stiffness,
    curvature_of,
    face_stiffness,
    loosened,
    make_bending_midedge,
    relax_turns,
    relaxed_rates,
    sheet_curvature,
    unloaded_angles,
)
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
from crumple.geometry.overlap import overlap_average
from crumple.materials.material import Material
from crumple.mesh.sheet_mesh import SheetMesh
from crumple.plasticity import (
    PlasticityOptions,
    YieldLaw,
    follow_curvature,
    follow_fraction,
    make_yield_law,
    yield_curvature,
)
from crumple.state import Change, State
from crumple.typing import Bools, Floats


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
        law = make_yield_law(
            state.mesh,
            self.materials,
            hardening=self.plasticity.hardening,
            crease_radius=self.plasticity.crease_radius,
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
        return MountedMidedge(self, mesh, edge_links(mesh), shape, law, damping, corners.reshape(-1, 3), band)


@dataclass(frozen=True)
class MountedMidedge(MountedTerm):
    """Mid-edge bending of one mesh: `links` of faces to edges, `shape` (face_count, 3, 3) curvature per angle,
    `damping` (face_count,) [s], where faces yield, `loose` (face_count, 3) corners that bear no moment, and `band`
    (face_count,) by which faces are stiffer."""

    kind: Bending
    mesh: SheetMesh
    links: EdgeLinks
    shape: Floats
    law: YieldLaw
    damping: Floats
    loose: Bools
    band: Floats

    @property
    def turn_count(self) -> int:
        """How many edges have unknown turns: all."""
        return self.links.edge_count

    def of(self, kind: Bending) -> MountedMidedge:
        """The same for a bending that differs in its handles only."""
        return replace(self, kind=kind)

    def undamped(self, faces: Bools) -> MountedMidedge:
        return replace(self, damping=np.where(faces, 0.0, self.damping))

    def stored(self, state: State, time: float) -> Sequence[EdgeEnergy]:
        return [self._energy(state, time)]

    def over(self, stage: Stage) -> Sequence[EdgeEnergy]:
        state = stage.state
        energy = self._energy(state, stage.time)
        if stage.is_static or not self.damping.any():
            return [energy]
        before = stage.past_turned(lambda x, half_turn: split_angles(self.links, x, half_turn))
        return [energy.damped(before, self.damping / stage.span)]

    def relax(self, state: State) -> State:
        """The state with its directors in equilibrium, and moving so that they stay there."""
        energy = self._energy(state, state.time)
        half_turn = relax_turns(energy, state.x, state.half_turn)
        return state.replaced(half_turn=half_turn, half_rate=relaxed_rates(energy, state.x, state.v, half_turn))

    def settle(self, state: State, step: float) -> State:
        if not self.kind.yields:
            return state
        return _yielded(state, self.curvature(state), self.law)

    def curvature(self, state: State) -> Floats:
        """S of each face (face_count, 3) [1/m]; driven creases have no part in it."""
        angle = self.angles(state)
        if self.loose.any():
            rest = curvature_angles(self.mesh, state.plastic_curvature)
            angle = unloaded_angles(self._stiffness(state, state.time), self.loose, angle, rest)
        return curvature_of(self.shape, angle)

    def _stiffness(self, state: State, time: float) -> Floats:
        """K of each face, loose corners or not, (face_count, 3, 3) [N m]."""
        held = _held_faces(self.kind.handles, state, time)
        plate = face_stiffness(self.mesh, self.kind.materials, damage=state.damage, held=held)
        return angle_stiffness(self.mesh, self.shape, plate * self.band[:, None, None])

    def angles(self, state: State) -> Floats:
        """ψ of each face (face_count, 3) [rad]."""
        return split_angles(self.links, state.x, state.half_turn)

    def plate(self, state: State) -> Floats:
        """D of each face (face_count, 3, 3) [N m], damage included."""
        return face_stiffness(self.mesh, self.kind.materials, damage=state.damage)

    def _energy(self, state: State, time: float) -> BendingMidedge:
        stiffness = self._stiffness(state, time)
        return BendingMidedge(
            stencil=self.links.face_nodes,
            edges=self.links.face_edge,
            side=self.links.side,
            beyond=self.links.beyond,
            shape=self.shape,
            stiffness=loosened(stiffness, self.loose) if self.loose.any() else stiffness,
            rest_angle=curvature_angles(self.mesh, state.plastic_curvature),
        )


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


def follow_relaxed(state: State, y: Floats, change: Change) -> Floats:
    """S_p (face_count, 3) [1/m] on the new mesh: as `state.embedded` does it, with directors in equilibrium.

    The directors of the embedding are those that show S_p best, on the old mesh and, with the mean of S_p over the old
    faces, on the new one. So what the embedding shows of a fold is its true curvature, on any mesh. Faces that a handle
    holds are rigid and have not taken part in the folds beside them: theirs is the mean of the old faces.
    """
    if not np.any(state.plastic_curvature):
        return np.zeros((change.mesh.face_count, 3))
    before = _shown(state.mesh, state.y, state.plastic_curvature)
    guess = overlap_average(change.face_operator, state.plastic_curvature)
    residual = overlap_average(change.face_operator, state.plastic_curvature - before)
    return np.where(_pinned_faces(state, change)[:, None], guess, _shown(change.mesh, y, guess) + residual)


def _pinned_faces(state: State, change: Change) -> Bools:
    """Faces of the new mesh all of whose nodes one handle holds, (face_count,)."""
    pins = state.pins.follow(change)
    node_handle = np.full(change.mesh.node_count, -1, np.int32)
    node_handle[pins.node] = pins.handle
    return held_faces(change.mesh.face_nodes, node_handle)


def _shown(mesh: SheetMesh, y: Floats, plastic_curvature: Floats) -> Floats:
    """The curvature of the shape y with the directors that bring it nearest to S_p, (face_count, 3) [1/m]."""
    links = edge_links(mesh)
    energy = make_bending_midedge(mesh, links, np.diag([1.0, 1.0, 2.0]), plastic_curvature=plastic_curvature)
    return sheet_curvature(mesh, links, y, relax_turns(energy, y, np.zeros(links.edge_count)))


@dataclass(frozen=True)
class MountedHinges(MountedTerm):
    """The hinges of one mesh, where its faces yield, and the `factor` (hinge_count,) of each hinge's stiffness, 0 at
    driven creases."""

    hinges: HingeParts
    stencil: CurvatureStencil
    law: YieldLaw
    plasticity: PlasticityOptions
    factor: Floats

    turn_count: ClassVar[int] = 0
    """Hinges have no unknown turns of edges."""

    def of(self, kind: Bending) -> MountedHinges:
        """The same: hinges do not ask for handles."""
        return self

    def undamped(self, faces: Bools) -> MountedHinges:
        near = faces[self.hinges.faces].any(axis=1)
        return replace(self, hinges=replace(self.hinges, damping=np.where(near, 0.0, self.hinges.damping)))

    def stored(self, state: State, time: float) -> Sequence[Energy]:
        return [energy for energy, _ in self._parts(state)]

    def _parts(self, state: State) -> list[tuple[Hinge, Floats]]:
        """The energies of the hinges, and the damping times of each."""
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
