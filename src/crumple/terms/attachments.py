"""Attachments: springs that draw pairs of nodes (the bonds of a state) together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from crumple.boundary.attachments import Attachment
from crumple.contract import Energy, MountedTerm, Term
from crumple.energies.attachments import make_attachments
from crumple.state import State


@dataclass(frozen=True)
class Attachments(Term):
    """All attachments of a model."""

    attachments: tuple[Attachment, ...]
    name = "attachments"

    def mount(self, state: State) -> MountedTerm:
        return MountedAttachments(self.attachments)


@dataclass(frozen=True)
class MountedAttachments(MountedTerm):
    """The attachments; which nodes they join is in the state."""

    attachments: tuple[Attachment, ...]

    def stored(self, state: State, time: float) -> Sequence[Energy]:
        """The springs of the attachments that hold at `time` [s]."""
        bonds = state.bonds
        if not len(bonds.attachment):
            return []
        strength = np.array([one.stiffness * one.strength(time) for one in self.attachments])
        holding = np.flatnonzero(strength[bonds.attachment] > 0.0)
        if not len(holding):
            return []
        which = bonds.attachment[holding]
        length = np.array([one.length for one in self.attachments])
        return [make_attachments(bonds.nodes[holding], strength[which], length[which])]
