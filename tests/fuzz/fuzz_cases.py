"""Cases of the fuzzer: what it feeds to the program, made from kept seeds by numbered mutations, and what may happen.

A case is a target and a number; the same number always gives the same bytes. Whatever they are, the program answers
with a result or with a CrumpleError: a traceback, a crash, a hang or a greedy allocation is a finding.
"""

from __future__ import annotations

import atexit
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from typer.testing import CliRunner

from crumple import energy
from crumple.cli.app import app
from crumple.cli.exits import DONE, FAILED
from crumple.mesh import read_obj, sheet_from_obj, surface_from_obj
from crumple.recording import Recording
from crumple.runtime.errors import CrumpleError
from crumple.scenes import check_scene
from crumple.studies.datasets import load_dataset, write_dataset
from crumple.studies.datasets.load import Run
from crumple.studies.datasets.sources import find_sources
from crumple.studies.sweeping import SweepFolder, read_sweep
from crumple.studies.sweeping.folder import create_sweep
from crumple.studies.sweeping.plan import make_plan
from crumple.studies.sweeping.table import recordings, write_table
from crumple.studio.runs import StudioRun

sys.path.insert(0, str(Path(__file__).parents[1] / "samples"))
from fuzz_runs import feed_history, feed_script, feed_specification
from recording_samples import make_recording
from stepped_scenes import feed_stepped

CORPUS = Path(__file__).parent / "corpus"
"""Seeds by target; numbered cases are made from them, so another seed gives the numbers other cases."""
FOUND = Path(__file__).parent / "found"
"""Inputs by target that once broke something."""
NUMBERS = "0 -0.0 1 -1 2 0.5 1e-9 -1e-9 1e9 1e-300 5e-324 1e200 1e308 1e999 nan inf -inf 2147483648 9223372036854775808"
TOKENS = {
    "toml": "[ ] { } [[ ]] = , . # \" ' ''' \"\"\" \\ true false sheets obstacles motions keys shape kind material run",
    "arcsim": '{ } [ ] , : " \\" // /* */ null true false NaN Infinity cloths mesh materials data motions handles',
    "material": '{ } [ ] , : " \\" // /* */ null true false NaN density stretching bending',
    "fold": '{ } [ ] , : " null true false -180 90 "M" "V" "C" "J" file_frames frame_inherit edges_foldAngle',
    "svg": '< > / = " &amp; <!DOCTYPE <g> </g> <path d="M0 0C1 1 2 2 9 9A5 5 0 1 1 3 4Z" stroke="red"/> opacity',
    "obj": "v vt vn f e el nl vv ny usemtl # \\ / // 1/1 1//1 -1 0 material_1",
    "sweep": '[ ] { } = , : " # true null run vary sample seeds id metrics event outcome contact.friction=0.1 ../..',
}
"""Words that mean something in a format."""


def make_text(target: str, number: int) -> bytes:
    """The bytes of a case: seeds joined, cut, doubled and sprinkled with numbers, words and noise."""
    random = np.random.default_rng([number, sum(target.encode())])
    seeds = sorted((CORPUS / target).iterdir())
    data = seeds[random.integers(len(seeds))].read_bytes()
    for _ in range(random.geometric(0.35)):
        data = _MUTATIONS[random.integers(len(_MUTATIONS))](data, random, target)
    return data[:200_000]


def _span(data: bytes, random: np.random.Generator, most: int = 60) -> tuple[int, int]:
    begin = int(random.integers(len(data) + 1))
    return begin, min(len(data), begin + int(random.integers(1, most)))


def _flip(data: bytes, random: np.random.Generator, target: str) -> bytes:
    changed = bytearray(data)
    for place in random.integers(len(data), size=random.integers(1, 8)) if data else ():
        changed[place] = random.integers(256)
    return bytes(changed)


def _cut(data: bytes, random: np.random.Generator, target: str) -> bytes:
    begin, end = _span(data, random)
    return data[:begin] + data[end:]


def _truncate(data: bytes, random: np.random.Generator, target: str) -> bytes:
    return data[: int(random.integers(len(data) + 1))]


def _repeat(data: bytes, random: np.random.Generator, target: str) -> bytes:
    begin, end = _span(data, random)
    return data[:end] + data[begin:end] * int(2 ** random.integers(1, 12)) + data[end:]


def _word(data: bytes, random: np.random.Generator, target: str) -> bytes:
    words = (TOKENS[target] + " " + NUMBERS).split()
    place = int(random.integers(len(data) + 1))
    return data[:place] + b" " + words[random.integers(len(words))].encode() + b" " + data[place:]


def _number(data: bytes, random: np.random.Generator, target: str) -> bytes:
    found = list(re.finditer(rb"-?\d+(?:\.\d+)?(?:e-?\d+)?", data))
    if not found:
        return data
    chosen, numbers = found[random.integers(len(found))], NUMBERS.split()
    return data[: chosen.start()] + numbers[random.integers(len(numbers))].encode() + data[chosen.end() :]


def _scale(data: bytes, random: np.random.Generator, target: str) -> bytes:
    """One number times a power of ten: still sensible, of another size."""
    found = list(re.finditer(rb"-?\d+(?:\.\d+)?(?:e-?\d+)?", data))
    if not found:
        return data
    chosen = found[random.integers(len(found))]
    number = float(chosen[0]) * 10.0 ** random.integers(-4, 5)
    return data[: chosen.start()] + repr(number).encode() + data[chosen.end() :]


def _line(data: bytes, random: np.random.Generator, target: str) -> bytes:
    """Two lines swapped, or one left out."""
    lines = data.split(b"\n")
    a, b = random.integers(len(lines), size=2)
    lines[a], lines[b] = lines[b], lines[a]
    if random.random() < 0.3:
        del lines[a]
    return b"\n".join(lines)


def _splice(data: bytes, random: np.random.Generator, target: str) -> bytes:
    seeds = sorted((CORPUS / target).iterdir())
    other = seeds[random.integers(len(seeds))].read_bytes()
    return data[: int(random.integers(len(data) + 1))] + other[int(random.integers(len(other) + 1)) :]


_MUTATIONS: list[Callable[[bytes, np.random.Generator, str], bytes]] = [
    _flip,
    _cut,
    _truncate,
    _repeat,
    _word,
    _number,
    _number,
    _scale,
    _scale,
    _line,
    _splice,
]


def _check_file(data: bytes, folder: Path, name: str) -> None:
    (folder / name).write_bytes(data)
    report = check_scene(folder / name)
    for line in (*report.errors, *report.notes):
        assert line.isprintable(), line
        assert len(line) < 1500, line


def feed_toml(data: bytes, folder: Path) -> None:
    """A scene; meshes it names lie beside it."""
    for seed in (CORPUS / "obj").iterdir():
        shutil.copy(seed, folder / seed.name)
    _check_file(data, folder, "scene.toml")


def feed_arcsim(data: bytes, folder: Path) -> None:
    """A scene of ARCSim."""
    for seed in (*(CORPUS / "obj").iterdir(), *(CORPUS / "material").iterdir()):
        shutil.copy(seed, folder / seed.name)
    _check_file(data, folder, "scene.json")


def feed_obj(data: bytes, folder: Path) -> None:
    """A mesh, as a sheet in all its readings and as an obstacle."""
    (folder / "mesh.obj").write_bytes(data)
    for pattern in ("auto", "uv", "world"):
        try:
            read = read_obj(folder / "mesh.obj")
            surface_from_obj(read)
            sheet_from_obj(read, pattern)
        except CrumpleError:
            pass


def feed_material(data: bytes, folder: Path) -> None:
    """A measured material in a scene."""
    (folder / "cloth.json").write_bytes(data)
    scene = '[[sheets]]\nshape = { kind = "disk", radius = 0.1, size = 0.05 }\nmaterial = { file = "cloth.json" }\n'
    _check_file(scene.encode(), folder, "scene.toml")


def feed_fold(data: bytes, folder: Path) -> None:
    """A crease pattern in FOLD as a scene."""
    _check_file(data, folder, "pattern.fold")


def feed_svg(data: bytes, folder: Path) -> None:
    """A crease pattern in SVG as a scene."""
    _check_file(data, folder, "pattern.svg")


FEEDS: dict[str, Callable[[bytes, Path], None]] = {
    "toml": feed_toml,
    "arcsim": feed_arcsim,
    "obj": feed_obj,
    "material": feed_material,
    "fold": feed_fold,
    "svg": feed_svg,
}


@cache
def _sound_recording() -> Path:
    """A small recording, made once in a process."""
    folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    make_recording(folder / "run", 3)
    return folder / "run"


def damage_recording(folder: Path, number: int) -> None:
    """A small recording in `folder` with one file damaged, doubled, swapped or gone, or one value changed."""
    random = np.random.default_rng([number, 7])
    shutil.copytree(_sound_recording(), folder)
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    victim, other = (files[k] for k in random.integers(len(files), size=2))
    data, kind = victim.read_bytes(), random.integers(12)
    if kind == 0:
        victim.unlink()
    elif kind == 1:
        victim.write_bytes(other.read_bytes())
    elif kind == 2:
        victim.write_bytes(_truncate(data, random, "obj"))
    elif kind == 3:
        victim.write_bytes(_repeat(data, random, "obj"))
    elif kind == 4:
        victim.rename(victim.with_name("frame_000009.vtkhdf"))
    elif kind < 7 or victim.suffix not in (".vtkhdf", ".h5"):
        victim.write_bytes(_flip(data, random, "obj"))
    else:
        _edit_values(victim, random)


def _edit_values(path: Path, random: np.random.Generator) -> None:
    """Change, shorten, retype or delete one dataset or attribute of an HDF5 file, behind the back of its checksums."""
    with h5py.File(path, "r+") as file:
        names: list[str] = []
        file.visit(names.append)
        item = file[names[random.integers(len(names))]] if names else file
        if len(item.attrs) and random.random() < 0.4:
            key = sorted(item.attrs)[random.integers(len(item.attrs))]
            item.attrs[key] = _other_value(np.asarray(item.attrs[key]), random)
        elif isinstance(item, h5py.Dataset) and item.name is not None:
            value, name, parent = np.asarray(item[()]), item.name, item.parent
            del parent[name]
            if random.random() < 0.8:
                parent[name] = _other_value(value, random)


def _other_value(value: np.ndarray, random: np.random.Generator) -> Any:
    """A value like the given one, but wrong."""
    if value.dtype.kind not in "iuf" or random.random() < 0.2:
        return [np.zeros(3), "words", np.zeros((2, 2), complex), np.int64(-1)][random.integers(4)]
    kind = random.integers(3)
    if kind == 0 and value.ndim:
        return value[: int(random.integers(len(value) + 1))]
    if kind == 1:
        return value.astype([np.float32, np.int8, np.uint64][random.integers(3)])
    changed = value.copy().reshape(-1)
    if len(changed):
        extremes = [0, -1, 1, 2**31 - 1] + ([] if value.dtype.kind in "iu" else [np.nan, np.inf, 1e300])
        with np.errstate(all="ignore"):
            number = np.array(extremes[random.integers(len(extremes))])
            changed[random.integers(len(changed), size=3)] = number.astype(value.dtype)
    return changed.reshape(value.shape)


def _read_all(folder: Path) -> None:
    """Read what notebooks read."""
    recording = Recording(folder)
    for read in (recording.model, recording.table, *(partial(recording.load, frame) for frame in recording.frames)):
        with suppress(CrumpleError):
            read()


@cache
def _sound_dataset() -> Path:
    """The small recording as a dataset, made once in a process."""
    path = _sound_recording().with_name("data.h5")
    write_dataset(_sound_recording(), path)
    return path


def feed_dataset(folder: Path, number: int) -> None:
    """A dataset with damaged bytes, or with one value changed behind the back of its checksums."""
    random, path = np.random.default_rng([number, 8]), folder / "data.h5"
    shutil.copy(_sound_dataset(), path)
    kind = random.integers(6)
    if kind < 2:
        path.write_bytes((_flip, _truncate)[kind](path.read_bytes(), random, "obj"))
    else:
        _edit_values(path, random)
    with load_dataset(path) as data:
        reads: list[Callable[[], object]] = [lambda: data.datasheet]
        for run in data:
            reads += _reads(run)
        for read in reads:
            with suppress(CrumpleError):
                read()


def _reads(run: Run) -> list[Callable[[], object]]:
    """All that can be asked of a run of a dataset."""
    frames = range(min(len(run), 5))
    each = [partial(ask, k) for ask in (run.__getitem__, run.action, run.transfer) for k in frames]
    return [*each, run.positions, lambda: list(run.pairs()), lambda: run.scene, lambda: run.obstacle_faces]


@cache
def _sound_sweep() -> Path:
    """A sweep of four runs, two of which are done, made once in a process."""
    folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    plan = make_plan(
        str(CORPUS / "toml" / "small.toml"),
        vary=("contact.friction=0.1:0.3:2",),
        set=("sheets[0].jitter.amplitude=1e-5",),
        seeds=2,
    )
    with create_sweep(folder / "sweep", plan) as writer:
        writer.note("begin", left=4, workers=1)
        for run in plan.runs[:2]:
            shutil.copytree(_sound_recording(), writer.folder.recording_path(run))
            line = {"run": run.name, "outcome": "done", "reason": "", "frames": 2, "time": 0.08, "seconds": 0.4}
            writer.note("run", **line, metrics={"faces": 40, "mass": 1e-3, "mileage": None})
        write_table(writer.folder)
    return folder / "sweep"


def feed_sweep(folder: Path, number: int) -> None:
    """A sweep with one of its files damaged."""
    random, place = np.random.default_rng([number, 9]), folder / "sweep"
    shutil.copytree(_sound_sweep(), place)
    victim = place / ("sweep.toml", "scene.toml", "log.jsonl", "table.csv")[random.integers(4)]
    data = victim.read_bytes()
    changes = [one for one in _MUTATIONS if one is not _splice]
    for _ in range(random.geometric(0.35)):
        data = changes[random.integers(len(changes))](data, random, "sweep")
    victim.write_bytes(data[:200_000])
    reads = (read_sweep, recordings, lambda path: SweepFolder(path).unfinished(), lambda path: find_sources([path]))
    for read in reads:
        with suppress(CrumpleError):
            read(place)


def run_case(target: str, number: int, folder: Path) -> None:
    """Feed one case to the program, in an empty `folder`; anything but a proper answer raises."""
    if target in FEEDS:
        FEEDS[target](make_text(target, number), folder)
        return
    if target in RUNS:
        print(f"answer {RUNS[target](folder, number)}", flush=True)
        return
    if target in OTHERS:
        with suppress(CrumpleError):
            OTHERS[target](folder, number)
        return
    damage_recording(folder / "run", number)
    for command in ("info", "verify"):
        result = CliRunner().invoke(app, [command, str(folder / "run")])
        assert result.exit_code in (DONE, FAILED, 2), (command, result.exit_code, result.exception)
        assert "internal error" not in result.output, (command, result.output)
    with suppress(CrumpleError):
        _read_all(folder / "run")


def feed_planted(folder: Path, number: int) -> None:
    """A recording in which files are pipes, folders, endless or links to devices: read by all that reads."""
    random, place = np.random.default_rng([number, 10]), folder / "run"
    shutil.copytree(_sound_recording(), place)
    files = sorted(path for path in place.rglob("*") if path.is_file())
    for _ in range(int(random.integers(1, 3))):
        victim = files[random.integers(len(files))]
        if victim.is_dir():
            continue
        victim.unlink(missing_ok=True)
        kind = random.integers(5)
        if kind == 0:
            os.mkfifo(victim)
        elif kind == 1:
            victim.symlink_to(("/dev/zero", "/dev/random", "/proc/self/mem", "/", str(victim))[random.integers(5)])
        elif kind == 2:
            victim.mkdir()
        elif kind == 3:
            with victim.open("wb") as file:
                file.truncate(2 ** int(random.integers(20, 44)))
        else:
            sound = _sound_recording() / "frames/frame_000001.vtkhdf"
            shutil.copy(sound, victim.with_name(f"frame_{10 ** int(random.integers(5, 18)):06d}.vtkhdf"))
    for command in ("info", "verify", "resume --frames 4", "analyze", "export --to obj"):
        words = command.split()
        result = CliRunner().invoke(app, [words[0], str(place), *words[1:]])
        assert result.exit_code in (DONE, FAILED, 2), (command, result.exit_code, result.exception)
        assert "internal error" not in result.output, (command, result.output)
    StudioRun(place).series()
    StudioRun(place).refresh()


def feed_energy(folder: Path, number: int) -> None:
    """A declaration of an energy of one's own with odd names, shapes, bodies and values."""
    random = np.random.default_rng([number, 12])
    names = ["k", "time", "x0", "K" * 64, "K" * 300, "für", "_", "class", "p q", ""]
    shapes: list[Any] = [(), (3,), (3, 2), (0,), (-1,), (10**6,), (2, 2, 2, 2), 3, [3], (10**400,), (1.5,), ("a",)]
    bodies = [
        "k",
        "x0[0]",
        "x0[9]",
        "k*10**400",
        "1/0",
        "x0@x0",
        "None",
        "(1, 2)",
        "x0[0]**0.5",
        "abs(x0[0])",
        "nan",
        "k[0]",
    ]
    values: list[Any] = [1.0, np.nan, 10**400, "a", [1, 2, 3], None, 1j, np.zeros((3, 2)), [[]], True]
    name, body = names[random.integers(len(names))], bodies[random.integers(len(bodies))]
    space: dict[str, Any] = {}
    try:
        exec(f"def own(x0, {name or 'k'}):\n    k = {name or 'k'}\n    return {body}", space)
    except SyntaxError:
        return
    kinds = ["nodes", "edges", "", "node", None]
    parameters = {name or "k": shapes[random.integers(len(shapes))]}
    own = energy(elements=kinds[0 if random.random() < 0.8 else random.integers(5)], parameters=parameters)(
        space["own"]
    )
    own.of(np.zeros((2, 1), np.int32), {name or "k": values[random.integers(len(values))]})


OTHERS: dict[str, Callable[[Path, int], None]] = {
    "dataset": feed_dataset,
    "sweep": feed_sweep,
    "planted": feed_planted,
    "energy": feed_energy,
}
RUNS: dict[str, Callable[[Path, int], str]] = {
    "stepped": feed_stepped,
    "history": feed_history,
    "specification": feed_specification,
    "script": feed_script,
}
"""Targets that are run for some frames, and tell what they came to."""
TARGETS = (*FEEDS, "recording", *OTHERS, *RUNS)
