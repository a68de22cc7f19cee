"""Only what crumple made is replaced; what the user put there, or what a link leads to, stays."""

from __future__ import annotations

from pathlib import Path

import pytest
from recording_samples import make_recording

from crumple.recording import Recording, create_recording, resume_recording
from crumple.runtime.errors import InputError


def test_a_project_folder_with_a_scene_and_frames_is_left_alone(tmp_path):
    (tmp_path / "frames").mkdir()
    mine = {"scene.toml": "mine", "frames/mine.part": "mine", "frames/frame_000000.vtkhdf": "mine"}
    for name, text in mine.items():
        (tmp_path / name).write_text(text)
    for force in (False, True):
        with pytest.raises(InputError, match="holds other files"):
            create_recording(tmp_path, "", force=force)
    assert {name: (tmp_path / name).read_text() for name in mine} == mine
    assert not (tmp_path / ".lock").exists()


@pytest.mark.parametrize("leftover", ["scene.toml.part", "log.jsonl.part", "run.vtkhdf.series.part", ".crumple.part"])
def test_half_written_files_do_not_lock_the_folder(recorded, leftover):
    (recorded / leftover).write_text("half")
    resume_recording(recorded)[1].close()
    assert not (recorded / leftover).exists()
    (recorded / leftover).write_text("half")
    create_recording(recorded, "", force=True).close()
    assert not (recorded / leftover).exists()


@pytest.mark.parametrize("content", [[], [".lock"], [".lock", ".crumple.part"]])
def test_a_folder_of_a_run_that_was_killed_at_its_very_start(tmp_path, content):
    for name in content:
        (tmp_path / name).touch()
    create_recording(tmp_path, "").close()
    assert Recording(tmp_path).frames == []


@pytest.mark.parametrize("name", ["last_frame.png", "film.MP4", "sheet.usdc", "summary.json"])
def test_outputs_of_commands_do_not_block_and_stay(recorded, name):
    (recorded / name).write_text("a picture")
    create_recording(recorded, "", force=True).close()
    assert (recorded / name).read_text() == "a picture"


@pytest.mark.parametrize("name", ["frames", "obstacles", "set-aside"])
def test_links_to_folders_are_not_followed(recorded, tmp_path, name):
    other = make_recording(tmp_path / "other")
    target = tmp_path / "elsewhere"
    if (recorded / name).exists():
        (recorded / name).rename(tmp_path / "moved")
    (other / "frames").rename(target)
    (recorded / name).symlink_to(target)
    before = sorted(path.name for path in target.iterdir())
    with pytest.raises(InputError, match="symbolic link"):
        create_recording(recorded, "", force=True)
    with pytest.raises(InputError, match="symbolic link"):
        resume_recording(recorded)
    assert sorted(path.name for path in target.iterdir()) == before


@pytest.mark.parametrize("name", ["log.jsonl", ".lock"])
def test_files_are_not_written_through_links(recorded, tmp_path, name):
    precious = tmp_path / "precious"
    precious.write_text("mine")
    (recorded / name).unlink()
    (recorded / name).symlink_to(precious)
    for write in (lambda: create_recording(recorded, "", force=True), lambda: resume_recording(recorded)):
        with pytest.raises(InputError, match="symbolic link"):
            write()
    assert precious.read_text() == "mine"
    assert len(Recording(recorded)) == 5


def test_temporary_files_are_not_written_through_links(recorded, tmp_path):
    precious = tmp_path / "precious"
    precious.write_text("mine")
    for name in ("scene.toml.part", "run.vtkhdf.series.part", "frames/frame_000000.vtkhdf.part"):
        (recorded / name).symlink_to(precious)
    make_again = create_recording(recorded, "new", force=True)
    make_again.close()
    assert precious.read_text() == "mine"
    assert (recorded / "scene.toml").read_text() == "new"


def test_an_edited_scene_is_moved_aside_when_it_is_replaced(recorded):
    (recorded / "scene.toml").write_text("# my notes")
    create_recording(recorded, "new", force=True).close()
    assert (recorded / "set-aside/scene.edited.toml").read_text() == "# my notes"


def test_a_link_to_the_whole_folder_is_the_users_choice(recorded, tmp_path):
    (tmp_path / "link").symlink_to(recorded)
    create_recording(tmp_path / "link", "", force=True).close()
    assert Path(recorded / "scene.toml").read_text() == ""
