"""Pictures on sheets: which nodes they hold, and what they make of the material."""

import numpy as np
import pytest
from PIL import Image
from scene_tables import small

from crumple.runtime.errors import InputError
from crumple.scenes import build, check_scene, scene_from_tables
from crumple.scenes.pictures import brightness_at, read_brightness
from crumple.simulation.frame import advance_frame


def saved(path, pixels, mode=None):
    Image.fromarray(np.asarray(pixels), mode).save(path)
    return str(path)


@pytest.fixture
def upper(tmp_path):
    """White above, black below."""
    return saved(tmp_path / "upper.png", np.repeat([[255], [0]], 2, axis=1).astype(np.uint8).repeat(8, 0).repeat(8, 1))


def painted(maps, **others):
    tables = small()
    shape = {"kind": "rectangle", "width": 0.2, "height": 0.1, "size": 0.02}
    material = {"preset": "paper80"}
    tables["sheets"] = [{"shape": shape, "material": material, "maps": maps} | others]
    return build(scene_from_tables(tables, source="scene.toml"))[:2]


def test_brightness_lies_as_a_texture_does(tmp_path):
    picture = read_brightness(saved(tmp_path / "a.png", np.array([[0, 255], [51, 102]], np.uint8)), "file")
    np.testing.assert_allclose(picture, [[0.0, 1.0], [0.2, 0.4]])
    corners = np.array([[0.0, 1.0], [1.0, 1.0], [0.0, 0.0], [1.0, 0.0], [0.5, 0.5], [7.0, -3.0]])
    np.testing.assert_allclose(brightness_at(picture, corners), [0.0, 1.0, 0.2, 0.4, 0.4, 0.4])


def test_deep_and_transparent_pictures(tmp_path):
    deep = saved(tmp_path / "deep.png", np.array([[0, 16384, 65535]], np.uint16))
    np.testing.assert_allclose(read_brightness(deep, "file"), [[0.0, 0.25, 1.0]], atol=1e-4)
    clear = saved(tmp_path / "clear.png", np.array([[[255, 255, 255, 0], [255, 255, 255, 255]]], np.uint8))
    np.testing.assert_allclose(read_brightness(clear, "file"), [[0.0, 1.0]])


@pytest.mark.parametrize("darker", [False, True])
def test_a_handle_holds_what_is_bright_or_dark(upper, darker):
    tables = small()
    tables["sheets"][0]["shape"] = {"kind": "rectangle", "width": 0.2, "height": 0.1, "size": 0.02}
    tables["handles"] = [{"select": {"kind": "image", "file": upper, "darker": darker}}]
    _, state, _ = build(scene_from_tables(tables, source="scene.toml"))
    held = np.isin(np.arange(state.mesh.node_count), state.pins.node)
    middle = np.abs(state.x[:, 1]) > 1e-6
    assert 0 < held.sum() < len(held)
    np.testing.assert_array_equal(held[middle], (state.x[:, 1] > 0)[middle] != darker)


def test_thickness_takes_mass_and_stiffness_with_it(upper):
    model, state = painted([{"file": upper, "scales": "thickness", "black": 0.5, "levels": 2}])
    thin, thick = model.materials
    above = state.x[state.mesh.face_nodes].mean(axis=1)[:, 1] > 0
    np.testing.assert_array_equal(state.mesh.face_material, above)
    assert thin.thickness == 0.5 * thick.thickness
    assert thin.density == 0.5 * thick.density
    np.testing.assert_allclose(thin.bending, 0.125 * thick.bending)
    assert thin.yield_curvature == 2.0 * thick.yield_curvature
    assert model.contact.sheet_thickness == (thick.thickness,)


def test_maps_combine_and_grade(upper, tmp_path):
    """A ramp from left to right in four levels, times a weak lower half."""
    ramp = saved(tmp_path / "ramp.png", np.tile(np.linspace(0, 255, 64).astype(np.uint8), (4, 1)))
    model, state = painted(
        [
            {"file": ramp, "scales": "bend", "black": 1.0, "white": 4.0, "levels": 4},
            {"file": upper, "scales": "tear_energy", "black": 0.1, "levels": 2},
        ]
    )
    assert len(model.materials) == 8
    middle = state.x[state.mesh.face_nodes].mean(axis=1)
    plain = min(material.bend_stiffness for material in model.materials)
    bend = np.array([material.bend_stiffness for material in model.materials])[state.mesh.face_material] / plain
    wanted = 1.0 + 3.0 * (middle[:, 0] / 0.2 + 0.5)
    assert np.abs(bend - wanted).max() < 0.6  # half a level, and pixels
    tough = np.array([material.tear_energy[0] for material in model.materials])[state.mesh.face_material]
    np.testing.assert_allclose(tough / tough.max(), np.where(middle[:, 1] > 0, 1.0, 0.1))


def test_a_half_of_a_quarter_of_the_stiffness_droops_four_times_as_much(upper):
    """A strip clamped in the middle: w = q L⁴/(8 B) on either side."""
    tables = small() | {"solver": {"mode": "static"}, "run": {"frame_time": 0.04, "duration": 0.04}}
    shape = {"kind": "rectangle", "width": 0.04, "height": 0.1, "size": 0.01}
    maps = [{"file": upper, "scales": "stiffness", "black": 0.25, "levels": 2}]
    tables["sheets"] = [{"shape": shape, "material": "paper80", "maps": maps}]
    tables["handles"] = [{"select": {"kind": "box", "low": [-1, -0.01, -1], "high": [1, 0.01, 1]}, "stiffness": 1e5}]
    model, state, _ = build(scene_from_tables(tables, source="scene.toml"))
    state, _ = advance_frame(model, state)
    soft, stiff = (state.x[np.isclose(state.mesh.node_rest[:, 1], v), 2].mean() for v in (0.0, 0.1))
    assert stiff < 0.0
    assert soft / stiff == pytest.approx(4.0, rel=0.05)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"file": "none.png"}, r"sheets\[0\]\.maps\[0\]\.file.*no such file"),
        ({"scales": "colour"}, r"sheets\[0\]\.maps\[0\]\.scales"),
        ({"black": 0.0}, r"sheets\[0\]\.maps\[0\]\.black = 0\.0 .*> 0"),
        ({"levels": 1}, r"sheets\[0\]\.maps\[0\]\.levels = 1"),
    ],
)
def test_maps_that_make_no_sense_are_refused(upper, change, message):
    with pytest.raises(InputError, match=message):
        painted([{"file": upper, "scales": "bend", "black": 0.5} | change])


def test_a_file_that_is_no_picture_is_refused(tmp_path):
    (tmp_path / "text.png").write_text("no picture")
    with pytest.raises(InputError, match=r"sheets\[0\]: maps\[0\]\.file = .*cannot be read as an image"):
        painted([{"file": str(tmp_path / "text.png"), "scales": "bend", "black": 0.5}])


def test_a_picture_without_bright_pixels_selects_nothing(tmp_path):
    black = saved(tmp_path / "black.png", np.zeros((4, 4), np.uint8))
    text = (
        'name = "t"\n[[sheets]]\nmaterial = "paper80"\nshape = { kind = "rectangle", width = 0.1, height = 0.1, '
        f'size = 0.05 }}\n[[handles]]\nselect = {{ kind = "image", file = "{black}" }}\n'
    )
    (tmp_path / "scene.toml").write_text(text)
    (error,) = check_scene(tmp_path / "scene.toml").errors
    assert "handles[0]: select" in error
    assert "no node of the sheet is there" in error
