"""What the user decides about remeshing; how fine the mesh is to be stands in `sizing`."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, TypeAlias

from crumple.options.options import Options
from crumple.options.quantities import Quantity, Whole
from crumple.options.sizing import SizingOptions
from crumple.runtime.typing import Floats
from crumple.state import State

MaxFaces = Annotated[int, Whole(1, 2_000_000), "Refinement ends when all sheets together have so many faces."]
"""Sets of three nodes are distinguished by one 64-bit number each, which suffices for two million nodes."""
MAX_FACES = 500_000
"""Faces at which refinement ends unless the user says otherwise: far more than scenes of crumpled sheets have, and few
enough to be made in seconds with a gigabyte of memory."""


@dataclass(frozen=True, kw_only=True)
class RemeshOptions(Options):
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
    `outline_tolerance`: fraction of the area around a node by which its removal may change the outline, a seam or a
    labelled line; 1e-9 = rounding of straight lines.
    `max_faces`: splits end when the mesh has this many faces, whatever the field asks for (a mesh that has more is
    not refined, but may be coarsened).
    `split`, `collapse`, `merge`: whether to refine, to coarsen, and to do so also by merging nodes in the middle.
    """

    section: ClassVar[str] = "remeshing"

    flip_hysteresis: Annotated[float, Quantity(least=0, most=10)] = 0.1
    split_limit: Annotated[float, Quantity(least=1, most=2)] = 1.0
    collapse_limit: Annotated[float, Quantity(least=0, most=1)] = 0.95
    aspect_min: Annotated[float, Quantity(least=0, most=1)] = 0.1
    strain_limit: Annotated[float, Quantity(least=0, or_infinite=True)] = 0.003
    smooth: bool = True
    smooth_angle: Annotated[float, Quantity("rad", least=0, most=math.pi)] = 0.6
    feature_angle: Annotated[float, Quantity("rad", least=0, most=math.pi)] = 0.6
    outline_tolerance: Annotated[float, Quantity(least=0, most=1)] = 1e-9
    max_faces: MaxFaces = MAX_FACES
    split: bool = True
    collapse: bool = True
    merge: bool = True


Criterion: TypeAlias = Callable[[State], Floats]
"""What a state asks of its mesh, see `RemeshingOptions`; those built in have the same form."""


@dataclass(frozen=True, kw_only=True)
class RemeshingSettings(Options):
    """Adaptive remeshing once per frame, of all sheets together."""

    section: ClassVar[str] = "remeshing"

    projection: Annotated[bool, "Whether to remove the jitter that remeshing leaves."] = True
    max_faces: MaxFaces = MAX_FACES
    face_budget: Annotated[
        int,
        Whole(0, 2_000_000),
        "Faces that all sheets together should have at most: where their shape asks for more, all of the mesh is as "
        "much coarser as that takes, so that the fine parts are where the folds are. 0: no budget.",
    ] = 0
    interval: Annotated[int, Whole(1, 1000), "The mesh is adapted at the end of every so manyth frame."] = 1


@dataclass(frozen=True)
class RemeshingOptions(RemeshingSettings):
    """Adaptive remeshing once per frame: how fine (`sizing`), and whether to project afterwards against jitter.

    `sheet_sizing`: one for each sheet where they differ, else empty.
    `criteria`: further criteria of one's own. Each is called with the state before a remeshing and returns for every
    face the longest edge (face_count,) [m], infinite where it does not care, or a tensor M (face_count, 3) [1/m²] as
    (xx, yy, xy) in the pattern: edges w should satisfy wᵀM w ≤ 1. The limits of `sizing` hold for them as well.
    """

    sizing: SizingOptions = field(default_factory=SizingOptions)
    sheet_sizing: tuple[SizingOptions, ...] = ()
    criteria: tuple[Criterion, ...] = ()

    @property
    def all_sizing(self) -> tuple[SizingOptions, ...]:
        """That of each sheet, or the one for all."""
        return self.sheet_sizing or (self.sizing,)
