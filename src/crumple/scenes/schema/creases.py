"""Creases of sheets in a scene file: folds that are there from the start, driven over time, or pressed."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from crumple.boundary.creases import RAMP, STRENGTH
from crumple.options.quantities import Quantity, Whole
from crumple.scenes.quantities import Length, Moment, Position2, Span, Table

FoldAngle = Annotated[float, Quantity("degrees", least=-180, most=180)]
CreaseStrength = Annotated[float, Quantity("N m/m", above=0, most=1e6)]
"""A moment per length of crease."""


class CreaseKey(Table):
    """A fold at a time [s]: by an `angle` [degrees], or by a fraction `fold` of the angles of the crease pattern."""

    time: Moment
    angle: FoldAngle | None = None
    fold: Annotated[float, Quantity("", least=0, most=1)] | None = None


class CreasePress(Table):
    """How a pressed crease resists: it does not open beyond `engage` [degrees], up to its `strength` [N m/m].

    `spinal` [N m]: moment at which its ridge breaks;  `torsion` [N m/m] at which its wings do; 0 = they do not resist.
    `overload` of the fold: it may "yield" and returns, or "break" for good. `patience`: steps of overload before.
    """

    engage: FoldAngle
    strength: CreaseStrength = STRENGTH
    spinal: Annotated[float, Quantity("N m", least=0, most=1e6)] = 0.0
    torsion: Annotated[float, Quantity("N m/m", least=0, most=1e6)] = 0.0
    overload: Literal["yield", "break"] = "yield"
    patience: Annotated[int, Whole(1, 10**6)] = 1


class CreaseBand(Table):
    """Faces within `width` [m] of the crease bend `factor` times as stiffly."""

    width: Length
    factor: Annotated[float, Quantity("", above=0, most=1e6)]


class Crease(Table):
    """A fold by `angle` [degrees]: positive = mountain, 180 = folded flat.

    Along `line`, points of the pattern [m] before the sheet is scaled, on the edges of the mesh with `label`, or, of a
    crease pattern, on all creases of an assignment (`select`), of a `group`, or with the numbers `edges`. On creases of
    a pattern an angle is that of mountains, and valleys fold the other way.

    `drive`: "set" plastically, "hard" up to its `strength` [N m/m], by a "spring" of `stiffness` [N m/m/rad] or
    `origami_length` [m] that yields at `yield_moment` [N m/m], or "free". `keys`: its angle over time. `ramp`: time [s]
    in which a hard crease makes up for 90° that it is away from its angle. `double`: two creases of half the angle, as
    far apart as the thickness asks for. `damage` of the faces beside a set one; without, that of all its bending:
    `worked`, by how much it was bent in all, back and forth [degrees]; without, once by its angle. `width` [m]: the
    mesh gets lines on both sides of a line so far apart, and is not coarsened across it, so that a fold which lies flat
    keeps its place; without, a row of faces has it.
    """

    name: Annotated[str, Field(min_length=1, max_length=64)] | None = None
    line: Annotated[list[Position2], Field(min_length=2, max_length=10**4)] | None = None
    label: Annotated[int, Whole(1, 2**31 - 1)] | None = None
    select: Literal["all", "M", "V", "F", "U"] | None = None
    group: Annotated[str, Field(min_length=1, max_length=64)] | None = None
    edges: Annotated[list[Annotated[int, Whole(0, 10**6)]], Field(min_length=1, max_length=10**5)] | None = None
    angle: FoldAngle | None = None
    worked: Annotated[float, Quantity("degrees", least=0, most=1e6)] | None = None
    width: Length | None = None
    drive: Literal["set", "hard", "spring", "free"] = "set"
    keys: Annotated[list[CreaseKey], Field(max_length=1000)] = Field(default_factory=list)
    strength: CreaseStrength = STRENGTH
    stiffness: Annotated[float, Quantity("N m/m/rad", above=0, most=1e6)] | None = None
    origami_length: Length | None = None
    yield_moment: CreaseStrength | None = None
    ramp: Span = RAMP
    press: CreasePress | None = None
    band: CreaseBand | None = None
    double: bool = False
    damage: Annotated[float, Quantity("", least=0, most=1e9)] | None = None
