"""Pictures show the sheet as it is and as it was asked for; films have all frames, and they move."""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from recording_samples import make_recording, sample_model
from typer.testing import CliRunner

from crumple.cli.app import app
from crumple.materials.presets import presets
from crumple.recording import Recording, create_recording
from crumple.rendering import Style, View, render_film, render_frame
from crumple.rendering.looks import LOOKS, known_look, linear_color
from crumple.rendering.sheets import guess_by_numbers, sheet_kinds
from crumple.rendering.stage import encode_srgb, signed_volume
from crumple.rendering.textures import PATTERNS, TextureAtlas, load_texture
from crumple.runtime.errors import InputError
from crumple.scenes import build, dump_scene, scene_from_tables

SMALL = (160, 120)


@pytest.fixture(scope="module")
def recording(tmp_path_factory) -> Recording:
    return Recording(make_recording(tmp_path_factory.mktemp("render") / "run", 4))


def picture(recording: Recording, path: Path, **options) -> np.ndarray:
    """A small draft as numbers 0 … 255."""
    imageio = pytest.importorskip("imageio.v2")
    options = {"size": SMALL, "quality": "draft", **options}
    return imageio.imread(render_frame(recording, options.pop("frame", -1), path, **options))[..., :3].astype(float)


def flat_recording(folder: Path, material: str = "paper80", **sheet) -> Recording:
    """A flat sheet of 0.1 × 0.08 m at rest, front up."""
    pytest.importorskip("imageio")
    shape = {"kind": "rectangle", "width": 0.1, "height": 0.08, "size": 0.02}
    scene = scene_from_tables({"sheets": [{"material": material, "shape": shape, **sheet}]})
    with create_recording(folder, dump_scene(scene)) as recorder:
        recorder.on_start(*build(scene)[:2])
    return Recording(folder)


def test_unknown_names_list_the_known_ones():
    with pytest.raises(InputError, match=r"--look = 'velvet' \(must be one of paper, card"):
        Style(look="velvet")
    with pytest.raises(InputError, match=r"--obstacles = 'gone' \(must be one of auto"):
        Style(obstacles="gone")
    with pytest.raises(InputError, match=r"--quality = 'best' \(must be one of draft, normal, high"):
        Style(quality="best")
    with pytest.raises(InputError, match=r"--background = '#12345' "):
        Style(background="#12345")
    with pytest.raises(InputError, match=r"--background = 'sky' \(must be one of studio"):
        Style(background="sky")


def test_signed_volume_tells_inside_from_outside():
    block = sample_model().obstacles[0]
    points = block.positions(0.0)
    assert signed_volume(points, block.faces) == pytest.approx(0.1**3 / 6)
    assert signed_volume(points, block.faces[:, ::-1]) == pytest.approx(-(0.1**3) / 6)
    assert signed_volume(points, block.faces[:3]) == 0.0


def test_colours_survive_the_way_to_light_and_back():
    codes = [f"#{k:02x}{255 - k:02x}{k // 2:02x}" for k in range(0, 256, 5)]
    shown = encode_srgb(np.array([linear_color(code) for code in codes], np.float32))
    assert [f"#{r:02x}{g:02x}{b:02x}" for r, g, b in shown] == codes


def test_picture_shows_a_bright_sheet_on_a_background(recording, tmp_path):
    image = picture(recording, tmp_path / "sheet.png")
    assert image.shape == (SMALL[1], SMALL[0], 3)
    corner, middle = image[2, 2], image[40:80, 60:100].reshape(-1, 3)
    assert np.abs(middle - corner).max() > 20
    coloured = picture(recording, tmp_path / "damage.png", color_by="damage", edges=True)
    assert np.count_nonzero(np.ptp(coloured, axis=2) > 120) > 100  # red and yellow faces
    assert np.count_nonzero(np.ptp(image, axis=2) > 120) == 0


def test_whites_are_bright_and_not_burnt_out(tmp_path):
    image = picture(flat_recording(tmp_path / "run"), tmp_path / "white.png", camera="top")
    sheet = image[50:70, 60:100]
    assert sheet.min() > 180
    assert image.max() < 253


def test_edges_darken_the_sheet(tmp_path):
    recording = flat_recording(tmp_path / "run")
    plain, meshed = (picture(recording, tmp_path / "x.png", camera="top", edges=edges) for edges in (False, True))
    dark = np.mean(meshed[40:80, 50:110].max(axis=2) < 120)
    assert plain[40:80, 50:110].min() > 150
    assert 0.02 < dark < 0.5


@pytest.mark.parametrize("name", presets())
def test_every_preset_has_the_look_of_its_kind(name):
    assert known_look(name) in LOOKS
    if guess_by_numbers(presets()[name]) in ("foil", "cloth"):
        assert known_look(name) == guess_by_numbers(presets()[name])


def test_looks_follow_the_material_unless_told_otherwise(tmp_path):
    foil = flat_recording(tmp_path / "foil", "kitchen-foil")
    assert [kind.look for kind in sheet_kinds(foil)] == ["foil"]
    assert sheet_kinds(foil)[0].thickness == pytest.approx(16e-6)
    own, same, paper = (picture(foil, tmp_path / "x.png", look=look) for look in (None, "foil", "paper"))
    np.testing.assert_array_equal(own, same)
    assert np.abs(own - paper).max() > 20
    unknown = {"thickness": 3e-4, "density": 0.2, "young": 2e9, "poisson": 0.3}
    assert [kind.look for kind in sheet_kinds(flat_recording(tmp_path / "own", unknown))] == ["card"]  # type: ignore[arg-type]


@pytest.mark.parametrize("look", LOOKS)
def test_every_look_draws_a_sheet(look, tmp_path):
    image = picture(flat_recording(tmp_path / "run"), tmp_path / "x.png", look=look, camera="high")
    assert np.abs(image[60, 80] - image[4, 4]).max() > 8


def test_textures_are_on_their_side_the_right_way_up(tmp_path):
    imageio = pytest.importorskip("imageio.v2")
    quarters = np.zeros((40, 50, 3), np.uint8)
    quarters[:20, :25], quarters[:20, 25:], quarters[20:, :25] = (255, 0, 0), (0, 255, 0), (0, 0, 255)
    imageio.imwrite(tmp_path / "front.png", quarters)
    recording = flat_recording(tmp_path / "run")
    options = {"texture": str(tmp_path / "front.png"), "back": "checked"}
    front = picture(recording, tmp_path / "a.png", camera="top", **options)
    assert front[45, 60].argmax() == 0  # red, top left
    assert front[45, 100].argmax() == 1
    assert front[75, 60].argmax() == 2
    assert front[75, 100].max() < 60  # black
    for x, y in ((60, 45), (100, 45), (60, 75)):
        assert np.ptp(front[y, x]) > 100
    below = View(position=(0.0, -0.05, -0.6), target=(0.0, 0.0, 0.0))
    back = picture(recording, tmp_path / "b.png", camera=below, **options)
    assert np.ptp(back[40:80, 50:110], axis=2).max() < 100  # no red, green or blue
    assert np.ptp(back[40:80, 50:110].max(axis=2)) > 60  # but a checkerboard


def test_generated_textures_are_to_scale():
    extent = (0.21, 0.297)
    ruled = load_texture("ruled", extent, "texture")
    assert ruled.shape[0] > ruled.shape[1]
    column = ruled[::-1, ruled.shape[1] // 2, 0] < 0.9  # from the bottom
    starts = np.flatnonzero(np.diff(column.astype(int)) == 1) * extent[1] / len(column)
    np.testing.assert_allclose(np.diff(starts), 8e-3, atol=3e-4)
    assert all(load_texture(name, extent, "texture").max() <= 1.0 for name in PATTERNS)


def test_textures_that_cannot_be_read_are_refused(tmp_path):
    (tmp_path / "broken.png").write_bytes(b"no picture")
    with pytest.raises(InputError, match=r"--texture = 'nowhere.png' \(must be an image file or one of ruled"):
        load_texture("nowhere.png", (1.0, 1.0), "render --texture")
    with pytest.raises(InputError, match="cannot be read as an image"):
        load_texture(str(tmp_path / "broken.png"), (1.0, 1.0), "render --texture")


def test_the_atlas_keeps_each_texture_once():
    atlas = TextureAtlas()
    first, again, other = (atlas.add("ruled", (w, 0.1), "texture") for w in (0.1, 0.1, 0.2))
    assert first == again != other
    start, width, height = atlas.level[other, -1]
    assert (width, height) == (1, 1)
    assert 0.5 < atlas.texel[start].mean() < 1.0  # mostly white


def test_obstacles_are_shown_as_asked(recording, tmp_path):
    pictures = {
        kind: picture(recording, tmp_path / "x.png", obstacles=kind) for kind in ("solid", "glass", "ghost", "hidden")
    }
    np.testing.assert_array_equal(picture(recording, tmp_path / "x.png"), pictures["solid"])  # closed: solid by itself
    changed = {kind: np.abs(image - pictures["hidden"]).sum(axis=2) for kind, image in pictures.items()}
    assert changed["solid"].max() > changed["glass"].max() > 3.0
    assert changed["ghost"].max() > 3.0


def test_backgrounds(tmp_path):
    recording = flat_recording(tmp_path / "run")
    assert picture(recording, tmp_path / "w.png", background="white", camera="high")[:6].min() >= 249
    np.testing.assert_allclose(
        picture(recording, tmp_path / "c.png", background="#204060", camera="high")[3, 3], [32, 64, 96], atol=3
    )
    assert picture(recording, tmp_path / "d.png", background="dark")[3, 3].max() < 90


def test_film_has_every_frame_and_moves(recording, tmp_path):
    imageio = pytest.importorskip("imageio.v2")
    pytest.importorskip("imageio_ffmpeg")
    calls: list[tuple[int, int]] = []
    path = render_film(
        recording, tmp_path / "film.mp4", size=SMALL, quality="draft", progress=lambda *done: calls.append(done)
    )
    assert calls == [(k, 4) for k in range(1, 5)]
    with imageio.get_reader(path) as film:
        assert film.count_frames() == 4
        assert film.get_meta_data()["fps"] == pytest.approx(25.0)
        assert film.get_meta_data()["size"] == SMALL
        pictures = [image.astype(float) for image in film.iter_data()]
    for before, after in pairwise(pictures):  # the sheet has moved
        assert np.abs(after - before).max() > 16.0


@pytest.mark.parametrize("suffix", [".gif", ".webm"])
def test_other_films_move_too(recording, tmp_path, suffix):
    imageio = pytest.importorskip("imageio.v2")
    pytest.importorskip("imageio_ffmpeg")
    path = render_film(recording, tmp_path / f"film{suffix}", size=SMALL, quality="draft", fps=10.0)
    images = [np.asarray(image)[..., :3].astype(float) for image in imageio.mimread(path)]
    assert len(images) == 4
    assert images[0].shape == (SMALL[1], SMALL[0], 3)
    for before, after in pairwise(images):
        assert np.abs(after - before).max() > 16.0


def test_numbered_pictures(recording, tmp_path):
    imageio = pytest.importorskip("imageio.v2")
    render_film(recording, tmp_path / "x.%03d.png", size=(64, 48), quality="draft")
    assert sorted(file.name for file in tmp_path.iterdir()) == [f"x.{k:03d}.png" for k in range(4)]
    first, last = (imageio.imread(tmp_path / f"x.{k:03d}.png").astype(float) for k in (0, 3))
    assert np.abs(first - last).max() > 16.0
    with pytest.raises(InputError, match="one number"):
        render_film(recording, tmp_path / "x.%s%s.png", size=(64, 48), quality="draft")
    with pytest.raises(InputError, match=r"must end in \.mp4"):
        render_film(recording, tmp_path / "x.avi", size=(64, 48), quality="draft")


def test_a_part_of_the_frames(recording, tmp_path):
    command = ["render", str(recording.path), "--frames", "1:3:2", "--size", "48x32", "--quality", "draft"]
    result = CliRunner().invoke(app, [*command, "-o", str(tmp_path / "x.%02d.png")])
    assert result.exit_code == 0, result.output
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.00.png", "x.01.png"]
    for arguments, says in ((["--turntable", "-o", "x.mp4"], "--frames"), (["-o", "x.png"], "--frame chooses one")):
        refused = CliRunner().invoke(app, [*command, *arguments])
        assert refused.exit_code == 2
        assert says in refused.stderr


def test_a_turntable_goes_around_one_frame(recording, tmp_path):
    imageio = pytest.importorskip("imageio.v2")
    path = render_film(recording, tmp_path / "turn.gif", size=(64, 48), quality="draft", turntable=-1, fps=2.0)
    images = [np.asarray(image)[..., :3].astype(float) for image in imageio.mimread(path)]
    assert len(images) == 8
    steps = [np.abs(after - before).mean() for before, after in pairwise([*images, images[0]])]
    assert min(steps) > 0.5
    assert max(steps) < 4 * min(steps)  # also from the last to the first


def test_the_same_picture_every_time(recording, tmp_path):
    np.testing.assert_array_equal(*(picture(recording, tmp_path / f"{k}.png") for k in range(2)))


def test_missing_packages_say_what_to_install(recording, tmp_path, monkeypatch):
    for module, draw in (
        ("PIL.Image", lambda: render_frame(recording, -1, tmp_path / "sheet.png", size=(64, 48), quality="draft")),
        ("imageio_ffmpeg", lambda: render_film(recording, tmp_path / "film.mp4", size=(64, 48), quality="draft")),
        ("matplotlib", lambda: render_frame(recording, -1, tmp_path / "sheet.png", color_by="damage")),
    ):
        monkeypatch.setitem(sys.modules, module, None)
        with pytest.raises(InputError, match=r"pip install 'crumple\[render\]'"):
            draw()
        monkeypatch.undo()
