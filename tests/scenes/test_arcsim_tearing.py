"""A scene in ARCSim's format whose notched sheet is pulled apart: it tears, from the notch on."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from crumple.contact import has_intersections
from crumple.model.derived import contact_surface
from crumple.scenes import build, load_scene
from crumple.session.session import run
from crumple.shapes import rectangle

NOTCH = np.array([0.0, 0.41])
"""The end of the notch in the upper side of the square of side 1 around the origin."""


def notched_square() -> str:
    """An OBJ file of a square of side 1 with a notch, whose corners have the labels 1 (left) and 2 (right)."""
    mesh, x = rectangle(1.0, 1.0, kind="alternating", divisions=(10, 10))
    points = x[:, :2] - x[:, :2].mean(axis=0)
    top = np.flatnonzero((np.abs(points[:, 0]) < 1e-9) & (points[:, 1] > 0.49))
    points[top] = NOTCH
    label = np.where(np.abs(points).min(axis=1) > 0.35, np.where(points[:, 0] < 0.0, 1, 2), 0)
    lines = []
    for (u, v), own in zip(points.tolist(), label.tolist(), strict=True):
        lines += [f"v {u} {v} 0", *([f"nl {own}"] if own else [])]
    lines += [f"vt {u} {v}" for u, v in points.tolist()]
    lines += ["f " + " ".join(f"{k}/{k}" for k in face) for face in (mesh.faces + 1).tolist()]
    return "\n".join(lines) + "\n"


def tearing_file(folder: Path) -> Path:
    """The scene file, of 20 cm paper-like film, and its mesh."""
    (folder / "notched.obj").write_text(notched_square())
    turns = [
        [{"time": 0, "transform": {}}, {"time": 0.2, "transform": {"rotate": [angle, 0, 0, 1]}}] for angle in (20, -20)
    ]
    record = {
        "timestep": 0.002,
        "save_frames": 1,
        "duration": 0.2,
        "cloths": [
            {
                "mesh": "notched.obj",
                "transform": {"scale": 0.2},
                "materials": [
                    {
                        "thickness": 1e-4,
                        "density": 800,
                        "elastic_modulus": 4e9,
                        "poisson_ratio": 0,
                        "damping": 1e-4,
                        "toughness": 3e7,
                        "initiation_factor": 1.5,
                    }
                ],
                "remeshing": {"refine_angle": 0.5, "size": [0.01, 0.04], "refine_fracture": 0.4, "aspect_min": 0.3},
            }
        ],
        "motions": turns,
        "handles": [{"type": "node", "label": 1, "motion": 0}, {"type": "node", "label": 2, "motion": 1}],
        "gravity": [0, -9.8, 0],
        "disable": ["plasticity"],
        "magic": {"handle_stiffness": 1e5, "repulsion_thickness": 1e-4},
    }
    path = folder / "tearing.json"
    path.write_text(json.dumps(record))
    return path


@pytest.mark.slow
def test_a_notched_sheet_of_an_arcsim_file_tears(tmp_path):
    model, state, _ = build(load_scene(tearing_file(tmp_path)))
    assert model.tearing is not None
    last = state
    while last.frame < 16 and last.torn.length() < 0.01:
        last = run(model, last, frames=last.frame + 1)
    assert last.torn.length() > 0.005
    first = last.torn.points[0] - 0.2 * NOTCH - last.mesh.u.mean(axis=0)
    assert np.linalg.norm(first) < 0.03
    x = np.concatenate([last.x, last.obstacle_x])
    assert not has_intersections(contact_surface(model, last, last.time), x)
