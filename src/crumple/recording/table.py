"""The step log as tables for pandas."""

from __future__ import annotations

from typing import Any

from crumple.errors import InputError
from crumple.recording.log import Line

TABLES = ("steps", "frames")


def step_table(lines: list[Line]) -> Any:
    """A `pandas.DataFrame` with a row per step: what the log says of it, energies [J] as `energy_…`."""
    rows = [_flat({key: value for key, value in line.items() if key != "frame_end"}) for line in lines]
    return _pandas().DataFrame(rows)


def frame_table(lines: list[Line]) -> Any:
    """A `pandas.DataFrame` indexed by frame with the sums of each finished frame: seconds of wall time by phase as
    `phase_…`, energies [J] at its end as `energy_…`."""
    pandas = _pandas()
    rows = [_flat(_frame(line)) for line in lines if "frame_end" in line]
    return pandas.DataFrame(rows).set_index("frame") if rows else pandas.DataFrame(index=pandas.Index([], name="frame"))


def _frame(line: Line) -> Line:
    """The numbers of a frame; the energies are those of its last step where the frame has none of its own."""
    end = line["frame_end"]
    return {**end, "energies": end.get("energies") or line.get("energies", {})}


def _flat(line: Line) -> Line:
    """Nested tables as columns of their own, lists as text."""
    flat: Line = {}
    for key, value in line.items():
        if isinstance(value, dict):
            singular = {"energies": "energy", "phases": "phase"}.get(key, key)
            flat |= {f"{singular}_{name}": number for name, number in value.items()}
        else:
            flat[key] = "; ".join(map(str, value)) if isinstance(value, list) else value
    return flat


def _pandas() -> Any:
    try:
        import pandas
    except ImportError as error:
        raise InputError("Recording.table", f"needs pandas: pip install 'crumple[notebook]' ({error})") from None
    return pandas
