"""The shapes of sheets and obstacles in a scene file; `kind` says which."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from crumple.options.quantities import Quantity, Whole
from crumple.scenes.quantities import FileName, Length, Moment, ObjectName, Position, Position2, Size3, Span, Table

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


Count = Annotated[int, Whole(1, 1000)]
FoldAngle = Annotated[float, Quantity("degrees", above=0, most=180)]


class Folding(Table):
    """What all crease patterns have in common: a sheet centred at the origin, about in the plane z = 0, with plastic
    creases.

    `size`: edge length of its triangles [m]. `fold`: fraction of the fold angles that the creases have. `start`:
    fraction of these by which the sheet is folded at the start; flat if 0. `fit`: angles are changed by as little as
    lets all facets stay flat. Edge k of the pattern has label k + 1.
    """

    size: Length
    fold: Annotated[float, Quantity("", least=0, most=1)] = 1.0
    start: Annotated[float, Quantity("", least=0, most=1)] = 0.0
    fit: bool = True


class Pattern(Folding):
    """A crease pattern in a FOLD or SVG file; `unit`: length of its unit [m], or `width`: of its longer side [m],
    instead of what the file says."""

    kind: Literal["pattern"] = "pattern"
    file: FileName
    unit: Length | None = None
    width: Length | None = None


class Miura(Folding):
    """Miura-ori of parallelograms with sides a, b [m] at `alpha`; its zigzags fold by `angle` [degrees]."""

    kind: Literal["miura"] = "miura"
    columns: Count
    rows: Count
    a: Length
    b: Length
    alpha: Annotated[float, Quantity("degrees", least=5, most=85)] = 60.0
    angle: FoldAngle = 90.0


class Waterbomb(Folding):
    """Waterbomb tessellation with square cells of side `cell` [m]; all creases fold by about `angle` [degrees]."""

    kind: Literal["waterbomb"] = "waterbomb"
    columns: Count
    rows: Count
    cell: Length
    angle: FoldAngle = 90.0


class Kresling(Folding):
    """The unrolled wall of a tube of twisted polygons with `sides` corners on circles of `radius` [m], each `height`
    [m] above the last and turned by `twist` [degrees] against it."""

    kind: Literal["kresling"] = "kresling"
    sides: Annotated[int, Whole(3, 100)]
    radius: Length
    height: Length
    twist: Annotated[float, Quantity("degrees", above=0, most=170)]
    rows: Count = 1


class Pleats(Folding):
    """A sheet of `width` × `height` [m] with `count` creases along its height, mountains and valleys in turn.

    `share`: fraction of two pleats that lies between a mountain and the next valley: 0.5 for an accordion.
    """

    kind: Literal["pleats"] = "pleats"
    width: Length
    height: Length
    count: Count
    share: Annotated[float, Quantity("", least=0.01, most=0.99)] = 0.5
    angle: FoldAngle = 90.0


class Carton(Folding):
    """The blank of a folding box: four walls, flaps above and below, a glue flap; all folds are mountains.

    `flap`, `glue`: lengths of the flaps [m]; `slot`: by which flaps are narrower than their wall [m]; `flap_angle` of
    the flaps of front and back [degrees].
    """

    kind: Literal["box"] = "box"
    width: Length
    depth: Length
    height: Length
    flap: Length | None = None
    glue: Length | None = None
    slot: Length | None = None
    angle: FoldAngle = 90.0
    flap_angle: FoldAngle | None = None


CREASE_PATTERNS = (Pattern, Miura, Waterbomb, Kresling, Pleats, Carton)

SheetShape = Annotated[
    Rectangle
    | Disk
    | Cylinder
    | Moebius
    | Outline
    | Pouch
    | Dart
    | SheetFile
    | Sewn
    | Pattern
    | Miura
    | Waterbomb
    | Kresling
    | Pleats
    | Carton,
    Field(discriminator="kind"),
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


class ObstacleAnimation(Table):
    """A mesh of an OpenUSD or Alembic file, which moves as it does there; linear between its samples.

    `object`: its path or name, if there are several; `start`: the time of the scene at which the animation is at its
    own zero [s]; `up`: where the file does not say rightly which axis points up.
    """

    kind: Literal["animation"] = "animation"
    file: FileName
    object: ObjectName | None = None
    start: Moment = 0.0
    up: Literal["y", "z"] | None = None
    inside: bool = False


ObstacleShape = Annotated[
    SphereObstacle
    | PlaneObstacle
    | BoxObstacle
    | CylinderObstacle
    | ObstacleFile
    | ObstacleSequence
    | ObstacleAnimation,
    Field(discriminator="kind"),
]
