"""Scenes like ARCSim's T-shirt, dress and glass ball on meshes of our own: they start right without a flag, and run."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from arcsim_files import CLOTH
from grid_files import write_grid

from crumple.contact import has_intersections
from crumple.model.derived import contact_surface
from crumple.plasticity import total_strain
from crumple.scenes import build, check_scene, load_scene
from crumple.session.session import run
from crumple.shapes.obstacles import cylinder_surface, sphere

LIMIT = 1.05


def write_surface(path: Path, points: np.ndarray, faces: np.ndarray) -> None:
    lines = [f"v {a!r} {b!r} {c!r}" for a, b, c in points.tolist()]
    path.write_text("\n".join([*lines, *(f"f {a} {b} {c}" for a, b, c in (faces + 1).tolist())]) + "\n")


def write_shirt(path: Path, *, step: float, enlarged: float) -> None:
    """Two T-shaped panels sewn together but for neck, hem and cuffs, `enlarged` times as wide as the pattern."""
    wide, tall = 8, 9  # cells; the sleeves are the upper three rows, the trunk the four columns in the middle
    cells = [(i, j) for i in range(tall) for j in range(wide) if i >= tall - 3 or 2 <= j < 6]
    corners = sorted({(i + a, j + b) for i, j in cells for a in (0, 1) for b in (0, 1)})
    sewn = {(i, j) for i, j in corners if _is_seam(i, j, wide, tall, set(cells))}
    nodes: dict[tuple[int, int, int], int] = {}
    lines, patterns, faces = [], [], []
    for side in (0, 1):
        for i, j in corners:
            key = (0, i, j) if (i, j) in sewn else (side, i, j)
            if key not in nodes:
                depth = 0.0 if (i, j) in sewn else (0.5 - side) * 4.0 * step
                x, y = (j - 0.5 * wide) * step, (i - tall) * step
                nodes[key] = len(nodes) + 1
                lines.append(f"v {enlarged * x!r} {enlarged * y!r} {enlarged * depth!r}")
    for side in (0, 1):
        first = len(patterns)
        mirror = 1 - 2 * side  # seen from behind
        patterns += [f"vt {mirror * j * step + side * 2.0!r} {i * step!r}" for i, j in corners]
        place = {corner: first + k + 1 for k, corner in enumerate(corners)}

        def at(i: int, j: int, side: int = side, place: dict = place) -> str:
            return f"{nodes[(0, i, j) if (i, j) in sewn else (side, i, j)]}/{place[i, j]}"

        for i, j in cells:
            a, b, c, d = at(i, j), at(i, j + 1), at(i + 1, j + 1), at(i + 1, j)
            pairs = ((a, b, c), (a, c, d)) if (i + j) % 2 else ((a, b, d), (b, c, d))
            faces += [f"f {' '.join(face if side == 0 else face[::-1])}" for face in pairs]
    path.write_text("\n".join([*lines, *patterns, *faces]) + "\n")


def _is_seam(i: int, j: int, wide: int, tall: int, cells: set[tuple[int, int]]) -> bool:
    """Whether a corner of the grid is sewn: on the border, but not on neck, hem or cuffs alone."""
    is_inner = all((i - a, j - b) in cells for a in (0, 1) for b in (0, 1))
    is_neck, is_hem = i == tall and 3 < j < 5, i == 0 and 2 < j < 6
    is_cuff = j in (0, wide) and tall - 3 < i < tall
    return not (is_inner or is_neck or is_hem or is_cuff)


def garment(folder: Path, mesh: str, obstacles: list, **others) -> Path:
    """A scene file of one cloth with strain limits, as ARCSim's garments have them; nothing says that it is relaxed."""
    (folder / "cloth.json").write_text(json.dumps(CLOTH))
    cloth = {
        "mesh": mesh,
        "materials": [{"data": "cloth.json", "strain_limits": [0.9, LIMIT]}],
        "remeshing": {"refine_angle": 0.3, "refine_compression": 0.01, "size": [0.04, 0.1], "aspect_min": 0.2},
    }
    record = {
        "frame_time": 0.04,
        "frame_steps": 8,
        "duration": 1.0,
        "cloths": [cloth],
        "obstacles": obstacles,
        "gravity": [0, -9.8, 0],
        "magic": {"repulsion_thickness": 5e-3},
    }
    path = folder / "scene.json"
    path.write_text(json.dumps(record | others))
    return path


def largest_stretch(model, state) -> float:
    """The largest stretch of any face."""
    e = total_strain(state.mesh, state.x)
    mean, half = 0.5 * (e[:, 0] + e[:, 1]), 0.5 * (e[:, 0] - e[:, 1])
    return float(np.sqrt(1.0 + 2.0 * (mean + np.hypot(half, e[:, 2])).max()))


def is_free(model, state) -> bool:
    x = np.concatenate([state.x, state.obstacle_x])
    return not has_intersections(contact_surface(model, state, state.time), x)


def starts_and_runs(path: Path, *, strain: float, frames: int):
    """The scene relaxed and run for some frames, looked at after each: its last state, and its model."""
    assert check_scene(path).strain > strain
    model, state, notes = build(load_scene(path))
    assert any(note.startswith("run.relax: membrane energy from") for note in notes)
    assert largest_stretch(model, state) < LIMIT
    assert is_free(model, state)
    for frame in range(1, frames + 1):
        state = run(model, state, frames=frame)
        assert is_free(model, state)
        assert largest_stretch(model, state) < 1.001 * LIMIT
        assert np.linalg.norm(state.v, axis=1).max() < 2.0  # nothing snaps
    return model, state


@pytest.mark.slow
def test_a_shirt_that_is_far_too_wide_at_the_start(tmp_path):
    write_shirt(tmp_path / "shirt.obj", step=0.06, enlarged=1.6)
    turned = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    for name, radius, height, axes in (("trunk", 0.03, 1.2, turned[[2, 0, 1]]), ("arms", 0.035, 1.0, turned)):
        points, faces = cylinder_surface(radius, height, 12, rows=12)
        write_surface(tmp_path / f"{name}.obj", points @ axes.T, faces)
    obstacles = [
        {"mesh": "trunk.obj", "transform": {"translate": [0, -0.45, 0]}},
        {"mesh": "arms.obj", "transform": {"translate": [0, -0.14, 0]}},
    ]
    _, state = starts_and_runs(garment(tmp_path, "shirt.obj", obstacles), strain=0.4, frames=3)
    assert state.x[:, 1].max() > -0.2  # it hangs on its shoulders


@pytest.mark.slow
def test_a_dress_on_a_body_of_parts_that_move(tmp_path):
    line, height = np.linspace(0.0, 0.74, 15), np.linspace(-0.4, 0.0, 7)
    u = np.stack(np.meshgrid(line, height), axis=2)

    def worn(u: np.ndarray) -> np.ndarray:
        turn = 2.0 * np.pi * u[..., 0] / 0.74
        radius = 0.2 - 0.1 * u[..., 1]
        return np.stack([radius * np.cos(turn), u[..., 1], radius * np.sin(turn)], axis=2)

    write_grid(tmp_path / "dress.obj", u, worn, closed=True)
    points, faces = sphere(0.09, 2)
    for k, stretch in enumerate(([1.0, 2.0, 1.0], [1.3, 1.0, 1.3])):
        write_surface(tmp_path / f"body{k}.obj", points * np.array(stretch), faces)
    rows = [(0.0, -0.2, 0.0), (0.05, -0.2, 0.0), (0.1, -0.2, 0.0)], [(0.0, -0.03, 0.0)] * 3
    text = ["NumFrames: 3"]
    for k, way in enumerate(rows):
        text += [f"body[{k}] position", *(f"{a} {b} {c}" for a, b, c in way), ""]
        text += [f"body[{k}] orientation", *(["1 0 0 0"] * 3), ""]
    (tmp_path / "walk.mot").write_text("\n".join(text))
    motions = {"motfile": "walk.mot", "fps": 10}
    path = garment(tmp_path, "dress.obj", "body%d.obj", motions=motions)
    _, state = starts_and_runs(path, strain=0.5, frames=3)
    assert state.x[:, 0].min() < 0.0 < 0.06 < state.x[:, 0].max()  # it is around the parts still


@pytest.mark.slow
def test_a_glass_ball_breaks_where_it_lands(tmp_path):
    points, faces = sphere(0.3, 2)
    write_surface(tmp_path / "ball.obj", points, faces)
    (tmp_path / "floor.obj").write_text("v -2 0 -2\nv 2 0 -2\nv 2 0 2\nv -2 0 2\nf 1 4 3\nf 1 3 2\n")
    cloth = {
        "reference": "sphere",
        "mesh": "ball.obj",
        "velocity": {"linear": [2, -6, 0]},
        "transform": {"translate": [0, 0.301, 0]},
        "materials": [{"thickness": 6e-3, "density": 2600, "elastic_modulus": 50e9, "damping": 1e-5, "toughness": 2e7}],
        "remeshing": {"refine_angle": 0.4, "refine_compression": 0.1, "size": [0.1, 0.3], "aspect_min": 0.3},
    }
    record = {
        "timestep": 5e-5,
        "save_every": 10,
        "duration": 0.01,
        "cloths": [cloth],
        "obstacles": [{"mesh": "floor.obj"}],
        "gravity": [0, -9.8, 0],
        "disable": ["plasticity", "strainlimiting"],
        "magic": {"repulsion_thickness": 1e-4},
    }
    (tmp_path / "glass.json").write_text(json.dumps(record))
    model, state, _ = build(load_scene(tmp_path / "glass.json"))
    while state.frame < 6 and not len(state.torn.points):
        state = run(model, state, frames=state.frame + 1)
    assert state.torn.length() > 0.1
    assert is_free(model, state)
