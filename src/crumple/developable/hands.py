"""Hands that follow a script: where they take hold of a sheet, and how they move in time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

import numpy as np

from crumple.boundary.handles import Handle
from crumple.boundary.motions import Key, make_motion
from crumple.developable.tuning import TUNING
from crumple.mesh.sheet_mesh import SheetMesh
from crumple.runtime.errors import InputError
from crumple.runtime.typing import Ints

STIFFNESS, LARGEST = TUNING.hand_stiffness.value, TUNING.hand_force.value


@dataclass(frozen=True)
class Hand:
    """A hand on a flat sheet, which holds the nodes within `radius` [m] of the place `u` in the pattern [m].

    `keys`: (time [s], translation (3,) [m]) or (time, translation, rotation vector (3,) [rad] about `u`), in
    ascending time; it goes smoothly from one to the next, and stays after the last.  `until` [s] it lets go.
    """

    u: tuple[float, float]
    keys: Sequence[tuple[float, Sequence[float]] | tuple[float, Sequence[float], Sequence[float]]] = ()
    radius: float = 0.012
    until: float = inf


def make_handle(name: str, hand: Hand) -> Handle:
    """The handle of a model that moves as the hand does."""
    keys = [Key(key[0], tuple(key[1]), tuple(key[2]) if len(key) > 2 else (0.0, 0.0, 0.0)) for key in hand.keys]
    motion = make_motion(name, keys, center=(*hand.u, 0.0)) if keys else None
    return Handle(name, motion, end=hand.until, stiffness=STIFFNESS, grips=False, largest=LARGEST)


def idle_handle(name: str) -> Handle:
    """A handle that holds nothing yet."""
    return Handle(name, stiffness=STIFFNESS, grips=False, largest=LARGEST)


def select_held(hand: Hand, mesh: SheetMesh) -> Ints:
    """The nodes that a hand holds, (n,), on the border only those of the border; `InputError` when there is none."""
    far = np.linalg.norm(mesh.u - np.asarray(hand.u), axis=1)
    is_near = far <= hand.radius
    if not is_near.any():
        raise InputError("hand", f"no node of the sheet within its radius of {hand.radius:g} m", hand.u)
    if mesh.boundary_nodes[int(far.argmin())]:
        is_near &= mesh.boundary_nodes
    return np.flatnonzero(is_near).astype(np.int32)
