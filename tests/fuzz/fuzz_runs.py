"""Cases of the fuzzer that go on after the checks: torn sheets of changed recordings, sweeps, scripts of a session.

Checksums are made anew, so that what is wrong is not found by them. What passes the checks is run for some frames, and
every frame is counted exactly.
"""

from __future__ import annotations

import atexit
import json
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from stepped_scenes import Exact
from typer.testing import CliRunner

from crumple.cli.app import app
from crumple.cli.exits import DONE, FAILED
from crumple.recording.codec import digest
from crumple.recording.frame import _scalar, encode_frame
from crumple.recording.plain_hdf import read_table
from crumple.runtime.errors import CrumpleError, InputError, SimulationError
from crumple.scenes import build, scene_from_tables
from crumple.session.script import Action, Script
from crumple.session.session import Session, run
from crumple.simulation.engine import PhysicsEngine
from crumple.studies.sweeping.estimate import check_plan
from crumple.studies.sweeping.metrics import DEFAULT
from crumple.studies.sweeping.plan import Plan, make_plan
from crumple.studies.sweeping.task import Task, perform

Random = np.random.Generator
Tables = dict[str, Any]
SHEET: Tables = {"kind": "rectangle", "width": 0.06, "height": 0.06, "size": 0.015}


def pulled_scene(**sheet: Any) -> Tables:
    """A notched sheet whose ends are pulled apart, so that it tears."""
    ends = {
        "a": {"kind": "box", "low": [-1.0, 0.025, -1.0], "high": [1.0, 1.0, 1.0]},
        "b": {"kind": "box", "low": [-1.0, -1.0, -1.0], "high": [1.0, -0.025, 1.0]},
    }
    keys = [{"time": 0.0}, {"time": 1.0, "translate": [0.0, 0.05, 0.02]}]
    return {
        "run": {"frame_time": 0.01, "duration": 0.04},
        "sheets": [{"name": "s", "material": "paper80", **sheet}],
        "motions": {"m": {"keys": keys}},
        "handles": [
            {"name": name, "sheet": "s", "select": where} | ({"motion": "m"} if name == "a" else {})
            for name, where in ends.items()
        ],
        "tearing": {},
    }


@cache
def torn_sheet() -> Path:
    """The frame of a sheet that has torn, made once in a process."""
    folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    tables = pulled_scene(shape=SHEET, cuts=[{"line": [[0.0, 0.03], [0.02, 0.03]]}])
    model, state, _ = build(scene_from_tables(tables, source="torn.toml", folder=str(folder)))
    state = run(model, state)
    assert len(state.torn.points), "the sheet that the cases are made from has not torn"
    path = folder / "frame_000004.vtkhdf"
    path.write_bytes(encode_frame(state))
    return path


def change_frame(path: Path, random: Random) -> None:
    """Change up to three arrays in the file in some places, each still of its type and shape, with a new checksum."""
    with h5py.File(path, "r+") as file:
        root = file["crumple"]
        names: list[str] = []
        root.visititems(lambda name, item: names.append(name) if isinstance(item, h5py.Dataset) and item.size else None)
        for name in random.choice(names, size=int(random.integers(1, 4)), replace=False):
            values = root[name][()]
            places = random.integers(values.size, size=int(random.integers(1, 4)))
            values.reshape(-1)[places] = _other_number(values.dtype, random)
            root[name][...] = values
        table = {name: value for name, value in read_table(root, 10**9).items() if name not in ("digest", "format")}
        plain = {name: value if isinstance(value, np.ndarray) else _scalar(value) for name, value in table.items()}
        root.attrs["digest"] = np.bytes_(digest(plain))


def _other_number(kind: np.dtype, random: Random) -> Any:
    if kind.kind == "f":
        return random.choice([0.0, -1.0, 1.0, 1e-9, 1e9, -1e300, 1e308, np.nan, np.inf, random.normal()])
    if kind.kind == "b":
        return bool(random.integers(2))
    return int(random.choice([0, 1, 2, 7, 30, 2**31 - 1, -1])) if kind.itemsize >= 4 else int(random.integers(100))


def feed_history(folder: Path, number: int) -> str:
    """A sheet that has torn and whose recording was changed goes on tearing; what it came to."""
    random = np.random.default_rng([number, 13])
    path = folder / "frame_000004.vtkhdf"
    shutil.copy(torn_sheet(), path)
    change_frame(path, random)
    kept = str(random.choice(["kept"] * 9 + ["flat"]))
    tables = pulled_scene(history={"recording": str(path), "shape": kept})
    tables["run"]["duration"] = 0.02
    return stepped(tables, folder)


def stepped(tables: Tables, folder: Path) -> str:
    """Build a scene and run it under the exact count: "refused", "failed" or "done", and why."""
    watched = Exact()
    try:
        model, state, _ = build(scene_from_tables(tables, source="scene.toml", folder=str(folder)))
    except CrumpleError as error:
        return f"refused: {error}"
    try:
        run(model, state, [watched])
    except CrumpleError as error:
        return f"failed after {watched.frames} frames: {error}"
    return f"done: {watched.frames} frames"


SENSIBLE = (
    "contact.friction=0.1,0.3",
    "contact.friction=0.1:0.5:3",
    "sheets[0].shape.size=0.03:0.06:2",
    "sheets[0].shape.width=0.05:0.2:3:log",
    "sheets[0].material.thickness=5e-5,1e-4",
    "sheets[0].transform.translate=[0,0,0],[0,0,0.1]",
    "sheets[0].jitter.amplitude=0,1e-5",
    "run.frame_time=0.01,0.04",
)
DRAWN = (
    "contact.friction=0.1:0.5",
    "sheets[0].shape.size=0.03:0.06",
    "sheets[0].material.thickness=5e-5:1e-3:log",
    "sheets[0].shape.width=0.05,0.07",
)
GIVEN = (
    "sheets[0].jitter.amplitude=1e-5",
    "sheets[0].jitter.amplitude=1e-5",
    "contact.friction=0.2",
    "sheets[0].shape.height=0.05",
    "run.duration=1e-300",
    "sheets[0].material=card",
    "sheets[0].shape=disk",
)
KEYS = (
    "contact.friction",
    "contact.gap",
    "run.frame_time",
    "run.duration",
    "sheets[0].shape.width",
    "sheets[0].shape.size",
    "sheets[0].material",
    "sheets[0].material.preset",
    "sheets[0].material.thickness",
    "sheets[0].jitter.amplitude",
    "sheets[0].jitter.seed",
    "sheets[0].transform.translate",
    "sheets[1].shape.width",
    "gravity",
    "remeshing.size_min",
    "tearing",
    "plasticity",
    "name",
    "run",
    "seed",
    "",
    "a.b[999999999]",
    "sheets[-1].shape.width",
    "sheets[0]..shape",
    "metrics",
)
VALUES = (
    "0.1,0.3",
    "0.1:0.4:3",
    "1e-5:1e-3:3:log",
    "0:1:2",
    "1:0:3",
    "0.1:0.4",
    "1e-300:1e300:4:log",
    "paper80,card",
    '"paper80","tissue"',
    "[0,0,0],[0,0,0.1]",
    "true,false",
    "nan,inf",
    "{}",
    "",
    ",",
    "a:b:c",
    "1e999,2",
    "0.01:0.02:100000",
    "-1,0",
    "{preset='card'},{preset='tissue'}",
    "5e-324,1",
    "0.05,0.06",
)
METRICS = ("faces", "mass", "energy", "mileage", "crease_area_share", "x", "", "[/x]", "run", "../..")


def random_plan(random: Random) -> Plan:
    """The plan of a sweep in words that mean something, put together at random; `InputError` where they do not fit."""

    def some(words: tuple[str, ...], most: int) -> list[str]:
        return [str(word) for word in random.choice(words, size=int(random.integers(most + 1)))]

    def pairs(most: int) -> tuple[str, ...]:
        """Something to vary, more often sensible than not."""
        odd = [f"{key}={random.choice(VALUES)}" for key in some(KEYS, most)] if random.random() < 0.3 else []
        plain = [str(text) for text in random.permutation(DRAWN if is_drawn else SENSIBLE)[: random.integers(most + 1)]]
        return (*plain, *odd)

    is_drawn = random.random() < 0.3
    scene = (
        Path(__file__).parent / "corpus" / "toml" / str(random.choice(["small.toml", "small.toml", "remeshing.toml"]))
    )
    given: Tables = {
        "vary": pairs(2),
        "frames": int(random.choice([1, 1, 1, 1, 2, 0, -1])),
        "quick": bool(random.random() < 0.05),
    }
    if random.random() < 0.3:
        given["set"] = tuple(str(text) for text in random.choice(GIVEN, size=2))
    if random.random() < 0.2:
        given["tie"] = tuple(f"{key}={random.choice([2, -1, 1e300])}*{random.choice(KEYS)}" for key in some(KEYS, 1))
    if is_drawn:
        count = int(random.choice([1, 2, 3, 4, 0, -2, 10**9]))
        given["sample"] = (count, str(random.choice(["sobol", "lhs", "random", "random", "x"])))
    if random.random() < 0.3:
        given["seeds"] = int(random.choice([0, 1, 2, 2, 2, -1, 10**9]))
    given["metrics"] = tuple(some(METRICS, 2 if random.random() < 0.2 else 0)) or DEFAULT
    return make_plan(str(scene), **given)


def feed_specification(folder: Path, number: int) -> str:
    """What a sweep is told to vary; if it passes the checks, its first and last runs are done."""
    random = np.random.default_rng([number, 14])
    try:
        plan = random_plan(random)
        _, scenes = check_plan(plan, folder / "sweep", lambda note: None)
    except InputError as error:
        return f"refused: {error}"
    outcomes = []
    for k in sorted({0, len(plan.runs) - 1}):
        place = folder / "runs" / plan.runs[k].name
        outcome = perform(Task(plan.id, plan.runs[k].name, scenes[k], str(place), plan.metrics))
        assert "internal" not in outcome.reason, outcome.reason
        assert outcome.reason == "" or not outcome.reason.split(":")[0].endswith("Error"), outcome.reason
        json.dumps(outcome.line())
        if outcome.frames:
            checked = CliRunner().invoke(app, ["verify", str(place)])
            assert checked.exit_code in (DONE, FAILED), checked.output
            assert "internal error" not in checked.output, checked.output
        outcomes.append(outcome.outcome)
    return f"{outcomes[-1]}: {len(plan.runs)} runs"


ACTIONS: tuple[tuple[str, Tables], ...] = (
    ("advance", {"dt": 0.01}),
    ("advance", {"dt": 0.01}),
    ("advance_frame", {}),
    ("grab", {"name": "left", "u": [0.0, 0.0]}),
    ("grab", {"name": "right", "u": [0.06, 0.06]}),
    ("move", {"hand": "left", "position": [0.0, 0.0, 0.05]}),
    ("move", {"hand": "right", "position": [0.0, 0.0, 0.02]}),
    ("release", {"name": "left"}),
    ("undo", {}),
    ("redo", {}),
    ("reset", {}),
    ("calm", {}),
    ("set_gravity", {"acceleration": [0.0, 0.0, -9.81]}),
)
ODD: tuple[Any, ...] = (
    *(0.0, -1.0, 1e-300, 1e300, 10**400, True, None, "left", "", [], [1, 2], {"a": 1}),
    *([1e300, 0, 0], [0, 0, 0], ["a", "b", "c"], [[0, 0, 0]], [None] * 3, "x" * 300),
)


def random_script(random: Random) -> Any:
    """The content of a script: a few actions of a session, some with odd arguments."""
    listed: list[Any] = [["grab", {"name": "left", "u": [0.0, 0.0]}]]
    for _ in range(int(random.integers(3, 9))):
        method, arguments = ACTIONS[random.integers(len(ACTIONS))]
        arguments = dict(arguments)
        if random.random() < 0.15:
            name = str(random.choice([*arguments, "self", "name", "count", "_x"]))
            arguments[name] = ODD[random.integers(len(ODD))]
        if random.random() < 0.05:
            method = str(random.choice(["save", "record", "__init__", "_step", "close", "nothing", ""]))
        listed.append([method, arguments] if random.random() < 0.97 else ODD[random.integers(len(ODD))])
    return {"crumple_script": 1 if random.random() < 0.97 else ODD[random.integers(len(ODD))], "actions": listed}


def feed_script(folder: Path, number: int) -> str:
    """A script of a session, with odd arguments, from a file; what it leaves is safe, and comes again to the bit."""
    random = np.random.default_rng([number, 15])
    path = folder / "script.json"
    path.write_text(json.dumps(random_script(random)))
    tables = {"run": {"frame_time": 0.01}, "sheets": [{"name": "s", "material": "paper80", "shape": SHEET}]}
    model, state, _ = build(scene_from_tables(tables, source="s.toml", folder=str(folder)))
    session, watched = Session(PhysicsEngine(model, state)), Exact()
    try:
        script = Script.load(path)
    except InputError as error:
        return f"refused: {error}"
    done = 0
    for action in script.actions:
        try:
            session.play(Script((Action(action.method, action.arguments),)))
            done += 1
        except (InputError, SimulationError):
            pass
        watched.on_start(session.model, session.state)
    return f"done: {done} of {len(script.actions)} actions"
