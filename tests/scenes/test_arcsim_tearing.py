"""A scene in ARCSim's format whose notched sheet is pulled apart: it tears, from the notch on."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from crumple.contact import has_intersections
from crumple.model.derived import Derived, contact_surface
from crumple.plasticity import total_strain
from crumple.scenes import build, load_scene
from crumple.session.session import run
from crumple.shapes import rectangle
from crumple.shapes.obstacles import sphere
from crumple.simulation.frame import advance_frame
from crumple.state import transfer
from crumple.tearing.path import followed, open_inside

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


class TestWithoutPattern:
    """A closed surface that tears has no pattern of its own: it gets one of charts, in which it is at rest."""

    def glass(self, folder):
        points, faces = sphere(0.3, 2)
        text = [f"v {a!r} {b!r} {c!r}" for a, b, c in points.tolist()] + [
            f"f {a} {b} {c}" for a, b, c in (faces + 1).tolist()
        ]
        (folder / "ball.obj").write_text("\n".join(text) + "\n")
        cloth = {
            "reference": "sphere",
            "mesh": "ball.obj",
            "velocity": {"linear": [2, -6, 0]},
            "materials": [{"thickness": 6e-3, "density": 2600, "elastic_modulus": 50e9, "toughness": 2e7}],
            "remeshing": {"refine_angle": 0.2, "refine_compression": 1e-2, "size": [0.04, 0.2], "aspect_min": 0.3},
        }
        scene = {"timestep": 5e-4, "duration": 5e-3, "cloths": [cloth], "disable": ["plasticity"]}
        (folder / "glass.json").write_text(json.dumps(scene))
        return build(load_scene(folder / "glass.json"))

    def test_it_is_at_rest_and_stays_so_through_remeshing(self, tmp_path):
        model, state, notes = self.glass(tmp_path)
        assert any("laid flat in" in note and "seams" in note for note in notes)
        assert not any("starts strained" in note for note in notes)
        assert np.abs(total_strain(state.mesh, state.x)).max() > 1e-3  # charts are not isometric
        before = state.mesh.face_count
        state, _ = advance_frame(model, state)
        assert state.mesh.face_count > 1.5 * before
        strain = np.abs(total_strain(state.mesh, state.x) - state.plastic_strain).max()
        assert strain < 1e-7  # 50 GPa: glass would break by being remeshed
        assert not len(state.torn.points)

    def test_it_takes_no_energy_to_cut_it_at_rest(self, tmp_path):
        """Parts of a face lie in its plane; with the curvature of the whole face they would be far from rest."""
        model, state, _ = self.glass(tmp_path)
        derived = Derived(model, state)
        node = int(np.flatnonzero(np.bincount(state.mesh.vertex_node) == 1)[7])
        grown = 0
        for turn in np.linspace(0.0, np.pi, 7):
            way = np.array([np.cos(turn), np.sin(turn)])
            kept = np.zeros(state.mesh.node_count, bool)
            opening = open_inside(state.mesh, node, way, first=np.inf, kept=kept)
            assert opening is not None
            x = opening.change.node_operator @ state.x
            cut = transfer(state, followed(opening.change, x), custom=derived.field_rules(is_cut=True))
            again = Derived(model, cut)
            grown += cut.mesh.face_count - state.mesh.face_count
            stored = sum(term.measure(again.relaxed(cut)) for _, term in again.terms)
            assert stored < 1e-9 * model.materials[0].bend_stiffness
        assert grown > 0
