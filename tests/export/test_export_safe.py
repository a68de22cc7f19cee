"""What exports and films do to files that are there: links are not followed, nothing of others is touched, and a full
disk leaves nothing behind."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from recording_samples import make_recording

from crumple.export.clip import choose_frames
from crumple.export.export import export_recording
from crumple.recording import Recording
from crumple.runtime.errors import CrumpleError

FORMATS = ("usda", "usdc", "glb", "abc", "fold", "obj", "ply", "stl", "vtp", "vtkhdf")
NEEDS = {"usda": "pxr", "usdc": "pxr", "abc": "alembic3d", "vtp": "pyvista"}
RENDERED = ("png", "jpg", "gif", "mp4", "webm")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    return make_recording(tmp_path_factory.mktemp("made") / "run")


def export(recorded: Path, path: Path) -> list[Path]:
    suffix = path.suffix[1:]
    pytest.importorskip(NEEDS.get(suffix, "numpy"))
    frames = None if suffix in ("usda", "usdc", "glb", "abc", "fold") else "-1"
    return export_recording(Recording(recorded), output=path, frames=frames)


@pytest.mark.parametrize("suffix", FORMATS)
def test_files_and_links_of_others_stay(recorded, tmp_path, suffix):
    secret = tmp_path / "secret"
    secret.write_text("mine")
    place = tmp_path / "out"
    place.mkdir()
    for name in (f"x.part.{suffix}", f"x.{suffix}.part"):
        (place / name).symlink_to(secret)
    own = place / "y.part"
    own.write_text("mine too")
    (place / f"x.{suffix}").symlink_to(secret)
    export(recorded, place / f"x.{suffix}")
    assert secret.read_text() == "mine"
    assert own.read_text() == "mine too"
    assert not (place / f"x.{suffix}").is_symlink()
    assert {item.name for item in place.iterdir()} == {f"x.part.{suffix}", f"x.{suffix}.part", "y.part", f"x.{suffix}"}


@pytest.mark.parametrize("suffix", ["usda", "abc", "glb"])
def test_a_failure_leaves_what_was_there(recorded, tmp_path, suffix, monkeypatch):
    path = tmp_path / f"x.{suffix}"
    path.write_text("before")
    monkeypatch.setattr("crumple.export.clip.Clip.__iter__", lambda self: (_ for _ in ()).throw(OSError(5, "bad")))
    with pytest.raises(Exception, match="bad"):
        export(recorded, path)
    assert path.read_text() == "before"
    assert [item.name for item in tmp_path.iterdir()] == [path.name]


def test_alembic_with_uneven_times(recorded, tmp_path, monkeypatch):
    alembic = pytest.importorskip("alembic3d")
    recording = Recording(recorded)
    uneven = {frame: 0.1 * frame**2 for frame in recording.frames}
    monkeypatch.setattr(Recording, "times", lambda self: dict(uneven))
    clip = choose_frames(recording, None, constant=False, with_obstacles=False, progress=None)
    assert not np.allclose(np.diff(clip.times), np.diff(clip.times)[0])
    path = tmp_path / "x.abc"
    export_recording(recording, output=path)
    archive = alembic.Abc.IArchive(str(path))
    sampling = archive.getTimeSampling(1)
    assert sampling.getTimeSamplingType().isAcyclic()
    assert [sampling.getSampleTime(k) for k in range(len(clip.times))] == pytest.approx(list(clip.times))


@pytest.fixture(scope="module")
def small_disk(tmp_path_factory):
    """A disk of 40 kB, which only an administrator can make."""
    place = tmp_path_factory.mktemp("disk")
    mounted = shutil.which("mount") and sys.platform == "linux" and os.getuid() == 0
    command = ["mount", "-t", "tmpfs", "-o", "size=40k", "tmpfs", str(place)]
    if not mounted or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("needs to mount a small disk")
    yield place
    subprocess.run(["umount", str(place)], check=True)


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [*FORMATS, *RENDERED])
def test_a_full_disk_is_one_line_and_leaves_nothing(recorded, small_disk, suffix):
    pytest.importorskip(NEEDS.get(suffix, "numpy"))
    path = small_disk / f"x.{suffix}"
    path.write_bytes(b"b" * 4096)
    (small_disk / "filler").write_bytes(b"f" * 4096 * 8)
    command = "render" if suffix in RENDERED else "export"
    more = ["--size", "640x480"] if suffix in RENDERED else []
    more += ["--frame", "-1"] if suffix in ("png", "jpg") else []
    more += ["--frames=-1"] if suffix in ("obj", "ply", "stl", "vtp", "vtkhdf") else []
    run = [sys.executable, "-m", "crumple.cli", command, str(recorded), "-o", str(path), *more]
    told = subprocess.run(run, capture_output=True, text=True, timeout=120, check=False)
    left = {item.name for item in small_disk.iterdir()}
    content = path.read_bytes()
    (small_disk / "filler").unlink()
    assert left == {"filler", path.name}, told
    path.unlink()
    if told.returncode == 0:
        assert 0 < len(content) <= 4096, "it had room enough"
        return
    assert told.returncode == 1, told.stderr
    assert content == b"b" * 4096
    lines = [line for line in told.stderr.splitlines() if line.startswith("crumple:")]
    assert len(lines) == 1, told.stderr
    assert "internal error" not in told.stderr
    assert "Traceback" not in told.stderr


@pytest.mark.parametrize("suffix", ["obj", "vtkhdf"])
def test_a_sequence_that_fails_half_way_leaves_the_old_one_and_its_picture(recorded, tmp_path, suffix):
    damaged = tmp_path / "damaged"
    shutil.copytree(recorded, damaged)
    last = Recording(damaged).frames[-1]
    Recording(damaged).frame_path(last).write_bytes(b"nothing of a frame")
    first = Recording(damaged).frames[0]
    old = {f"x_{first:06d}.{suffix}": b"before", "paper.png": b"mine"}
    (tmp_path / "out").mkdir()
    for name, content in old.items():
        (tmp_path / "out" / name).write_bytes(content)
    texture = Path(__file__).with_name("paper.png") if suffix == "obj" else None
    with pytest.raises(CrumpleError):
        export_recording(Recording(damaged), output=tmp_path / "out" / f"x.{suffix}", texture=texture)
    assert {item.name: item.read_bytes() for item in (tmp_path / "out").iterdir()} == old
