"""The studio: sheets, obstacles, ground and light of one state, and the picture of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crumple.analysis.fields import SheetField
from crumple.recording.obstacles import ObstacleSurface
from crumple.rendering.camera import Camera
from crumple.rendering.clearance import bend_shares
from crumple.rendering.illumination import ground_light, illuminate
from crumple.rendering.looks import MARK, OBSTACLE, Look, look_table, sheet_look
from crumple.rendering.parts import (
    LARGEST,
    Part,
    field_tint,
    join_parts,
    mark_parts,
    rim_part,
    sheet_part,
    shorten_edges,
    solid_part,
)
from crumple.rendering.pixels import Veil, shade_picture
from crumple.rendering.raster import Canvas, make_frustum
from crumple.rendering.shading import Backdrop, Drawing
from crumple.rendering.sheets import SheetKind
from crumple.rendering.studio import make_studio
from crumple.rendering.style import QUALITIES, Style
from crumple.rendering.surface import coarse_values, refine_values
from crumple.rendering.textures import TextureAtlas
from crumple.rendering.tracing import make_scene
from crumple.runtime.typing import Floats, Ints
from crumple.state import State

RIM_PIXELS = 1.4
"""A sheet is drawn at least so many pixels thick."""
MARK_SIZE = 0.005
"""Radius of the ball at a marked node, over the size of the scene."""
OBSTACLE_EDGE = 0.06
"""Longest edge of a solid obstacle on which light is gathered, over the size of the scene."""
GROUND_WIDTH = 3.0
"""Width of the ground on which shadows are seen, over the size of the scene."""
LARGEST_CANVAS = 100_000_000
"""Samples of a picture beyond which there are fewer per pixel: each takes 16 bytes."""
LARGEST_ALBEDO = 0.8
"""Of the ground, however white the background is."""
OPEN = 3.0
"""Inverse of the visible fraction of the surroundings from which on the drawn surface is fully curved."""
GLASS_OPACITY, GHOST_OPACITY = 0.02, 0.28


@dataclass(frozen=True)
class Plan:
    """What a film keeps constant: picture size, `scale` of the scene [m], `centre` (2,) and height of the ground [m],
    azimuth of the light [rad], kinds of the sheets, boxes of their patterns (left, bottom, width, height) [m]."""

    size: tuple[int, int]
    scale: float
    centre: Floats
    ground: float
    azimuth: float
    style: Style
    kinds: list[SheetKind]
    boxes: Floats
    space: str = "world"
    field: SheetField | None = None
    field_range: tuple[float, float] = (0.0, 1.0)
    floors: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Lit:
    """A `state` ready for cameras: triangles, `light` (n, 3, 2, 4) on them, `share` of the light on the ground."""

    state: State
    part: Part
    light: Floats
    share: Floats
    veil: Veil


class Stage:
    """Draws states one after the other with the same plan."""

    def __init__(self, plan: Plan) -> None:
        self.plan, self.quality = plan, QUALITIES[plan.style.quality or "normal"]
        self.studio = make_studio(plan.azimuth, self.quality.rays)
        affordable = int(np.sqrt(LARGEST_CANVAS / (plan.size[0] * plan.size[1])))
        samples = max(1, min(self.quality.samples, affordable))
        self._canvas, self._veiled = (Canvas(plan.size, samples) for _ in range(2))
        self._lit: Lit | None = None
        self._atlas = TextureAtlas()
        self._looks, self._textures = self._make_looks()
        thickness = [k.thickness for k in plan.kinds] + [SheetKind().thickness] * len(plan.boxes)
        self._thickness = np.append(np.repeat(thickness[: len(plan.boxes)], 2), [0.0, 0.0])
        bottom, top, self._glow = plan.style.backdrop()
        self._backdrop = untoned(np.stack([bottom, top]))

    def _make_looks(self) -> tuple[Floats, Floats]:
        """Tables of looks and textures: two rows per sheet, the sheet and its rim, then marks, then the obstacles."""
        looks, textures, style = [], [], self.plan.style
        for sheet, box in enumerate(self.plan.boxes):
            look = self._sheet_look(sheet)
            rim = Look(look.rim, look.rim, look.rim, gloss=0.02)
            extent = (float(box[2]), float(box[3]))
            front = self._atlas.add(style.texture, extent, "render --texture") if style.texture else -1
            back = self._atlas.add(style.back, extent, "render --back") if style.back else -1
            looks += [look_table(look), look_table(rim)]
            textures += [np.array([[front, *box], [back, *box]]), np.array([[-1.0, *box]] * 2)]
        for look in (MARK, OBSTACLE):
            looks.append(look_table(look))
            textures.append(np.array([[-1.0, 0.0, 0.0, 1.0, 1.0]] * 2))
        return np.array(looks), np.array(textures)

    def _sheet_look(self, sheet: int) -> Look:
        if self.plan.field is not None:
            return Look("#ffffff", "#ffffff", "#f4f4f4", gloss=0.02, through=0.1)
        kind = self.plan.kinds[sheet] if sheet < len(self.plan.kinds) else SheetKind()
        return sheet_look(self.plan.style.look or kind.look, sheet)

    def draw(self, state: State, obstacles: ObstacleSurface | None, camera: Camera) -> NDArray[np.uint8]:
        """The picture of `state`, (height, width, 3); the light of the last state is remembered."""
        if self._lit is None or self._lit.state is not state:
            self._lit = self._light(state, obstacles)
        return self._picture(self._lit, camera)

    def _light(self, state: State, obstacles: ObstacleSurface | None) -> Lit:
        """What is to be drawn of `state`, with the light on it."""
        plan = self.plan
        solids, veils = self._sorted_obstacles(state, obstacles if plan.space == "world" else None)
        tint, structure = field_tint(state, plan.field, plan.field_range), plan.style.structure
        sheets = sheet_part(state, plan.space, tint, plan.boxes, structure=structure)
        row = len(self._looks) - 1
        bodies = [sheets, *(solid_part(state.obstacle_x, faces, row) for faces in solids)]
        bodies += mark_parts(state, plan.space, MARK_SIZE * plan.scale, row - 1) if structure else []
        shares = bend_shares([body.patches for body in bodies])
        longest = [np.inf, *[OBSTACLE_EDGE * plan.scale] * (len(bodies) - 1)]
        drawn = [shorten_edges(*body) for body in zip(bodies, shares, longest, strict=True)]
        part, allowed = join_parts([body for body, _ in drawn]), np.concatenate([share for _, share in drawn])
        # Light is gathered on the mesh itself, which never intersects, unlike the curved surface that is drawn.
        fine = len(part.row) <= self.quality.gathered
        lit = part.refined(curved=0.0) if fine else part
        scene = make_scene(lit.patches.point)
        below = min(LARGEST_ALBEDO, float(np.mean(plan.style.backdrop()[:2])))
        albedo, through, clear = self._albedo(lit), self._looks[lit.row, 0, 6], self._looks[lit.row, 0, 7]
        light = illuminate(lit.patches, albedo, through, scene, self.studio, plan.ground, below)
        share = ground_light(scene, clear, self.studio, plan.ground, plan.centre, GROUND_WIDTH * plan.scale)
        # Where layers lie close, curves stay nearer to the mesh: so near that they cannot cross, and nearer where
        # little light comes in, so that what is pressed together does not look inflated.
        curved = np.minimum(allowed, OPEN * (coarse_values(light) if fine else light)[..., 3].min(axis=2))
        for level in range(self.quality.refined):
            if 4 * len(part.row) <= LARGEST or (fine and level == 0):
                part, curved = part.refined(curved), refine_values(curved)
                light = light if fine and level == 0 else refine_values(light)
        return Lit(state, part, light, share, self._veil(state, veils))

    def _albedo(self, part: Part) -> Floats:
        """Diffuse reflectance of front and back of each patch, (n, 2, 3); metal passes light on as if it were matte."""
        return self._looks[part.row, :, :3] * part.tint.mean(axis=1)[:, None]

    def _sorted_obstacles(
        self, state: State, obstacles: ObstacleSurface | None
    ) -> tuple[list[Ints], list[tuple[Ints, bool]]]:
        """Faces of the obstacles that are solid, and of those that one looks through, with whether they are glass."""
        wanted, solids, veils = self.plan.style.obstacles, [], []
        if obstacles is None or wanted == "hidden":
            return [], []
        active = obstacles.active_faces(state.time)
        for index in range(len(obstacles.names)):
            faces = obstacles.faces[(obstacles.face_obstacle == index) & active]
            if len(faces) == 0 or index in self.plan.floors:
                continue
            volume = signed_volume(state.obstacle_x, faces)
            kind = ("solid" if volume > 0 else "glass" if volume < 0 else "ghost") if wanted == "auto" else wanted
            if kind == "solid":
                solids.append(faces)
            else:
                veils.append((faces, kind == "glass"))
        return solids, veils

    def _veil(self, state: State, veils: list[tuple[Ints, bool]]) -> Veil:
        """The obstacles that one looks through."""
        parts = [solid_part(state.obstacle_x, faces, 0) for faces, _ in veils]
        glass = [np.full(len(part.row), clear) for part, (_, clear) in zip(parts, veils, strict=True)]
        empty = np.zeros((0, 3, 3))
        is_glass = np.concatenate([np.zeros(0, bool), *glass])
        return Veil(
            np.concatenate([empty, *(part.patches.point for part in parts)]),
            np.concatenate([empty, *(part.patches.normal for part in parts)]),
            np.where(is_glass, GLASS_OPACITY, GHOST_OPACITY),
            is_glass,
        )

    def _picture(self, lit: Lit, camera: Camera) -> NDArray[np.uint8]:
        """The finished picture of what is lit."""
        plan, part, light, veil = self.plan, lit.part, lit.light, lit.veil
        frustum = make_frustum(camera, plan.size)
        pixel = 2 * frustum.slope[1] * float(np.linalg.norm(camera.position - camera.target)) / plan.size[1]
        rim, patch = rim_part(part, np.maximum(self._thickness[part.row], RIM_PIXELS * pixel))
        edge_light = np.repeat(light[patch].mean(axis=(1, 2), keepdims=True), 3, axis=1).repeat(2, axis=2)
        everything = join_parts([part, rim])
        point = np.ascontiguousarray(everything.patches.point)
        self._canvas.draw(frustum, point)
        self._veiled.draw(frustum, veil.point)
        self._veiled.hide_behind(self._canvas)
        drawing = Drawing(
            point=_single(point),
            normal=_single(everything.patches.normal),
            light=_single(np.concatenate([light, edge_light])),
            pattern=_single(everything.pattern),
            tint=_single(everything.tint),
            row=everything.row,
            place=_single(everything.patches.place),
            altitude=_single(everything.altitude),
            looks=self._looks,
            texture=self._textures,
            texel=self._atlas.texel,
            level=self._atlas.level,
        )
        bottom, top, glow = self._backdrop[0], self._backdrop[1], self._glow
        width = GROUND_WIDTH * plan.scale
        backdrop = Backdrop(
            plan.ground, _single(lit.share), plan.centre[0] - width / 2, plan.centre[1] - width / 2, width,
            np.minimum(0.5 * (bottom + top), 1.0), np.stack([bottom, top]), glow,
        )  # fmt: skip
        picture = shade_picture(
            frustum, self._canvas, self._veiled, drawing, veil, make_scene(point), self.studio.boxes, backdrop,
            plan.style.edges or plan.style.structure,
        )  # fmt: skip
        return encode_srgb(picture)


def signed_volume(points: Floats, triangles: Ints) -> float:
    """Volume enclosed by a surface [m³]; negative when its normals point inwards, 0 when it is open."""
    half_edges = np.stack([triangles, np.roll(triangles, -1, axis=1)], axis=2).reshape(-1, 2)
    if len(np.unique(np.sort(half_edges, axis=1), axis=0)) * 2 != len(half_edges):
        return 0.0
    a, b, c = (points[triangles[:, k]] - points[triangles[0, 0]] for k in range(3))
    return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6.0)


def encode_srgb(linear: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Bytes of linear light 0 … 1."""
    light = np.arange(1 << 14) / ((1 << 14) - 1)
    srgb = np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)
    table = np.round(255.0 * srgb).astype(np.uint8)
    return table[(np.clip(linear, 0.0, 1.0) * np.float32(len(table) - 1) + np.float32(0.5)).astype(np.uint16)]


def untoned(shown: Floats) -> Floats:
    """The radiance that `shading.toned` shows as `shown` (nearly, where it is white)."""
    value = np.minimum(shown, 0.969)
    return np.where(value <= 0.55, value, 0.55 - 0.42 * np.log(np.maximum(1.0 - (value - 0.55) / 0.42, 1e-9)))


def _single(values: Floats) -> NDArray[np.float32]:
    return np.ascontiguousarray(values, np.float32)
