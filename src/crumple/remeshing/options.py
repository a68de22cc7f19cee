"""What the user decides about the remeshing loop (the resolution itself is decided by the sizing field)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from crumple.errors import InputError

MAX_FACES = 500_000
"""Faces at which refinement ends unless the user says otherwise: far more than scenes of crumpled sheets have, and few
enough to be made in seconds with a gigabyte of memory."""
LARGEST_MAX_FACES = 2_000_000
"""Sets of three nodes are told apart by one 64-bit number each, which suffices for two million nodes."""


@dataclass(frozen=True, kw_only=True)
class RemeshOptions:
    """Rules of splits, flips and collapses; lengths are measured in the metric, so 1 is the longest allowed.

    `flip_hysteresis` α: an edge is flipped when (8) of [Narain2013] falls below −α times the doubled areas.
    `split_limit`: edges up to this length are left as they are. Above 1, (4) is exceeded that much, and the mesh does
    not follow every small change of the field: the better way to keep it calm, as edges may grow to 1 in collapses.
    `collapse_limit`: a collapse may not make an edge longer than this; below 1, so that what was merged is not
    split again when the field changes a little. The number of faces grows like its inverse square.
    `aspect_min`: no flip or collapse makes a face whose height over its longest edge, relative to an equilateral
    face, falls below this (unless the faces it replaces are worse).
    `strain_limit`: no flip, collapse or smooth place makes an edge whose strain is outside the range of the edges
    around by more than this: a chord across a sharp crease would be stretched or compressed, and the sheet would jump.
    The smooth place on a bend of θ per edge strains by θ²/32: 0.003 allows for 0.3 rad.
    `smooth`: place new nodes on the smooth surface through their neighbours instead of in the middle of the edge.
    `smooth_angle` [rad]: where the faces around an end of the edge turn more than this from their mean there is a
    crease, and the middle of the edge is taken.
    `feature_angle` [rad]: surfaces in space only; edges sharper than this are kept.
    `outline_tolerance`: share of the area around a node by which its removal may change the outline, a seam or a
    labelled line; 1e-9 = rounding of straight lines.
    `max_faces`: splits end when the mesh has this many faces, whatever the field asks for (a mesh that has more is
    not refined, but may be coarsened).
    `split`, `collapse`, `merge`: whether to refine, to coarsen, and to do so also by merging nodes in the middle.
    """

    flip_hysteresis: float = 0.1
    split_limit: float = 1.0
    collapse_limit: float = 0.95
    aspect_min: float = 0.1
    strain_limit: float = 0.003
    smooth: bool = True
    smooth_angle: float = 0.6
    feature_angle: float = 0.6
    outline_tolerance: float = 1e-9
    max_faces: int = MAX_FACES
    split: bool = True
    collapse: bool = True
    merge: bool = True

    def __post_init__(self) -> None:
        inside = {
            "flip_hysteresis": (0.0, 10.0),
            "split_limit": (1.0, 2.0),
            "collapse_limit": (0.0, 1.0),
            "aspect_min": (0.0, 1.0),
            "strain_limit": (0.0, math.inf),
            "smooth_angle": (0.0, math.pi),
            "feature_angle": (0.0, math.pi),
            "outline_tolerance": (0.0, 1.0),
        }
        for name, (low, high) in inside.items():
            value = getattr(self, name)
            if not low <= value <= high:
                raise InputError(f"remeshing.{name}", f"must be in [{low:g}, {high:g}]", value)
        if not (isinstance(self.max_faces, int) and 1 <= self.max_faces <= LARGEST_MAX_FACES):
            raise InputError(
                "remeshing.max_faces", f"must be a whole number from 1 to {LARGEST_MAX_FACES}", self.max_faces
            )
