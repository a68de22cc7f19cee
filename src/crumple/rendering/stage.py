"""The studio: paper-like surfaces, soft light, a ground shadow, and obstacles that do not hide the sheet."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from crumple.recording.obstacles import ObstacleSurface
from crumple.rendering.camera import VIEW_ANGLE, Camera
from crumple.rendering.engine import check_drawing, load_pyvista
from crumple.rendering.fields import ColorField
from crumple.rendering.ground import shadow_image
from crumple.rendering.spaces import Drawn, draw_space
from crumple.simulation.state import State
from crumple.typing import Floats, Ints

BACKGROUND = ("#eceff2", "#b9c6d4")
"""Bottom and top of the gradient."""

SHEET_COLORS = (("#f7f4ec", "#dbe4ee"), ("#f3d9b8", "#f6ead8"), ("#c9dfcf", "#e2efe4"), ("#d8cfe6", "#ebe6f2"))
"""Front and back of each sheet."""

MATTE = {"ambient": 0.28, "diffuse": 0.9, "specular": 0.04, "specular_power": 8.0}
OBSTACLE = {"color": "#8d98a3", "ambient": 0.25, "diffuse": 0.75, "specular": 0.1}

LEGEND_WIDTH = 1000
"""Narrower pictures have a legend with smaller letters [pixels]."""


@dataclass(frozen=True)
class Look:
    """What a film keeps constant: picture size, camera, scale of the scene [m], ground height [m], colours."""

    size: tuple[int, int]
    camera: Camera
    scale: float
    centre: Floats
    ground: float | None
    field: ColorField | None = None
    field_range: tuple[float, float] = (0.0, 1.0)
    edges: bool = False
    space: str = "world"
    legend: bool = True


class Stage:
    """Draws states one after the other with the same look."""

    def __init__(self, look: Look) -> None:
        self.look, self._pv = look, load_pyvista()
        self.plotter = self._pv.Plotter(off_screen=True, window_size=look.size, lighting="none")
        check_drawing(self.plotter)
        self.plotter.set_background(BACKGROUND[0], top=BACKGROUND[1])
        self._set_lights()
        self._set_camera()
        self._actors: list[Any] = []
        self.plotter.enable_ssao(radius=0.06 * look.scale, bias=0.002 * look.scale, kernel_size=96, blur=True)
        self.plotter.enable_anti_aliasing("ssaa")

    def draw(self, state: State, obstacles: ObstacleSurface | None) -> Floats:
        """The picture of `state`, (height, width, 3) uint8."""
        for actor in self._actors:
            self.plotter.remove_actor(actor, render=False)
        self._actors = []
        drawn = draw_space(state, self.look.space)
        if self.look.space != "world":
            obstacles = None
        if self.look.ground is not None:
            self._add_ground(state, drawn, obstacles)
        if obstacles is not None:
            self._add_obstacles(state, obstacles)
        self._add_sheets(state, drawn)
        self.plotter.screenshot()  # sets the window up; draws the first time, or always, depending on the version
        self.plotter.render()
        return self.plotter.image

    def close(self) -> None:
        self.plotter.close()

    def _set_lights(self) -> None:
        """A key light from the upper left, a weak cool fill from the right, a rim from behind."""
        camera, scale = self.look.camera, 4.0 * self.look.scale
        backward = _unit(camera.position - camera.target)
        right = np.cross(camera.up, backward)
        for (x, y, z), color, intensity in (
            ((-0.9, 1.0, 0.7), "#fff8ee", 0.78),
            ((1.0, 0.15, 0.8), "#e6eeff", 0.54),
            ((0.2, 0.9, -1.0), "#ffffff", 0.3),
        ):
            position = camera.target + scale * (x * right + y * camera.up + z * backward)
            light = self._pv.Light(position=position, focal_point=camera.target, color=color, intensity=intensity)
            light.positional = False
            self.plotter.add_light(light)

    def _set_camera(self) -> None:
        camera = self.look.camera
        self.plotter.camera_position = [camera.position, camera.target, camera.up]
        self.plotter.camera.view_angle = VIEW_ANGLE

    def _add(self, mesh: Any, **options: Any) -> Any:
        """Add a mesh for the duration of one picture."""
        actor = self.plotter.add_mesh(mesh, reset_camera=False, render=False, **options)
        self._actors.append(actor)
        return actor

    def _add_sheets(self, state: State, drawn: Drawn) -> None:
        """The sheets: matte, smooth within facets of a fold, two-sided."""
        field = self.look.field
        values = field.values(state) if field is not None else None
        for sheet in np.unique(state.mesh.face_sheet):
            chosen = state.mesh.face_sheet == sheet
            mesh = self._surface(drawn.points, drawn.faces[chosen])
            front, back = SHEET_COLORS[sheet % len(SHEET_COLORS)]
            options: dict[str, Any] = {"color": front, "backface_params": {"color": back, **MATTE}}
            if field is not None and values is not None:
                data = mesh.cell_data if field.on == "cells" else mesh.point_data
                data[field.title] = values[chosen] if field.on == "cells" else values[drawn.node]
                options = self._field_options(field)
            options |= {"show_edges": True, "edge_color": "#5c6670", "line_width": 1.0} if self.look.edges else {}
            smooth = {"smooth_shading": True, "split_sharp_edges": True, "feature_angle": 40.0}
            self._add(mesh, **options, **MATTE, **smooth)

    def _field_options(self, field: ColorField) -> dict[str, Any]:
        share = min(1.0, self.look.size[0] / LEGEND_WIDTH)
        bar = {
            "title": field.title, "color": "#30363c", "vertical": True, "position_x": 0.9, "position_y": 0.3,
            "height": 0.4, "width": 0.04, "title_font_size": round(20 * share), "label_font_size": round(18 * share),
            "n_labels": 5,
        }  # fmt: skip
        options: dict[str, Any] = {"scalars": field.title, "cmap": field.colormap, "clim": self.look.field_range}
        options["log_scale"] = field.log
        return options | ({"scalar_bar_args": bar} if self.look.legend else {"show_scalar_bar": False})

    def _add_obstacles(self, state: State, obstacles: ObstacleSurface) -> None:
        """Obstacles: translucent grey; a shell that encloses the sheet is only hinted at."""
        for faces in obstacles.active_parts(state.time):
            volume = signed_volume(state.obstacle_x, faces)
            opacity = 0.05 if volume < 0 else 0.5 if volume > 0 else 0.25
            options: dict[str, Any] = {"smooth_shading": True, "split_sharp_edges": True, "feature_angle": 30.0}
            options |= {"culling": "back"} if volume else {}  # of closed surfaces only the outer, or far, side
            self._add(self._surface(state.obstacle_x, faces), opacity=opacity, **OBSTACLE, **options)

    def _add_ground(self, state: State, drawn: Drawn, obstacles: ObstacleSurface | None) -> None:
        """A plane with nothing on it but the shadows of sheets and solid obstacles."""
        assert self.look.ground is not None
        width, centre = 3.0 * self.look.scale, self.look.centre[:2]
        surfaces = [(drawn.points, drawn.faces)]
        if obstacles is not None:
            parts = obstacles.active_parts(state.time)
            surfaces += [(state.obstacle_x, part) for part in parts if signed_volume(state.obstacle_x, part) > 0]
        shadows = [shadow_image(points, faces, self.look.ground, centre, width) for points, faces in surfaces]
        opacity = np.max(shadows, axis=0)
        pixels = np.zeros((*opacity.shape, 4), np.uint8)
        pixels[..., 3] = np.round(255 * opacity[::-1])
        plane = self._pv.Plane(center=(*centre, self.look.ground), direction=(0, 0, 1), i_size=width, j_size=width)
        texture = self._pv.Texture(pixels)
        texture.interpolate = True
        self._add(plane, texture=texture, lighting=False, opacity=0.999)  # < 1: drawn with the translucent things

    def _surface(self, points: Floats, triangles: Ints) -> Any:
        return self._pv.PolyData.from_regular_faces(np.asarray(points), np.asarray(triangles, np.int64))


def signed_volume(points: Floats, triangles: Ints) -> float:
    """Volume enclosed by a surface [m³]; negative when its normals point inwards, 0 when it is open."""
    half_edges = np.stack([triangles, np.roll(triangles, -1, axis=1)], axis=2).reshape(-1, 2)
    if len(np.unique(np.sort(half_edges, axis=1), axis=0)) * 2 != len(half_edges):
        return 0.0
    a, b, c = (points[triangles[:, k]] - points[triangles[0, 0]] for k in range(3))
    return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6.0)


def save_picture(image: Floats, path: Path) -> None:
    """Write a PNG."""
    from crumple.rendering.engine import load_imageio

    load_imageio().imwrite(path, image)


def _unit(vector: Floats) -> Floats:
    return vector / np.linalg.norm(vector)
