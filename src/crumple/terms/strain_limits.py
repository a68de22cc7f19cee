"""Strain limits: no face of such a sheet is stretched farther than its material allows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from crumple.contract import Energy, MountedTerm, Term
from crumple.energies.strain_limit import StrainLimit, make_strain_limit, squared_stretches
from crumple.materials.material import Material
from crumple.runtime.typing import Floats
from crumple.state import State
from crumple.terms.tuning import TUNING

CLOSE = TUNING.close_to_limit.value
ROOM = TUNING.beyond_limit_room.value
LEAST_ROOM = TUNING.at_limit_room.value
STRONGER = TUNING.beyond_limit_stiffening.value


@dataclass(frozen=True)
class StrainLimits(Term):
    """The limits of the `materials` that have one."""

    materials: tuple[Material, ...]
    name = "strain limit"
    is_in_play = False

    def mount(self, state: State) -> MountedTerm:
        mesh = state.mesh
        limit = np.array([material.strain_limit for material in self.materials])[mesh.face_material]
        stiffness = np.array([material.stretch_stiffness for material in self.materials])[mesh.face_material]
        faces = np.flatnonzero(np.isfinite(limit))
        corners, nodes = mesh.u[mesh.faces[faces]], mesh.face_nodes[faces]
        return MountedStrainLimits(make_strain_limit(corners, nodes, stiffness[faces], limit[faces]), faces)


@dataclass(frozen=True)
class MountedStrainLimits(MountedTerm):
    """The barrier of the `faces` (n,) of one mesh that have a limit."""

    barrier: StrainLimit
    faces: NDArray[np.intp]

    def stored(self, state: State, time: float) -> Sequence[Energy]:
        """The barrier; where the sheet is beyond its limit already, a stiffer one that drives it back."""
        barrier = self.barrier
        if not len(barrier.stencil):
            return []
        plastic = state.plastic_strain[self.faces]
        if plastic.any():
            barrier = replace(barrier, gradients=barrier.gradients @ _inverse_root(plastic))
        now = squared_stretches(state.x, barrier.stencil, barrier.gradients)
        is_beyond = now >= CLOSE * barrier.limit
        if not is_beyond.any():
            return [barrier]
        room = np.clip(0.5 * (now - barrier.limit), LEAST_ROOM, (ROOM - 1.0) * now)
        limit = np.where(is_beyond, now + room, barrier.limit)
        return [replace(barrier, limit=limit, stiffness=np.where(is_beyond, STRONGER, 1.0) * barrier.stiffness)]


def _inverse_root(plastic_strain: Floats) -> Floats:
    """(I + 2 E_p)^(−½) of each face, (n, 2, 2): F times this is the stretch from the lengths that it has at rest."""
    xx, yy, xy = plastic_strain.T
    metric = np.eye(2) + 2.0 * np.stack([np.stack([xx, xy], axis=1), np.stack([xy, yy], axis=1)], axis=1)
    values, vectors = np.linalg.eigh(metric)
    return np.ascontiguousarray((vectors / np.sqrt(values)[:, None, :]) @ np.swapaxes(vectors, 1, 2))
