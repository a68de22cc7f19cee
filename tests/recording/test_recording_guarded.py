"""Pipes, devices and endless files in the place of a recording's: refused at once, by whoever reads."""

from __future__ import annotations

import os
import re
import signal
import tracemalloc
from contextlib import suppress
from pathlib import Path

import pytest
from recording_samples import make_recording
from typer.testing import CliRunner

import crumple
from crumple.cli.app import app
from crumple.recording import Recording
from crumple.recording.info import summarise_recording
from crumple.recording.verify import verify_recording
from crumple.runtime import reading
from crumple.runtime.errors import CrumpleError
from crumple.runtime.reading import open_regular, read_regular
from crumple.studio.runs import StudioRun

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")

FILES = ("log.jsonl", "scene.toml", "model.h5", ".crumple", "run.vtkhdf.series", "frames/frame_000001.vtkhdf")
SOURCES = Path(crumple.__file__).parent
ALLOWED = {
    "runtime/reading.py": "the guarded reader itself",
    "recording/frame.py": "HDF5 in memory",
    "recording/vtkhdf.py": "HDF5 in memory",
    "recording/files.py": "makes new files, and syncs folders",
    "scenes/toml.py": "scenes of the package itself",
    "studio/assets.py": "pages of the package itself",
    "studies/sweeping/identity.py": "modules of the package itself",
    "studies/benchmarking/machine.py": "/proc/cpuinfo",
    "studies/benchmarking/starting.py": "what a process has said that it started itself",
    "studies/datasets/load.py": "after check_regular; HDF5 reads in pieces",
    "studies/datasets/write.py": "writes",
    "runtime/load.py": "/proc/loadavg",
    "cli/streams.py": "/dev/null",
    "cli/exits.py": "/dev/null",
    "mesh/io/animated.py": "its own standard output",
    "rendering/strip.py": "a picture that it has made itself",
    "studies/sweeping/figures.py": "a picture that it has made itself",
    "energies/traced/generated.py": "writes a file of its own",
    "export/alembic.py": "writes a file of its own",
}
OPENS = re.compile(
    r"\.read_text\(|\.read_bytes\(|(?<![\w.])open\(|\bos\.(fd)?open\(|\.open\(\s*[\"'(]|h5py\.File\(|np\.(load|fromfile|genfromtxt|loadtxt)\("
    r"|\b(json|tomllib|pickle)\.load\(|\bimread\(|read_csv\(|read_parquet\("
)


@pytest.fixture
def recorded(tmp_path):
    return make_recording(tmp_path / "r")


@pytest.fixture(autouse=True)
def _soon():
    """What waits for the other end of a pipe, or reads without end, is stopped after ten seconds."""

    def stop(*_: object) -> None:
        raise TimeoutError("it waits")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, 10.0)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0.0)
    signal.signal(signal.SIGALRM, before)


def exchange(path: Path, kind: str) -> None:
    path.unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "folder":
        path.mkdir()
    else:
        with path.open("wb") as file:
            file.truncate(2**40)


@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "endless"])
@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("command", [("info",), ("verify",), ("resume", "--frames", "3"), ("analyze",)])
def test_commands_say_so_and_end(recorded, name, kind, command):
    exchange(recorded / name, kind)
    result = CliRunner().invoke(app, [command[0], str(recorded), *command[1:]])
    assert not isinstance(result.exception, TimeoutError | MemoryError), "it waits, or fills the memory"
    assert result.exception is None or isinstance(result.exception, SystemExit | CrumpleError | OSError), result.output
    assert "internal error" not in result.output


@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_the_studio_goes_on(recorded, kind):
    exchange(recorded / "log.jsonl", kind)
    run = StudioRun(recorded)
    assert run.series()["frame"] == []
    assert run.refresh()["count"] == len(Recording(recorded).frames)


@pytest.mark.parametrize("name", FILES)
def test_what_is_no_file_of_a_recording_is_not_read_as_a_whole(recorded, name):
    (recorded / name).unlink(missing_ok=True)
    with (recorded / name).open("wb") as file:
        file.truncate(2 * reading.MOST_TEXT)
    tracemalloc.start()
    with suppress(CrumpleError):
        summarise_recording(Recording(recorded))
    StudioRun(recorded).series()
    for read in (Recording(recorded).model, Recording(recorded).times, lambda: Recording(recorded).load(1)):
        with suppress(CrumpleError):
            read()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1.5 * reading.MOST_TEXT


def test_a_log_of_many_bad_lines_is_told_in_few(recorded, monkeypatch):
    with (recorded / "log.jsonl").open("ab") as file:
        file.write(b"nonsense\n" * 5000 + b"torn")
    log = Recording(recorded).log()
    assert len(log.skipped) == 101
    assert log.skipped[-1].endswith("4900 more lines are not of a step log; left out")
    monkeypatch.setattr(reading, "MOST_LINES", 100)
    with pytest.raises(CrumpleError, match="has more than 100 lines"):
        Recording(recorded).log()


def test_lines_are_whole_or_cut_at_a_length(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "LONGEST_LINE", 4)
    path = tmp_path / "lines"
    path.write_bytes(b"ab\n\nabcdefghij\nabc\nabcd\nabcde\ntorn for long")
    assert list(reading.read_lines(path)) == [b"ab", b"", b"abcd", b"abc", b"abcd", b"abcd"]
    assert reading.is_torn(path)
    path.write_bytes(b"ab\n")
    assert not reading.is_torn(path)


def test_a_huge_number_in_a_name_is_one_gap(recorded):
    count = len(Recording(recorded).frames)
    os.link(recorded / "frames/frame_000001.vtkhdf", recorded / "frames/frame_999999999999999999.vtkhdf")
    result = verify_recording(Recording(recorded))
    assert result.missing == (range(count, 999999999999999999),)
    assert result.describe()[0] == f"frames {count} to 999999999999999998: are missing"
    assert result.summary()["missing"] == 999999999999999999 - count


def test_only_regular_files_of_bounded_size_are_read(tmp_path, monkeypatch):
    path = tmp_path / "a"
    path.write_bytes(b"x" * 100)
    assert read_regular(path, 100) == b"x" * 100
    with pytest.raises(OSError, match="larger than 99 bytes"):
        read_regular(path, 99)
    with pytest.raises(FileNotFoundError):
        read_regular(tmp_path / "b")
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.setattr(reading, "check_regular", lambda path: None)  # as when it is exchanged after the first look
    with pytest.raises(OSError, match="not a regular file"):
        open_regular(tmp_path / "pipe")


def test_nobody_else_opens_files():
    """Whatever crumple reads goes through `crumple.runtime.reading`, but for what is named here with its reason."""
    found = {}
    for path in sorted(SOURCES.rglob("*.py")):
        lines = path.read_text(encoding="utf-8").splitlines()
        hits = [
            line.strip() for line in lines if OPENS.search(line) and "_regular(" not in line and "def open(" not in line
        ]
        if hits:
            found[path.relative_to(SOURCES).as_posix()] = hits
    assert set(found) <= set(ALLOWED), {name: found[name] for name in set(found) - set(ALLOWED)}
