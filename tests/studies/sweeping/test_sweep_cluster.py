"""Sweeps on a scheduler and workers in processes of their own: kills lose nothing, and change no bit."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest
from sweep_scenes import Cluster, crumple, finished, wait_until, write_scene

import crumple as library
from crumple.recording import Recording, state_digest
from crumple.studies.sweeping import SweepFolder, read_sweep

pytest.importorskip("distributed")
pytestmark = pytest.mark.slow


def frames_of(folder: Path) -> dict[str, int]:
    """Frames of each recording that has begun."""
    runs = folder / "runs"
    return {path.name: len(list(path.glob("frames/*.vtkhdf"))) for path in runs.iterdir()} if runs.is_dir() else {}


def outcomes(folder: Path) -> list[dict]:
    lines = (folder / "log.jsonl").read_text().split("\n")[:-1] if (folder / "log.jsonl").exists() else []
    return [line for line in map(json.loads, lines) if line["event"] == "run"]


def writer_of(folder: Path, workers: list) -> subprocess.Popen:
    """The worker that holds the lock of a recording."""
    lock = str(folder / ".lock")
    for worker in workers:
        for file in Path(f"/proc/{worker.pid}/fd").iterdir():
            with suppress(OSError):
                if os.readlink(file) == lock:
                    return worker
    raise AssertionError(f"nobody writes {folder}")


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="tells from /proc who writes a recording")
def test_kills_of_a_worker_and_of_the_client_lose_nothing(tmp_path):
    scene, out = write_scene(tmp_path), tmp_path / "sweep"
    count = 16
    with Cluster(tmp_path) as cluster:
        workers = [cluster.start_worker(), cluster.start_worker()]
        options = ["--vary", "contact.friction=0.1,0.2,0.3", "--seeds", 2, "--frames", count]
        client = crumple("sweep", scene, *options, "--out", out, "--scheduler", cluster.address)
        wait_until(lambda: any(3 <= n <= count - 4 for n in frames_of(out).values()))
        run, reached = next((name, n) for name, n in frames_of(out).items() if 3 <= n <= count - 4)
        writer_of(out / "runs" / run, workers).send_signal(signal.SIGKILL)
        wait_until(lambda: any(line["resumed"] for line in outcomes(out)), 240)
        client.send_signal(signal.SIGKILL)
        client.communicate()
        taken_up = [line for line in outcomes(out) if line["resumed"]]
        assert len(outcomes(out)) < 6, "the client was killed too late to show anything"
        said = finished(crumple("sweep", "--resume", "--out", out, "--scheduler", cluster.address))
    assert "6 of 6 runs done" in said
    assert taken_up[0]["run"] == run
    assert taken_up[0]["resumed"] >= reached - 1, "it went on from its last frame"
    table = read_sweep(out)
    assert list(table["outcome"]) == ["done"] * 6
    assert set(frames_of(out)) == set(table.index)
    plan = SweepFolder(out).plan
    for run in plan.runs:
        undisturbed = tmp_path / "alone" / run.name
        library.simulate(plan.load(run), out=undisturbed)
        one, other = Recording(out / "runs" / run.name), Recording(undisturbed)
        assert one.frames == other.frames == list(range(count + 1))
        for frame in one.frames:
            assert state_digest(one.load(frame)) == state_digest(other.load(frame)), (run.name, frame)
        assert one.scene_path.read_bytes() == other.scene_path.read_bytes()
        steps = [line["frame"] for line in one.steps() if "frame_end" in line]
        assert steps == list(range(1, count + 1)), "every frame is in the log once"


def test_workers_without_the_file_system_send_recordings_back(tmp_path, monkeypatch):
    """The workers look for the sweep's folder in vain, as on another machine."""
    blind = tmp_path / "blind"
    blind.mkdir()
    (blind / "sitecustomize.py").write_text(
        "import os\n"
        "real = os.open\n"
        "def blind(path, *given, **options):\n"
        "    if str(path).endswith('sweep.toml'):\n"
        "        raise FileNotFoundError(2, 'No such file or directory', str(path))\n"
        "    return real(path, *given, **options)\n"
        "os.open = blind\n"
    )
    path = os.pathsep.join([str(blind), os.environ.get("PYTHONPATH", "")])
    cache = tmp_path / "cache"
    scene, out = write_scene(tmp_path), tmp_path / "sweep"
    with Cluster(tmp_path) as cluster:
        cluster.start_worker(PYTHONPATH=path, XDG_CACHE_HOME=str(cache))
        command = ["sweep", scene, "--vary", "contact.friction=0.1,0.2", "--frames", 2, "--out", out]
        said = finished(crumple(*command, "--scheduler", cluster.address))
    assert "do not share" in said
    assert "2 of 2 runs done" in said
    assert not list(cache.glob("crumple/sweeps/*/*")), "the workers keep no copy of what has arrived"
    for run in SweepFolder(out).plan.runs:
        alone = tmp_path / "alone" / run.name
        library.simulate(SweepFolder(out).plan.load(run), out=alone)
        one, other = Recording(out / "runs" / run.name), Recording(alone)
        assert [state_digest(one.load(k)) for k in one.frames] == [state_digest(other.load(k)) for k in other.frames]


def test_another_version_on_the_workers_is_refused(tmp_path):
    package = Path(library.__file__).parent
    other = tmp_path / "other" / "crumple"
    shutil.copytree(package, other, ignore=shutil.ignore_patterns("__pycache__", "page"))
    text = (other / "__init__.py").read_text()
    (other / "__init__.py").write_text(text.replace(f'__version__ = "{library.__version__}"', '__version__ = "0.0.9"'))
    scene = write_scene(tmp_path)
    with Cluster(tmp_path) as cluster:
        cluster.start_worker(PYTHONPATH=str(other.parent))
        client = crumple("sweep", scene, "--frames", 1, "--out", tmp_path / "s", "--scheduler", cluster.address)
        said = client.communicate(timeout=120)[0]
    assert client.returncode == 2, said
    assert f"has crumple 0.0.9, this machine {library.__version__}" in said
    assert "Traceback" not in said
    assert not (tmp_path / "s").exists()


def test_the_end_of_the_scheduler_is_one_line(tmp_path):
    scene, out = write_scene(tmp_path), tmp_path / "sweep"
    with Cluster(tmp_path) as cluster:
        cluster.start_worker()
        options = ["--vary", "contact.friction=0.1,0.2,0.3", "--out", out, "--scheduler", cluster.address]
        client = crumple("sweep", scene, *options)
        wait_until(lambda: any(frames > 2 for frames in frames_of(out).values()))
        cluster.processes[0].send_signal(signal.SIGKILL)
        said = client.communicate(timeout=120)[0]
    assert client.returncode == 1, said
    assert "Traceback" not in said
    last = said.strip().splitlines()[-1]
    assert last.startswith(f"crumple: {out}: the scheduler is gone; ")
    assert last.endswith(f"go on with: crumple sweep --resume --out {out}")
