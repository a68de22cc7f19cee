"""The recipes for clusters on docs/sweeps.md: what of them can be run on one machine is run, the rest is read."""

from __future__ import annotations

import ast
import inspect
import os
import re
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from pages import Block, page_blocks
from sweep_scenes import SETTINGS, write_scene
from typer.main import get_command

import crumple
from crumple.cli.app import app
from crumple.recording import state_digest
from crumple.studies.sweeping import SweepFolder, read_sweep

distributed = pytest.importorskip("distributed")
SSH, SLURM = (block.text for block in page_blocks("sweeps.md") if block.language == "bash")
SWEPT = re.compile(r"(?<=crumple sweep ).*?(?= --scheduler)")
OTHER_MACHINE = """
import os
real = os.open
def blind(path, *given, **options):
    if str(path).endswith("sweep.toml"):
        raise FileNotFoundError(2, "No such file or directory", str(path))
    return real(path, *given, **options)
os.open = blind
"""
"""For the workers: the file by which they know the sweep's folder is not there, as on another machine."""


def python_block(word: str) -> Block:
    return next(block for block in page_blocks("sweeps.md") if block.language == "py" and word in block.text)


def call(text: str, name: str) -> ast.Call:
    """The call of a function in a program."""
    calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    return next(node for node in calls if ast.unparse(node.func) == name)


@pytest.mark.parametrize("script", [SSH, SLURM])
def test_options_exist_and_the_syntax_is_right(script):
    from distributed.cli import dask_scheduler, dask_worker

    assert subprocess.run(["bash", "-n"], input=script, text=True, check=False).returncode == 0
    commands = {"scheduler": dask_scheduler.main, "worker": dask_worker.main}
    found = re.findall(r"dask (scheduler|worker)([^&\n]*)", script)
    assert [name for name, _ in found] == ["scheduler", "worker"]
    for name, rest in found:
        known = {option for parameter in commands[name].params for option in parameter.opts}
        assert set(re.findall(r"--[a-z-]+", rest)) <= known, rest
    (swept,) = re.findall(r"^crumple sweep .*", script, re.MULTILINE)
    known = {option for parameter in get_command(app).commands["sweep"].params for option in parameter.opts}
    assert set(re.findall(r"--[a-z-]+", swept)) <= known, swept


@pytest.mark.parametrize("word", ["SLURMCluster", "KubeCluster"])
def test_programs_call_sweep_as_it_is(word):
    found = call(python_block(word).text, "crumple.sweep")
    bound = inspect.signature(crumple.sweep).bind(
        *(None for _ in found.args), **{str(keyword.arg): None for keyword in found.keywords}
    )
    assert set(bound.arguments) == {"scene", "vary", "seeds", "scheduler", "out"}


def test_the_job_of_dask_jobqueue():
    jobqueue = pytest.importorskip("dask_jobqueue")
    given = {k.arg: ast.literal_eval(k.value) for k in call(python_block("SLURMCluster").text, "SLURMCluster").keywords}
    with jobqueue.SLURMCluster(**given) as cluster:
        text = cluster.job_script()
    assert subprocess.run(["bash", "-n"], input=text, text=True, check=False).returncode == 0
    assert "#SBATCH -t 12:00:00" in text
    assert "#SBATCH --cpus-per-task=1" in text
    assert "--nthreads 1" in text


def test_the_pods_of_dask_kubernetes():
    operator = pytest.importorskip("dask_kubernetes.operator")
    text = python_block("KubeCluster").text
    names: dict = {}
    body = ast.parse(text).body[-1].body
    for node in body[:2]:
        exec(ast.unparse(node), names)
    given = {keyword.arg: eval(ast.unparse(keyword.value), names) for keyword in call(text, "KubeCluster").keywords}
    inspect.signature(operator.KubeCluster.__init__).bind(None, **given)
    worker = operator.make_cluster_spec(**given)["spec"]["worker"]
    container = worker["spec"]["containers"][0]
    assert worker["replicas"] == 32
    assert container["args"][:4] == ["dask", "worker", "--nthreads", "1"]
    assert container["resources"]["limits"] == {"cpu": "1", "memory": "3Gi"}


@pytest.fixture
def place(tmp_path):
    """A folder with a small scene; commands of `ssh` and `srun` that run what they are given here, as if elsewhere."""
    write_scene(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "sitecustomize.py").write_text(OTHER_MACHINE)
    tools = tmp_path / "tools"
    tools.mkdir()
    there = f'export PYTHONPATH="{tmp_path / "elsewhere"}:$PYTHONPATH" XDG_CACHE_HOME="{tmp_path / "cache"}"'
    (tools / "ssh").write_text(f'#!/bin/bash\n{there}\nshift\nexec "$@"\n')
    (tools / "srun").write_text('#!/bin/bash\n"$@" &\n"$@" &\nwait\n')
    (tools / "crumple").write_text(f'#!/bin/bash\nexec "{sys.executable}" -m crumple.cli "$@"\n')
    (tools / "dask").write_text(f'#!/bin/bash\nexec "{sys.executable}" -m dask "$@"\n')
    for tool in tools.iterdir():
        tool.chmod(0o755)
    return tmp_path


def run_script(place: Path, script: str, **settings: str) -> str:
    """What a script says; whatever it has left behind is ended with it, as Slurm and a closed terminal do."""
    script = SWEPT.sub("tiny.toml --vary contact.friction=0.1,0.3 --frames 2", script)
    (place / "script.sh").write_text(script)
    path = os.pathsep.join([str(place / "tools"), os.environ["PATH"]])
    with open(place / "said.txt", "w") as said:
        process = subprocess.Popen(
            ["bash", "script.sh"], cwd=place, text=True, env=SETTINGS | {"PATH": path} | settings, stdout=said,
            stderr=said, start_new_session=True,
        )  # fmt: skip
    try:
        assert process.wait(timeout=240) == 0, (place / "said.txt").read_text()
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    return (place / "said.txt").read_text()


def check_bits(place: Path) -> None:
    """Both runs are there, like those without a cluster."""
    assert list(read_sweep(place / "foil")["outcome"]) == ["done", "done"]
    plan = SweepFolder(place / "foil").plan
    alone = crumple.simulate(plan.load(plan.runs[1]))
    assert state_digest(crumple.Recording(place / "foil" / "runs" / "0001").load(-1)) == state_digest(alone.state)


@pytest.mark.slow
def test_ssh(place):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    script = SSH.replace("192.168.1.10", "127.0.0.1").replace("8786", port).replace("--nworkers 16", "--nworkers 1")
    said = run_script(place, script)
    assert "recordings are sent back" in said
    assert "2 of 2 runs done" in said
    check_bits(place)
    assert not list(place.glob("cache/crumple/sweeps/*/*")), "the workers keep no copy of what has arrived"


@pytest.mark.slow
def test_slurm(place):
    settings = {"SLURM_SUBMIT_DIR": str(place), "SLURM_JOB_ID": "17"}
    assert "2 of 2 runs done" in run_script(place, SLURM, **settings)
    check_bits(place)
    again = run_script(place, SLURM, **settings | {"SLURM_JOB_ID": "18"})
    assert "2 runs were done before" in again
