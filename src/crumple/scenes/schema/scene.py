"""The scene format: what a scene file may say. SI units; unknown keys are errors; every number is bounded.

A table with several forms says which by `kind`. Times run in seconds from the start of the run.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import inf
from typing import Annotated, Any, Literal

from pydantic import Field, PrivateAttr, SerializerFunctionWrapHandler, model_serializer, model_validator

from crumple.model.model import STANDARD_GRAVITY
from crumple.options.contact import ContactSettings
from crumple.options.plasticity import PlasticityOptions
from crumple.options.quantities import Quantity, Whole
from crumple.options.remeshing import RemeshingSettings
from crumple.options.sizing import SizingOptions
from crumple.options.solver import SolverOptions
from crumple.options.tearing import TearingSettings
from crumple.scenes.quantities import (
    Acceleration,
    Angle,
    Axis,
    Axis2,
    Enlargement,
    Factor,
    FileName,
    FrameTime,
    Friction,
    Length,
    Moment,
    PartName,
    Position,
    Position2,
    RecordingName,
    Scale,
    ScaleRate,
    Span,
    Table,
    Thickness,
    Velocity,
    refuse,
)
from crumple.scenes.schema.creases import Crease
from crumple.scenes.schema.material import Material
from crumple.scenes.schema.shapes import ObstacleShape, SheetShape


class Rotation(Table):
    """A turn by `angle` [degrees] about `axis`; may be more than 360."""

    angle: Angle
    axis: Axis


class Transform(Table):
    """x' = R S (x - center) + center + translate."""

    translate: Position = (0.0, 0.0, 0.0)
    rotate: Rotation | None = None
    scale: Scale = (1.0, 1.0, 1.0)
    center: Position = (0.0, 0.0, 0.0)


class SheetTransform(Table):
    """Placement of a sheet; `scale` enlarges pattern and world alike, so it does not strain the sheet."""

    translate: Position = (0.0, 0.0, 0.0)
    rotate: Rotation | None = None
    scale: Enlargement = 1.0
    center: Position = (0.0, 0.0, 0.0)


class Jitter(Table):
    """Random offsets along the normal, uniform within ± amplitude [m]; breaks perfect symmetry reproducibly."""

    amplitude: Annotated[float, Quantity("m", least=0, most=0.1)]
    seed: Annotated[int, Whole(0, 2**31 - 1)] = 0


class Cut(Table):
    """A cut that is there from the start: a slit along the polyline `line`, or without what lies in the polygon `area`.

    Points of the pattern [m], before the sheet is scaled.
    """

    line: Annotated[list[Position2], Field(min_length=2, max_length=10**4)] | None = None
    area: Annotated[list[Position2], Field(min_length=3, max_length=10**4)] | None = None


class WeakLine(Table):
    """A line along which a sheet tears more easily: along `line`, points of the pattern [m] before the sheet is scaled,
    or on the edges of the mesh with `label`.

    The energy along it is (1 − `cut_share`) `toughness` times that of the sheet: of a perforation that fraction is cut.
    """

    line: Annotated[list[Position2], Field(min_length=2, max_length=10**4)] | None = None
    label: Annotated[int, Whole(1, 2**31 - 1)] | None = None
    cut_share: Annotated[float, Quantity("", least=0, below=1)] = 0.0
    toughness: Annotated[float, Quantity("", above=0, most=1e6)] = 1.0


class History(Table):
    """What a sheet has gone through in another run: it is taken over from a frame of its `recording`.

    `recording`: a folder, or one of its frames as a file;  `frame` of the folder, −1 = the last;  `sheet`: its name
    there, not needed when there is only one. `shape`: "kept" as it is there, "flat" laid flat with the bends that it
    keeps, so that it springs back when let go, or "ironed": flat for good, only weak where it was bent.
    """

    recording: RecordingName
    frame: Annotated[int, Whole(-1, 2**31 - 1)] = -1
    sheet: PartName | None = None
    shape: Literal["kept", "flat", "ironed"] = "kept"


class Sizing(Table, SizingOptions):
    """How fine a sheet is meshed."""

    @model_serializer(mode="wrap")
    def _leave_out_infinite(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {key: value for key, value in handler(self).items() if value != inf}


class Remeshing(Sizing, RemeshingSettings):
    """Adaptive remeshing once per frame; the table's presence turns it on. Sheets may have a sizing of their own."""


class MaterialMap(Table):
    """A picture that lies on the sheet as a texture and scales what its faces are made of: `scales` says which value,
    the factor is `black` where it is black and `white` where it is white, linear between, in so many `levels`.
    """

    file: FileName
    scales: Literal[
        "thickness", "stiffness", "stretch", "bend", "density", "yield_curvature", "tear_energy", "tensile_strength"
    ]
    black: Factor
    white: Factor = 1.0
    levels: Annotated[int, Whole(2, 64)] = 8


class Sheet(Table):
    """A sheet: its shape, place and material. With `materials`, the face groups of the mesh pick from the list.

    `plastic_shape`: an OBJ file with the nodes of the mesh in the shape that the sheet would take by itself.
    `folded`: the sheet starts in the shape that this and its creases give it, not in the shape of its mesh.
    `rest`: what it is at rest, "flat" as its pattern (creases apart), "bent" as it starts but with the lengths of its
    pattern, or entirely as it starts ("start").
    `remeshing`: how fine this sheet is meshed, instead of what the scene's table says.
    `history`: instead of `shape`, the sheet as another run has left it.
    `maps`: pictures that scale the material from place to place; not with `history`.
    """

    name: PartName | None = None
    shape: SheetShape | None = None
    history: History | None = None
    transform: SheetTransform = SheetTransform()
    material: Material | None = None
    materials: Annotated[list[Material], Field(min_length=1, max_length=1000)] | None = None
    maps: Annotated[list[MaterialMap], Field(max_length=8)] = Field(default_factory=list)
    velocity: Velocity = (0.0, 0.0, 0.0)
    jitter: Jitter | None = None
    creases: Annotated[list[Crease], Field(max_length=1000)] = Field(default_factory=list)
    cuts: Annotated[list[Cut], Field(max_length=1000)] = Field(default_factory=list)
    lines: Annotated[list[WeakLine], Field(max_length=1000)] = Field(default_factory=list)
    plastic_shape: FileName | None = None
    folded: bool = False
    rest: Literal["flat", "bent", "start"] = "flat"
    remeshing: Sizing | None = None
    contact_thickness: Thickness | None = None


class IndexSelection(Table):
    """Nodes of the sheet by number, from 0."""

    kind: Literal["indices"] = "indices"
    indices: Annotated[list[Annotated[int, Whole(0, 2**31 - 1)]], Field(min_length=1, max_length=10**6)]


class LabelSelection(Table):
    """Nodes and edges that carry a label in the mesh."""

    kind: Literal["label"] = "label"
    label: Annotated[int, Whole(1, 2**31 - 1)]


class BoxSelection(Table):
    """Nodes within the world box between two opposite corners [m]."""

    kind: Literal["box"] = "box"
    low: Position
    high: Position


class BallSelection(Table):
    """Nodes within `radius` [m] of a world point [m]."""

    kind: Literal["ball"] = "ball"
    center: Position
    radius: Length


class SideSelection(Table):
    """Nodes at an extreme of the pattern."""

    kind: Literal["side"] = "side"
    side: Literal["left", "right", "bottom", "top"]


class NearestSelection(Table):
    """The node nearest to each of the world points [m]."""

    kind: Literal["nearest"] = "nearest"
    points: Annotated[list[Position], Field(min_length=1, max_length=10**5)]


class BoundarySelection(Table):
    """All nodes on free edges."""

    kind: Literal["boundary"] = "boundary"


class ImageSelection(Table):
    """Nodes where a picture, which lies on the sheet as a texture, is at least as bright as `level`, or darker.

    0 is black, 1 is white; what is transparent is black.
    """

    kind: Literal["image"] = "image"
    file: FileName
    level: Annotated[float, Quantity("", above=0, most=1)] = 0.5
    darker: bool = False


class AllSelection(Table):
    """Every node of the sheet."""

    kind: Literal["all"] = "all"


Selection = Annotated[
    IndexSelection
    | LabelSelection
    | BoxSelection
    | BallSelection
    | SideSelection
    | NearestSelection
    | BoundarySelection
    | ImageSelection
    | AllSelection,
    Field(discriminator="kind"),
]


class Circle(Table):
    """Targets on a circle instead of where the nodes are: the pattern direction is wrapped around it."""

    center: Position
    axis0: Axis = (1.0, 0.0, 0.0)
    axis1: Axis = (0.0, 1.0, 0.0)
    direction: Axis2 = (1.0, 0.0)
    circumference: Length


class SceneHandle(Table):
    """Holds selected nodes of a sheet to targets that follow a motion, from `start` to `end`, fading over `fade`."""

    name: PartName | None = None
    sheet: PartName | None = None
    select: Selection
    motion: PartName | None = None
    start: Moment = 0.0
    end: Moment | None = None
    fade: Moment = 0.0
    stiffness: Annotated[float, Quantity("N/m", above=0, most=1e12)] = 1e3
    largest_force: Annotated[float, Quantity("N", above=0, most=1e12)] | None = None
    circle: Circle | None = None


class SceneAttachment(Table):
    """Draws nodes together, of one sheet or of two, from `start` to `end`, fading over `fade`: glue, a late seam.

    `sheets`: that of the `first` and that of the `second` selection, not needed when there is only one sheet.
    `pairing`: each node of the smaller selection with the "nearest" of the other within `reach` [m], or both
    selections in the "order" of their nodes. `length` [m] within which nothing pulls; without, where contact begins.
    """

    name: PartName | None = None
    sheets: Annotated[list[PartName], Field(min_length=2, max_length=2)] | None = None
    first: Selection
    second: Selection
    pairing: Literal["nearest", "order"] = "nearest"
    reach: Length | None = None
    length: Annotated[float, Quantity("m", least=0, most=1e4)] | None = None
    start: Moment = 0.0
    end: Moment | None = None
    fade: Moment = 0.0
    stiffness: Annotated[float, Quantity("N/m", above=0, most=1e12)] = 1e3


class SceneObstacle(Table):
    """A surface that sheets cannot pass, present from `start` to `end`, moved by a motion."""

    name: PartName | None = None
    shape: ObstacleShape
    transform: Transform = Transform()
    motion: PartName | None = None
    start: Moment = 0.0
    end: Moment | None = None
    friction: Friction | None = None
    thickness: Thickness | None = None


class KeyVelocity(Table):
    """Tangents given at a key, per second."""

    translate: Velocity | None = None
    rotate: Rotation | None = None
    scale: ScaleRate | None = None


class MotionKey(Table):
    """A pose at a time [s]."""

    time: Moment
    translate: Position = (0.0, 0.0, 0.0)
    rotate: Rotation | None = None
    scale: Scale = (1.0, 1.0, 1.0)
    velocity: KeyVelocity | None = None


class MotionRate(Table):
    """A steady velocity [m/s] and turn [degrees/s about an axis] from `start` to `end`."""

    velocity: Velocity = (0.0, 0.0, 0.0)
    spin: Rotation | None = None
    start: Moment = 0.0
    end: Moment | None = None


class SceneMotion(Table):
    """Keys, a steady rate or both; `relative_to` another motion: this one happens in its frame."""

    keys: Annotated[list[MotionKey], Field(max_length=10**5)] = Field(default_factory=list)
    rate: MotionRate | None = None
    center: Position = (0.0, 0.0, 0.0)
    relative_to: PartName | None = None


class Run(Table):
    """How long, and how often a frame is written.

    `relax`: sheets that start stretched against their patterns come to rest before the first frame, without weight.
    `untangle`: parts that start overlapping are taken apart before, by the smallest motion that separates them.
    """

    frame_time: FrameTime = 0.04
    duration: Span = 1.0
    relax: bool = False
    untangle: bool = False


class Solver(Table, SolverOptions):
    """Time stepping and Newton's method."""


class Plasticity(Table, PlasticityOptions):
    """How sheets deform for good; yield curvature and weakening belong to the material."""


class Tearing(Table, TearingSettings):
    """How sheets tear; the table's presence lets them. Tear energy and strength belong to the material."""


class Pair(Table):
    """Friction between two parts (sheets or obstacles; twice the same sheet: with itself)."""

    parts: Annotated[list[PartName], Field(min_length=2, max_length=2)]
    friction: Friction


class Contact(Table, ContactSettings):
    """Contact of everything with everything."""

    thickness: (
        Annotated[
            Thickness,
            "Of all parts that do not state their own. Without it a sheet has that of its material, an obstacle none.",
        ]
        | None
    ) = None
    friction: Annotated[Friction, "Coulomb's coefficient."] = 0.3
    pairs: Annotated[list[Pair], Field(max_length=10**4), "Friction between two parts where it differs."] = Field(
        default_factory=list
    )


class WindKey(Table):
    """The wind at a time."""

    time: Moment
    velocity: Velocity


class SceneGust(Table):
    """Turbulence: `speed`, the root mean square of the deviation in each direction, of eddies of a `length`."""

    speed: Annotated[float, Quantity("m/s", least=0, most=1e3)]
    length: Length
    seed: Annotated[int, Whole(0, 2**31 - 1)] = 0


class SceneWind(Table):
    """Air around the sheets: with one `velocity`, or with `keys`, linear in between; `gust` is added to either."""

    density: Annotated[float, Quantity("kg/m³", least=0, most=1e4)] = 1.2
    velocity: Velocity = (0.0, 0.0, 0.0)
    drag: Annotated[float, Quantity("kg/(m² s)", least=0, most=1e3)] = 0.0
    keys: Annotated[list[WindKey], Field(max_length=10**5)] = Field(default_factory=list)
    gust: SceneGust | None = None

    @model_validator(mode="after")
    def _check_keys(self) -> SceneWind:
        if self.keys and any(self.velocity):
            raise refuse("needs velocity or keys, not both")
        for k, (one, other) in enumerate(pairwise(self.keys), 1):
            if other.time <= one.time:
                raise refuse(f"the times of its keys must ascend, but keys[{k}] is at {other.time:g} s")
        return self


class Environment(Table):
    """What acts on every sheet."""

    gravity: Acceleration = (0.0, 0.0, -STANDARD_GRAVITY)
    wind: SceneWind | None = None
    velocity_damping: Annotated[float, Quantity("1/s", least=0, most=1e6)] = 0.0


class Scene(Table):
    """A whole scene."""

    name: PartName = "scene"
    description: Annotated[str, Field(max_length=10_000)] = ""
    run: Run = Run()
    solver: Solver = Solver()
    plasticity: Plasticity = Plasticity()
    remeshing: Remeshing | None = None
    tearing: Tearing | None = None
    contact: Contact = Contact()
    environment: Environment = Environment()
    sheets: Annotated[list[Sheet], Field(min_length=1, max_length=1000)]
    handles: Annotated[list[SceneHandle], Field(max_length=10**4)] = Field(default_factory=list)
    attachments: Annotated[list[SceneAttachment], Field(max_length=10**4)] = Field(default_factory=list)
    obstacles: Annotated[list[SceneObstacle], Field(max_length=1000)] = Field(default_factory=list)
    motions: dict[PartName, SceneMotion] = Field(default_factory=dict)

    _source: str = PrivateAttr(default="scene")
    _notes: tuple[str, ...] = PrivateAttr(default=())

    def model_post_init(self, context: Any) -> None:
        """Keep what its reader says of it."""
        given = context or {}
        self._source, self._notes = given.get("source", "scene"), given.get("notes", ())

    @property
    def source(self) -> str:
        """What error messages call this scene, usually its file."""
        return self._source

    @property
    def notes(self) -> tuple[str, ...]:
        """What its file says that has no effect here, a line each (files of other programs)."""
        return self._notes

    @property
    def sheet_names(self) -> list[str]:
        """Given names; others are called sheet, or sheet0, sheet1 … when there are several."""
        return _names(self.sheets, "sheet")

    @property
    def handle_names(self) -> list[str]:
        return _names(self.handles, "handle")

    @property
    def attachment_names(self) -> list[str]:
        return _names(self.attachments, "attachment")

    @property
    def obstacle_names(self) -> list[str]:
        return _names(self.obstacles, "obstacle")

    def tables(self) -> dict[str, Any]:
        """The resolved scene as plain tables: every default filled in, keys without a value left out."""
        return self.model_dump(exclude_none=True)


def _names(tables: Sequence[Sheet | SceneHandle | SceneAttachment | SceneObstacle], word: str) -> list[str]:
    """The names of tables, with a word and a number where none is given."""
    return [table.name or (word if len(tables) == 1 else f"{word}{k}") for k, table in enumerate(tables)]
