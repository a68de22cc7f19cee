"""What a sweep runs: a scene, what is varied in it, and hence the runs, each with the overrides that
`crumple run --set` would take."""

from __future__ import annotations

import re
import tomllib
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import crumple
from crumple.analysis.columns import Column
from crumple.runtime.errors import InputError
from crumple.scenes import Scene, scene_from_tables
from crumple.scenes.length import with_length
from crumple.scenes.overrides import parse_override, parse_path
from crumple.scenes.toml import read_scene
from crumple.studies.sweeping.axes import Axis, parse_axis
from crumple.studies.sweeping.points import check_count, grid_points, sample_points
from crumple.studies.sweeping.ties import Tie, parse_tie

MOST_SEEDS = 100_000
COLUMNS = {
    "run": Column("", "number of the run"),
    "seed": Column("", "seed of its jitter"),
    "outcome": Column("", "done, failed or unfinished"),
    "reason": Column("", "why it failed, or what could not be measured"),
    "frames": Column("", "frames on disk after the initial one"),
    "time": Column("s", "simulated time that it has come to"),
    "seconds": Column("s", "wall time of its frames"),
    "recording": Column("", "folder of its recording, from that of the sweep"),
}
"""Of the table, beside what is varied and the metrics."""
_ID = re.compile(r"[0-9a-f]{32}")
_KINDS: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("scene", "folder", "version", "id"), (str,)),
    **dict.fromkeys(("set", "vary", "tie", "metrics", "terms"), (tuple,)),
    "seeds": (int,),
    "quick": (bool,),
    "frames": (int, type(None)),
    "until": (int, float, type(None)),
}
"""What the entries of a sweep.toml are."""


@dataclass(frozen=True)
class PlannedRun:
    """A run: its `name` (its number), the `overrides` of its scene, the `values` of what is varied, by key, and its
    `seed`, None without seeds."""

    name: str
    overrides: tuple[str, ...]
    values: dict[str, Any]
    seed: int | None = None

    def describe(self) -> str:
        """`thickness = 1e-05, friction = 0.3, seed 2`: the values by the last parts of their keys."""
        parts = [f"{short_key(key)} = {show_value(value)}" for key, value in self.values.items()]
        return ", ".join([*parts, *([] if self.seed is None else [f"seed {self.seed}"])])


@dataclass(frozen=True)
class Plan:
    """All that decides on the runs of a sweep.

    `scene` as it was named;  `tables` of the scene before any override, and the `folder` of the files that it names;
    `set` overrides of all runs;  `vary` and `tie` as in `--vary` and `--tie`;  `sample` (count, method) or None for the
    grid;  `seeds` how many, 0 for the scene's own;  `metrics` by name;  `terms`: the names of the user's own;
    `quick`, `frames`, `until` as for `crumple run`;  `version` of crumple;  `id` of the sweep, by which workers know
    its runs.
    """

    scene: str
    tables: dict[str, Any]
    folder: str
    set: tuple[str, ...] = ()
    vary: tuple[str, ...] = ()
    tie: tuple[str, ...] = ()
    sample: tuple[int, str] | None = None
    seeds: int = 0
    metrics: tuple[str, ...] = ()
    terms: tuple[str, ...] = ()
    quick: bool = False
    frames: int | None = None
    until: float | None = None
    version: str = crumple.__version__
    id: str = field(default_factory=lambda: uuid.uuid4().hex)

    @cached_property
    def axes(self) -> tuple[Axis, ...]:
        """What is varied."""
        return tuple(parse_axis(text, sampled=self.sample is not None) for text in self.vary)

    @cached_property
    def ties(self) -> tuple[Tie, ...]:
        """What follows it."""
        return tuple(parse_tie(text) for text in self.tie)

    @cached_property
    def runs(self) -> tuple[PlannedRun, ...]:
        """All runs, the seeds of one point after another."""
        points = grid_points(self.axes) if self.sample is None else sample_points(self.axes, *self.sample)
        seeds: Sequence[int | None] = range(self.seeds) if self.seeds else (None,)
        check_count(len(points) * len(seeds))
        jittered = self._jittered(tuple(f"{key}={text}" for key, text in points[0])) if self.seeds else ()
        width = max(4, len(str(len(points) * len(seeds) - 1)))
        runs: list[PlannedRun] = []
        for point in points:
            varied = tuple(f"{key}={text}" for key, text in point)
            values = {key: parse_override(text)[1] for (key, _), text in zip(point, varied, strict=True)}
            tied = tuple(tie.override(values) for tie in self.ties)
            for seed in seeds:
                sown = () if seed is None else tuple(f"sheets[{k}].jitter.seed={seed + k}" for k in jittered)
                runs.append(PlannedRun(f"{len(runs):0{width}d}", (*self.set, *varied, *tied, *sown), values, seed))
        return tuple(runs)

    def load(self, run: PlannedRun) -> Scene:
        """The scene of a run, as `crumple run` makes it."""
        return self._load(run.overrides)

    def check(self) -> None:
        """`InputError` when keys are given twice, or one takes back what another one has set."""
        if self.seeds < 0 or self.seeds > MOST_SEEDS:
            raise InputError("--seeds", f"must be 0 to {MOST_SEEDS}", self.seeds)
        known = [(parse_override(text)[0], "--set", text.partition("=")[0].strip()) for text in self.set]
        changed = [("--vary", axis.key) for axis in self.axes] + [("--tie", tie.key) for tie in self.ties]
        for option, key in changed:
            path = _parsed(key)
            if key in COLUMNS:
                raise InputError(f"{option} {key}", f"is a column of the table; vary one of its keys, {key}.…")
            for other, before, name in known:
                if other[: len(path)] == path:
                    verb = "is given twice" if other == path else f"would take back {before} {name}; put it first"
                    raise InputError(f"{option} {key}", verb)
            known.append((path, option, key))
            if self.seeds and path[-2:] == ("jitter", "seed"):
                raise InputError(f"{option} {key}", "--seeds varies this key too; leave one of them out")
        for tie in self.ties:
            if all(tie.leader != axis.key for axis in self.axes):
                raise InputError(f"--tie {tie.key}", "must follow a key that --vary varies", tie.leader)

    def _jittered(self, varied: tuple[str, ...]) -> tuple[int, ...]:
        """The numbers of the sheets whose jitter the seeds change."""
        scene = self._load((*self.set, *varied))
        found = tuple(k for k, sheet in enumerate(scene.sheets) if sheet.jitter is not None)
        if not found:
            remedy = (
                "the scene has no jitter that a seed could change; add --set sheets[0].jitter.amplitude=1e-5 (in m)"
            )
            raise InputError("--seeds", remedy, self.seeds)
        return found

    def _load(self, overrides: Sequence[str]) -> Scene:
        scene = scene_from_tables(
            self.tables, source=self.scene, folder=self.folder, overrides=overrides, quick=self.quick
        )
        return with_length(scene, self.frames, self.until)


def make_plan(scene: Scene | str | Path, **given: Any) -> Plan:
    """The plan for a built-in scene, a file or a `Scene`, with fields of `Plan`; `InputError` when keys clash."""
    if isinstance(scene, Scene):
        tables, label, folder = scene.tables(), scene.source or "scene", Path.cwd()
    else:
        tables, _, folder = read_scene(scene)
        if hasattr(tables, "settle"):  # of a crease pattern: how its creases are driven
            tables.settle(tables, ())
        label = str(scene)
    plan = Plan(label, dict(tables), str(folder), **given)
    plan.check()
    return plan


def plan_tables(plan: Plan) -> dict[str, Any]:
    """The plan as TOML has it, but for the scene's tables; what is not given is left out."""
    tables = {entry.name: getattr(plan, entry.name) for entry in fields(plan) if entry.name != "tables"}
    if plan.sample is not None:
        tables["sample"] = {"count": plan.sample[0], "method": plan.sample[1]}
    return {
        name: list(value) if isinstance(value, tuple) else value for name, value in tables.items() if value is not None
    }


def read_plan(text: str, scene: str, place: str) -> Plan:
    """The plan in the `text` of a sweep.toml, with the `scene` in TOML; `place` is what errors name."""
    try:
        tables, raw = tomllib.loads(text), tomllib.loads(scene)
        sample = tables.pop("sample", None)
        given: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in tables.items()
        }
        if sample is not None:
            given["sample"] = (int(sample["count"]), str(sample["method"]))
        plan = Plan(tables=raw, **given)
        _check_kinds(plan)
        plan.check()
        return plan
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        raise InputError(place, f"is not the plan of a sweep ({' '.join(str(error).split())})") from None


def _check_kinds(plan: Plan) -> None:
    """TypeError unless the entries are what a sweep writes: workers make a folder of the id, and remove it."""
    for name, kinds in _KINDS.items():
        value = getattr(plan, name)
        if type(value) not in kinds or (kinds == (tuple,) and any(type(text) is not str for text in value)):
            raise TypeError(f"{name} is of the wrong type")
    if not _ID.fullmatch(plan.id):
        raise TypeError("id is not that of a sweep")
    if plan.frames is not None and plan.frames < 1:
        raise TypeError("frames must be at least 1")


def differences(stored: Plan, given: Plan) -> list[str]:
    """The names of what is not the same in two plans, but for what belongs to the sweep and not to its runs."""
    other = replace(given, id=stored.id, version=stored.version)
    return [entry.name for entry in fields(stored) if getattr(stored, entry.name) != getattr(other, entry.name)]


def short_key(key: str) -> str:
    """The last part of a key path."""
    return str(next(step for step in reversed(parse_path(key)) if isinstance(step, str)))


def show_value(value: Any) -> str:
    """A value in few characters."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def short_keys(keys: Sequence[str]) -> Mapping[str, str]:
    """A short name for each key, the whole key where two would be alike."""
    names = [short_key(key) for key in keys]
    return {key: name if names.count(name) == 1 else key for key, name in zip(keys, names, strict=True)}


def _parsed(key: str) -> tuple[str | int, ...]:
    try:
        return parse_path(key)
    except InputError as error:
        raise InputError("--vary", error.remedy, key) from None
