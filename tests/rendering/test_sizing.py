"""The sizing field of a recording: recomputed with its scene, as a length per face."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from crumple.analysis.fields import recording_field
from crumple.recording import Recording, create_recording
from crumple.rendering import render_frame
from crumple.rendering.film import field_limits
from crumple.runtime.errors import InputError
from crumple.scenes import build, dump_scene, scene_from_tables

SIZES = (2e-3, 0.03)
SCENE = {
    "sheets": [{"name": "paper", "material": "paper80",
                "shape": {"kind": "rectangle", "width": 0.1, "height": 0.08, "size": 0.01}}],
    "remeshing": {"size_min": SIZES[0], "size_max": SIZES[1], "refine_angle": 0.2, "refine_compression": 1.0},
}  # fmt: skip


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Recording:
    """A sheet bent to a quarter of a cylinder on one half and flat on the other."""
    return Recording(make_bent(tmp_path_factory.mktemp("sizing") / "run"))


def make_bent(folder: Path) -> Path:
    scene = scene_from_tables(SCENE)
    model, state, _ = build(scene)
    u = state.mesh.node_rest[:, 0] - state.mesh.node_rest[:, 0].min() - 0.05
    angle = np.maximum(u, 0.0) * 20.0
    x = np.stack([np.minimum(u, 0.0) + np.sin(angle) / 20.0, state.x[:, 1], (1.0 - np.cos(angle)) / 20.0], axis=1)
    with create_recording(folder, dump_scene(scene)) as recorder:
        recorder.on_start(model, state.replaced(x=np.ascontiguousarray(x)))
    return folder


def test_lengths_follow_the_bend_and_stay_within_the_limits(recording: Recording) -> None:
    """On the bend of 20 1/m an edge across may be 0.2/20 = 10 mm long and 30 mm along it: √300 mm on average."""
    state = recording.load(-1)
    field = recording_field("sizing", recording, "--color-by")
    values = field.values(state)
    assert field.where == "face"
    assert field.log
    assert "mm" in field.title
    assert values.shape == (state.mesh.face_count,)
    assert values.min() >= 1e3 * SIZES[0] * (1 - 1e-9)
    assert values.max() <= 1e3 * SIZES[1] * (1 + 1e-9)
    middle = state.mesh.u[state.mesh.faces].mean(axis=1)[:, 0]
    middle -= state.mesh.u[:, 0].min()
    np.testing.assert_allclose(values[middle < 0.03], 1e3 * SIZES[1], rtol=1e-6)
    inside = (middle > 0.065) & (middle < 0.085)
    assert np.median(values[inside]) == pytest.approx(np.sqrt(300.0), rel=0.15)


def test_the_field_is_that_of_the_scene_of_the_recording(tmp_path: Path) -> None:
    folder = make_bent(tmp_path / "run")
    scene = folder / "scene.toml"
    state = Recording(folder).load(-1)
    before = recording_field("sizing", Recording(folder), "--color-by").values(state)
    scene.write_text(scene.read_text().replace("refine_angle = 0.2", "refine_angle = 0.1"))
    after = recording_field("sizing", Recording(folder), "--color-by").values(state)
    assert after.min() < 0.9 * before.min()


def test_scenes_without_remeshing_or_without_a_scene_say_so(tmp_path: Path) -> None:
    fixed = {key: value for key, value in SCENE.items() if key != "remeshing"}
    folder = tmp_path / "fixed"
    with create_recording(folder, dump_scene(scene_from_tables(fixed))) as recorder:
        recorder.on_start(*build(scene_from_tables(fixed))[:2])
    fixed_recording = Recording(folder)
    with pytest.raises(InputError, match="does not remesh"):
        recording_field("sizing", fixed_recording, "--color-by").values(fixed_recording.load(-1))
    (folder / "scene.toml").unlink()
    (folder / "model.h5").unlink()
    with pytest.raises(InputError, match=r"nor scene\.toml"):
        recording_field("sizing", Recording(folder), "--color-by")


@pytest.mark.parametrize("space", ["pattern", "world"])
def test_pictures_of_the_sizing_field(recording: Recording, tmp_path: Path, space: str) -> None:
    imageio = pytest.importorskip("imageio.v2")
    path = render_frame(
        recording, -1, tmp_path / "sizing.png", size=(160, 120), color_by="sizing", edges=True, space=space
    )
    picture = imageio.imread(path)[..., :3].astype(float)
    assert np.count_nonzero(np.ptp(picture, axis=2) > 120) > 100  # from red to blue


def test_the_range_is_positive_for_a_logarithmic_scale(recording: Recording) -> None:
    state = recording.load(-1)
    least, most = field_limits(recording_field("sizing", recording, "--color-by"), [state])
    assert 0.0 < least < most
