"""Commands against bad luck: edited scenes, closed streams, no cache, too many threads, full disks, Ctrl-C."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from recording_samples import make_recording
from test_cli_running import SCENE, crumple, invoke, stand_in, wait_for_frames

from crumple.cli.interruption import Interruption
from crumple.cli.streams import Heedless
from crumple.recording import Recording, files
from crumple.recording.log import strict_json
from crumple.simulation.observers import Observer

SHEET = """
[[sheets]]
material = "cotton"
shape = { kind = "rectangle", width = 0.1, height = 0.1, size = 0.02 }
transform = { translate = [0, 0, 1] }
"""
HELD = """
[[sheets]]
name = "napkin"
material = "cotton"
shape = { kind = "rectangle", width = 0.1, height = 0.08, size = 0.02 }
[[handles]]
sheet = "napkin"
select = { kind = "box", low = [-1, -1, -1], high = [0.01, 1, 1] }
"""
"""A sheet that a handle holds along one side: it has an equilibrium."""
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="a matter of POSIX systems")


@pytest.fixture
def part(tmp_path, monkeypatch) -> Path:
    """A recording of 10 frames by the command line with a stand-in for the simulator."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("crumple.cli.running.PhysicsEngine", stand_in())
    Path("napkin.toml").write_text(SCENE)
    assert invoke("run", "napkin.toml", "--out", "part").exit_code == 0
    return Path("part")


def content(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def assert_refused(result, folder: Path, before: dict[str, bytes], *words: str) -> None:
    assert result.exit_code == 2, result.output
    lines = result.stderr.strip().splitlines()
    assert len(lines) == 1, result.stderr
    for word in words:
        assert word in lines[0]
    assert content(folder) == before


@pytest.mark.parametrize(("option", "value"), [("--frames", 3), ("--until", 0.06)])
def test_resume_does_not_shorten_a_run(part, option, value):
    before = content(part)
    assert_refused(invoke("resume", part, option, value), part, before, option, "has frames 0 to 10 already")
    assert "complete" in invoke("resume", part).stderr
    assert content(part) == before


def test_resume_from_an_earlier_frame_may_be_shorter(part):
    result = invoke("resume", part, "--frame", 2, "--frames", 4)
    assert result.exit_code == 0, result.output
    assert Recording(part).frames == [0, 1, 2, 3, 4]
    assert "frames 3 to 10 moved to" in result.stderr


@pytest.mark.parametrize("value", ["0", "-1", "nan", "inf", "1e300"])
def test_until_is_named_as_the_user_wrote_it(part, value):
    result = invoke("run", "napkin.toml", "--out", "other", "--until", value)
    assert result.exit_code == 2
    assert result.stderr.startswith("crumple: --until = ")
    assert not Path("other").exists()


@pytest.mark.parametrize(
    ("old", "new", "word"),
    [
        ("[[obstacles]]", SHEET + "[[obstacles]]", "sheets"),
        ("radius = 0.03", "radius = 0.02", "obstacles[0].shape.radius"),
        ("frame_time = 0.02", "frame_time = 0.04", "run.frame_time"),
    ],
)  # fmt: skip
def test_an_edit_that_cannot_be_resumed_is_named(part, old, new, word):
    (part / "scene.toml").write_text(SCENE.replace(old, new))
    before = content(part)
    assert_refused(
        invoke("resume", part, "--frames", 12), part, before, "scene.toml", word, "since the recording began"
    )


def test_an_added_sheet_is_noticed_without_the_mark_too(part):
    (part / ".crumple").unlink()
    (part / "scene.toml").write_text(SCENE.replace("[[obstacles]]", SHEET + "[[obstacles]]"))
    before = content(part)
    assert_refused(invoke("resume", part, "--frame", 5), part, before, "scene.toml", "has 2 sheets, but frame 5 has 1")


def test_an_edit_that_takes_effect_is_told_and_the_users_text_stays(part):
    text = SCENE + "[environment]\ngravity = [0, 0, -1]  # the moon, nearly\n"
    (part / "scene.toml").write_text(text)
    result = invoke("resume", part, "--frame", 5)
    assert result.exit_code == 0, result.output
    assert "environment.gravity" in result.stderr
    assert (part / "scene.toml").read_text() == text
    assert "environment.gravity" not in invoke("resume", part, "--frame", 5).stderr  # it is known now


def test_damaged_frames_are_named_on_resume(part):
    (part / "frames/frame_000010.vtkhdf").write_bytes(b"nonsense")
    result = invoke("resume", part)
    assert result.exit_code == 0, result.output
    assert "warning: frame 10 is damaged" in result.stderr
    assert Recording(part).frames == list(range(11))
    assert (part / "set-aside/frame_000010.damaged.vtkhdf").read_bytes() == b"nonsense"


def test_errors_of_the_disk_end_with_1(part, monkeypatch):
    real = files.read_regular

    def read(path: Path, most: int) -> bytes:
        if path.name == "frame_000010.vtkhdf":
            raise OSError(errno.EIO, "Input/output error")
        return real(path, most)

    monkeypatch.setattr(files, "read_regular", read)
    result = invoke("resume", part)
    assert result.exit_code == 1
    assert "frame_000010.vtkhdf: Input/output error" in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_full_disk_stops_the_run_and_says_how_to_go_on(part, monkeypatch):
    write, room = os.write, [200_000]

    def limited(descriptor, data):
        room[0] -= len(data)
        if room[0] < 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(descriptor, data)

    monkeypatch.setattr(os, "write", limited)
    result = invoke("run", "napkin.toml", "--out", "full")
    monkeypatch.setattr(os, "write", write)
    assert result.exit_code == 1, result.output
    line = result.stderr.strip().splitlines()[-1]
    assert "No space left on device" in line
    assert "crumple resume full" in line
    reached = Recording("full").frames
    assert 0 < len(reached) < 11
    assert list(Path("full").rglob("*.part")) == []
    assert invoke("resume", "full").exit_code == 0
    assert Recording("full").frames == list(range(11))
    assert (Path("full") / "log.jsonl").read_bytes() == (part / "log.jsonl").read_bytes()


def test_render_into_the_recording_does_not_block_force(part):
    (part / "last_frame.png").write_bytes(b"a picture")
    assert invoke("run", "napkin.toml", "--out", part, "--force").exit_code == 0


def test_a_scene_is_not_overwritten_by_its_own_recording(part, tmp_path):
    project = tmp_path / "proj"
    (project / "frames").mkdir(parents=True)
    (project / "scene.toml").write_text(SCENE)
    (project / "frames/draft.part").write_text("mine")
    result = invoke("run", project / "scene.toml", "--out", project)
    assert result.exit_code == 2
    assert "holds other files" in result.stderr
    assert (project / "scene.toml").read_text() == SCENE
    assert (project / "frames/draft.part").read_text() == "mine"


def refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is not JSON")


def test_json_is_strict(part, tmp_path):
    assert json.loads(strict_json({"a": float("inf"), "b": [float("nan")]}), parse_constant=refuse) == {
        "a": None,
        "b": [None],
    }
    with open(part / "log.jsonl", "a") as log:  # as version 0.1 wrote it
        log.write('{"frame": 10, "min_gap": Infinity, "energies": {"membrane": NaN}}\n')
    assert json.loads(invoke("info", part, "--json").stdout, parse_constant=refuse)["steps"] == 11
    assert invoke("resume", part, "--frame", 10, "--frames", 12).exit_code == 0
    for line in (part / "log.jsonl").read_text().splitlines():
        json.loads(line, parse_constant=refuse)


def test_info_repairs_a_short_index(part):
    whole = (part / "run.vtkhdf.series").read_bytes()
    (part / "run.vtkhdf.series").unlink()
    assert invoke("info", part).exit_code == 0
    assert (part / "run.vtkhdf.series").read_bytes() == whole


@pytest.mark.parametrize("count", [100_000, 99_999_999_999])
def test_threads_are_bounded_by_the_machine(tmp_path, count):
    make_recording(tmp_path / "run", 1)
    command = crumple("verify", tmp_path / "run", "--threads", count)
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert result.returncode == 0, result.stderr
    assert f"warning: --threads {count}: this machine has" in result.stderr


@POSIX
def test_a_closed_stderr_does_not_matter(tmp_path):
    make_recording(tmp_path / "run", 2)
    words = " ".join(f"'{word}'" for word in crumple("resume", tmp_path / "run"))
    done = subprocess.run(["sh", "-c", f"{words} 2>&-"], check=False, timeout=300)
    assert done.returncode == 2  # the sample has no proper scene, and that is all
    code = (
        "import os, sys; from crumple.cli.streams import secure_streams; secure_streams();"
        "print('x', file=sys.stderr); sys.exit(os.open('/', 0) < 3)"
    )
    for closed in ("2>&-", "1>&- 2>&-", "0<&- 1>&- 2>&-"):
        assert subprocess.run(["sh", "-c", f'"{sys.executable}" -c "{code}" {closed}'], check=False).returncode == 0


@POSIX
@pytest.mark.slow
@pytest.mark.parametrize("ending", ["2>&-", "2>&1 >/dev/null | true"])
def test_a_run_goes_on_when_nobody_reads_its_messages(tmp_path, ending):
    (tmp_path / "napkin.toml").write_text(SCENE)
    words = " ".join(f"'{word}'" for word in crumple("run", "napkin.toml", "--out", "part", "--frames", 3))
    subprocess.run(["sh", "-c", f"{words} {ending}"], cwd=tmp_path, check=False, timeout=300)
    assert Recording(tmp_path / "part").frames == [0, 1, 2, 3]
    for line in (tmp_path / "part/log.jsonl").read_text().splitlines():
        json.loads(line)


def test_a_reader_of_stderr_that_goes_away_does_not_matter():
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w", buffering=1) as stream:
        heedless = Heedless(stream)
        for _ in range(3):
            print("frame 1", file=heedless)
        heedless.flush()
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


@POSIX
@pytest.mark.slow
def test_without_a_place_for_compiled_code_a_private_one_is_found(tmp_path):
    """As with a package and a home that cannot be written; said by a stand-in, as root may write everywhere."""
    code = (
        "import os, crumple.runtime.caching as c; c._is_creatable = lambda folder: False; c.user_cache = lambda: None;"
        "from crumple.cli import main; main()"
    )
    environment = {name: value for name, value in os.environ.items() if name not in ("HOME", "NUMBA_CACHE_DIR")}
    environment |= {"TMPDIR": str(tmp_path)}
    command = [sys.executable, "-c", code, "check", "demo"]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=600)
    assert result.returncode == 0, result.stderr
    folder = tmp_path / f"crumple-{os.getuid()}" / "kernels"
    assert str(folder) in result.stderr
    assert folder.stat().st_mode & 0o777 == 0o700
    assert any(folder.rglob("*.nbi"))


class Busy(Observer):
    """Gets a signal while it is at work."""

    def __init__(self, signals: int = 1) -> None:
        self.done, self._signals = False, signals

    def on_frame(self, model, state, report) -> None:
        for _ in range(self._signals):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.01)
        self.done = True


@POSIX
def test_a_first_signal_waits_for_the_recorder_and_a_second_does_not():
    for signals, is_done in ((1, True), (2, False)):
        busy = Busy(signals)
        with Interruption() as interruption, pytest.raises(KeyboardInterrupt):
            interruption.shield(busy).on_frame(None, None, None)
        assert busy.done is is_done


@POSIX
def test_a_signal_ends_a_long_solve_at_once():
    def solve() -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        for _ in range(1000):
            time.sleep(0.01)

    with Interruption(), pytest.raises(KeyboardInterrupt):
        solve()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@POSIX
def test_a_signal_while_compiled_code_hands_over_its_results_is_an_interruption():
    def hand_over() -> None:
        try:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(1.0)
        except KeyboardInterrupt as error:
            raise SystemError("returned a result with an exception set") from error

    with Interruption() as interruption, pytest.raises(KeyboardInterrupt), interruption.unwrapped():
        hand_over()
    with Interruption() as interruption, pytest.raises(SystemError), interruption.unwrapped():
        raise SystemError("of another kind")


@POSIX
@pytest.mark.slow
def test_ctrl_c_acts_inside_a_long_solve(tmp_path):
    """The sheet has an equilibrium, which takes long to find with so many faces."""
    (tmp_path / "napkin.toml").write_text(HELD)
    options = ["solver.tolerance=1e-12", "sheets[0].shape.size=6e-4"]
    sets = [word for option in options for word in ("--set", option)]
    command = crumple("run", "napkin.toml", "--out", "part", "--threads", 1, "--set", "solver.mode=static", *sets)
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE) as process:
        wait_for_frames(tmp_path / "part", 1, process)
        time.sleep(1.0)
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=60)
    assert process.returncode == 130, told
    assert b"crumple resume part" in told
    assert time.monotonic() - begin < 30.0  # without the mend it did not end within 90 s
    assert Recording(tmp_path / "part").frames == [0]
    Recording(tmp_path / "part").load()
