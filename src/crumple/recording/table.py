"""The step log as tables for pandas."""

from __future__ import annotations

from math import hypot
from typing import Any

from crumple.recording.log import Line
from crumple.runtime.packages import load_package

TABLES = ("steps", "frames")


def step_table(lines: list[Line]) -> Any:
    """A `pandas.DataFrame` with a row per step: what the log says of it, energies [J] as `energy_…`, losses in the
    step [J] as `loss_…`, and of each handle and obstacle `force_…` [N] on the sheets and `displacement_…` [m] with
    their parts `…_x`, `…_y`, `…_z`, and `work_…` [J] in the step. An obstacle called like a handle is
    `…_NAME_obstacle`."""
    rows = [_flat({key: value for key, value in line.items() if key != "frame_end"}) for line in lines]
    return load_package("pandas", "Recording.table").DataFrame(rows)


def frame_table(lines: list[Line]) -> Any:
    """A `pandas.DataFrame` indexed by frame with the sums of each finished frame: seconds of wall time by phase as
    `phase_…`, energies [J] at its end as `energy_…`, forces [N] and displacements [m] of handles and obstacles at its
    end, and their work in the frame [J], as in `step_table`."""
    pandas = load_package("pandas", "Recording.table")
    rows, work = [], dict[str, float]()
    for line in lines:
        for name, pull in _pulls(line).items():
            work[name] = work.get(name, 0.0) + (pull.get("work") or 0.0)
        if "frame_end" in line:
            ended = _flat(_frame(line)) | _flat({key: line.get(key, {}) for key in ("handles", "obstacles")})
            rows.append(ended | {f"work_{name}": done for name, done in work.items()})
            work = {}
    return pandas.DataFrame(rows).set_index("frame") if rows else pandas.DataFrame(index=pandas.Index([], name="frame"))


def _frame(line: Line) -> Line:
    """The numbers of a frame; the energies are those of its last step where the frame has none of its own."""
    end = line["frame_end"]
    return {**end, "energies": end.get("energies") or line.get("energies", {})}


def _flat(line: Line) -> Line:
    """Nested tables as columns of their own, lists as text."""
    flat: Line = {}
    for name, pull in _pulls(line).items():
        flat |= _pull(name, pull)
    for key, value in line.items():
        if key in ("handles", "obstacles"):
            continue
        if isinstance(value, dict):
            singular = {"energies": "energy", "phases": "phase", "losses": "loss"}.get(key, key)
            flat |= {f"{singular}_{name}": number for name, number in value.items()}
        else:
            flat[key] = "; ".join(map(str, value)) if isinstance(value, list) else value
    return flat


def _pulls(line: Line) -> dict[str, Line]:
    """What handles and obstacles do, by name."""
    handles, obstacles = line.get("handles", {}), line.get("obstacles", {})
    return {**handles, **{f"{name}_obstacle" if name in handles else name: pull for name, pull in obstacles.items()}}


def _pull(name: str, pull: Line) -> Line:
    """What a handle or an obstacle does as columns."""
    columns: Line = {}
    for key in ("force", "displacement"):
        parts = [float("nan") if part is None else part for part in pull.get(key, ())]
        columns[f"{key}_{name}"] = hypot(*parts)
        columns |= {f"{key}_{name}_{axis}": part for axis, part in zip("xyz", parts, strict=False)}
    return columns | {f"work_{name}": pull.get("work")}
