"""Attachments in scenes: what the tables mean, and sheets that are drawn together, remeshed, and let go."""

import numpy as np
import pytest

from crumple.model.derived import Derived
from crumple.runtime.errors import InputError
from crumple.scenes import build, load_scene
from crumple.session.session import run
from crumple.simulation.frame import adapt

SCENE = """
[run]
frame_time = 0.02
duration = 0.1
[contact]
activation = 5e-4
[environment]
gravity = [0, 0, 0]
[[sheets]]
name = "left"
shape = { kind = "rectangle", width = 0.1, height = 0.08, size = 0.04 }
material = { preset = "paper80" }
[[sheets]]
name = "right"
shape = { kind = "rectangle", width = 0.1, height = 0.08, size = 0.04 }
material = { preset = "paper80" }
transform = { translate = [0.104, 0, 0.001] }
[[attachments]]
sheets = ["left", "right"]
first = { kind = "side", side = "right" }
second = { kind = "side", side = "left" }
stiffness = 100
"""
REMESHING = "[remeshing]\nsize_min = 0.01\nsize_max = 0.012\nprojection = false\n"


def made(tmp_path, text=SCENE, *overrides):
    path = tmp_path / "scene.toml"
    path.write_text(text)
    return build(load_scene(path, overrides))[:2]


def distances(state):
    pairs = state.bonds.nodes
    return np.linalg.norm(state.x[pairs[:, 0]] - state.x[pairs[:, 1]], axis=1)


def test_nearest_pairs(tmp_path):
    model, state = made(tmp_path)
    assert len(state.bonds.nodes) == 3
    assert np.allclose(distances(state), np.hypot(0.004, 0.001))
    assert state.mesh.node_sheet[state.bonds.nodes].tolist() == [[0, 1]] * 3
    thickness = model.contact.sheet_thickness[0]
    assert model.attachments[0].length == pytest.approx(thickness + 5e-4)  # where contact begins


def test_pairs_in_order(tmp_path):
    text = SCENE.replace('{ kind = "side", side = "right" }', '{ kind = "indices", indices = [5, 0] }')
    text = text.replace('{ kind = "side", side = "left" }', '{ kind = "indices", indices = [1, 2] }')
    model, state = made(tmp_path, text + 'pairing = "order"\nlength = 0.0\n')
    right = np.flatnonzero(state.mesh.node_sheet == 1)
    assert state.bonds.nodes.tolist() == [[5, right[1]], [0, right[2]]]
    assert model.attachments[0].length == 0.0


def test_sheets_are_drawn_together_and_let_go(tmp_path):
    model, state = made(tmp_path, SCENE + "end = 0.1\n")
    held = run(model, state)
    assert distances(held).max() < 1.1 * model.attachments[0].length
    assert np.allclose(held.x[:, 1:].mean(axis=0), state.x[:, 1:].mean(axis=0), atol=1e-3)


@pytest.mark.parametrize("height", [0.08, 0.07])
def test_refined_seam_stays_attached(tmp_path, height):
    text = SCENE.replace("height = 0.08", f"height = {height}", 1) + REMESHING
    model, state = made(tmp_path, text)
    after = adapt(state, Derived(model, state))
    old, new = state.bonds.nodes, after.bonds.nodes
    assert after.mesh.face_count > 4 * state.mesh.face_count
    kept = {tuple(np.round(x, 9)) for x in after.x[new].reshape(-1, 6)}
    assert {tuple(np.round(x, 9)) for x in state.x[old].reshape(-1, 6)} <= kept
    assert after.mesh.node_sheet[new].tolist() == [[0, 1]] * len(new)
    if height == 0.08:  # equal sides are split alike: new nodes on both are attached too
        assert len(new) > len(old)
        assert np.allclose(distances(after), np.hypot(0.004, 0.001))


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ('sheets = ["left", "wrong"]', "attachments[0].sheets[1]"),
        ("", "attachments[0].sheets"),
        ('sheets = ["left"]', "attachments[0].sheets"),
    ],
)
def test_wrong_sheets(tmp_path, change, named):
    with pytest.raises(InputError) as caught:
        made(tmp_path, SCENE.replace('sheets = ["left", "right"]', change))
    assert named in str(caught.value)


@pytest.mark.parametrize("line", ["reach = 0.001", "end = 0", 'pairing = "all"', "stiffness = 0", "length = -1"])
def test_wrong_values(tmp_path, line):
    text = SCENE.replace("stiffness = 100\n", "") if line.startswith("stiffness") else SCENE
    with pytest.raises(InputError, match=r"attachments\[0\]"):
        made(tmp_path, text + line + "\n")


def test_sheets_may_be_meshed_differently(tmp_path):
    own = 'material = { preset = "paper80" }\nremeshing = { size_min = 0.03, size_max = 0.04 }\ntransform'
    text = SCENE.replace('material = { preset = "paper80" }\ntransform', own) + REMESHING
    model, state = made(tmp_path, text)
    after = adapt(state, Derived(model, state))
    fine, coarse = np.bincount(after.mesh.face_sheet)
    assert fine > 5 * coarse
    with pytest.raises(InputError, match=r"sheets\[1\].remeshing"):
        made(tmp_path, text.replace(REMESHING, ""))
