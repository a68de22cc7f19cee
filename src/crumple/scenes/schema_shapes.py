"""The shapes of sheets and obstacles in a scene file; `kind` says which."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from crumple.scenes.quantities import (
    FileName,
    Length,
    Moment,
    Position,
    Position2,
    Quantity,
    Size3,
    Span,
    Table,
    Whole,
)

Loop = Annotated[list[Position2], Field(min_length=3, max_length=10**5)]


class Rectangle(Table):
    """A flat rectangle centred at the origin in the plane z = 0; `size` is the edge length of its triangles [m]."""

    kind: Literal["rectangle"] = "rectangle"
    width: Length
    height: Length
    size: Length
    style: Literal["equilateral", "right", "alternating", "delaunay"] = "equilateral"
    seed: Annotated[int, Whole(0, 2**31 - 1)] = 0


class Disk(Table):
    """A flat disk centred at the origin in the plane z = 0."""

    kind: Literal["disk"] = "disk"
    radius: Length
    size: Length


class Cylinder(Table):
    """A tube about the z axis from z = 0 to `height`, closed by a seam."""

    kind: Literal["cylinder"] = "cylinder"
    circumference: Length
    height: Length
    size: Length


class Moebius(Table):
    """A strip closed with half a turn; its middle line runs around the z axis."""

    kind: Literal["moebius"] = "moebius"
    length: Length
    width: Length
    size: Length


class Outline(Table):
    """A flat polygon with holes in the plane z = 0; loops are lists of points [m]."""

    kind: Literal["outline"] = "outline"
    points: Loop
    holes: Annotated[list[Loop], Field(max_length=1000)] = Field(default_factory=list)
    size: Length


class Pouch(Table):
    """Two panels with the same outline, `gap` [m] apart in ±z, sewn together along its sides except the `open` ones.

    Side k runs from point k to the next, counted from 0.
    """

    kind: Literal["pouch"] = "pouch"
    points: Loop
    open: Annotated[list[Annotated[int, Whole(0, 10**5)]], Field(max_length=10**5)] = Field(default_factory=list)
    gap: Length
    size: Length


class Dart(Table):
    """A rectangle folded to a paper dart with its nose at the origin, flying along +x, wings along ±y.

    The folded shape is its natural one; the edges along the creases have label 1. Angles in degrees at the nose:
    `keel` height of the body, `opening` of the body between the wings, `dihedral` by which the wings rise, `flap` by
    which the flaps on them stand open.
    """

    kind: Literal["dart"] = "dart"
    width: Length
    height: Length
    size: Length
    keel: Annotated[float, Quantity("degrees", least=1, most=30)] = 10.0
    opening: Annotated[float, Quantity("degrees", least=0.5, most=30)] = 6.0
    dihedral: Annotated[float, Quantity("degrees", least=-30, most=30)] = 7.0
    flap: Annotated[float, Quantity("degrees", least=1, most=20)] = 10.0

    natural: ClassVar[bool] = True


class SheetFile(Table):
    """An OBJ file. `pattern`, the flat sheet at its natural size: "uv", its texture coordinates, in m; "world", the
    mesh as it is; "auto", the texture coordinates if the file says so or their lengths fit the mesh, else the mesh.
    """

    kind: Literal["file"] = "file"
    mesh: FileName
    pattern: Literal["auto", "uv", "world"] = "auto"


class Sewn(Table):
    """A pattern (panels lying apart) and the world mesh that they are sewn into: two OBJ files."""

    kind: Literal["sewn"] = "sewn"
    pattern: FileName
    world: FileName


SheetShape = Annotated[
    Rectangle | Disk | Cylinder | Moebius | Outline | Pouch | Dart | SheetFile | Sewn, Field(discriminator="kind")
]


class SphereObstacle(Table):
    """A sphere; `inside = true` for a hollow one whose inside faces the sheet."""

    kind: Literal["sphere"] = "sphere"
    radius: Length
    center: Position = (0.0, 0.0, 0.0)
    size: Length | None = None
    inside: bool = False


class PlaneObstacle(Table):
    """A rectangle in the plane z = 0, facing up; turn it with `transform`."""

    kind: Literal["plane"] = "plane"
    width: Length = 1.0
    height: Length = 1.0
    center: Position = (0.0, 0.0, 0.0)
    size: Length | None = None


class BoxObstacle(Table):
    """A box with edges along the axes; `inside = true` for a container."""

    kind: Literal["box"] = "box"
    extent: Size3
    center: Position = (0.0, 0.0, 0.0)
    size: Length | None = None
    inside: bool = False


class CylinderObstacle(Table):
    """A closed cylinder about the z axis, centred; `rows` of facets along it, about square ones by default."""

    kind: Literal["cylinder"] = "cylinder"
    radius: Length
    height: Length
    center: Position = (0.0, 0.0, 0.0)
    size: Length | None = None
    rows: Annotated[int, Whole(1, 10**6)] | None = None
    inside: bool = False


class ObstacleFile(Table):
    """An OBJ file."""

    kind: Literal["file"] = "file"
    mesh: FileName
    inside: bool = False


class ObstacleSequence(Table):
    """OBJ files with the same faces, one every `interval` [s] from `start` [s]; linear in between."""

    kind: Literal["sequence"] = "sequence"
    meshes: Annotated[list[FileName], Field(min_length=1, max_length=10**5)]
    start: Moment = 0.0
    interval: Span
    inside: bool = False


ObstacleShape = Annotated[
    SphereObstacle | PlaneObstacle | BoxObstacle | CylinderObstacle | ObstacleFile | ObstacleSequence,
    Field(discriminator="kind"),
]
