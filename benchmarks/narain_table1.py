"""Our seconds per frame by phase beside Table 1 of [Narain2013].

    python benchmarks/narain_table1.py                        run all four scenes and print the table
    python benchmarks/narain_table1.py fold crumple --frames 50
    python benchmarks/narain_table1.py fold=out/fold          read a recording instead of running
    python benchmarks/narain_table1.py fold=conf/fold.json --step 0.001    an ARCSim file with its own 1 ms steps

Phases are mapped to the columns of the table: contact search, barrier and continuous collision detection are
"collision"; "integration" is all the rest of a step, linear algebra of contacts included, as contact is part of the
implicit solve here. "comparable" averages only the frames whose face count is within a factor of the paper's.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crumple.recording import Recording
from crumple.runtime.errors import InputError
from crumple.studies.benchmarking import describe_machine

COLUMNS = ("integration", "plasticity", "collision", "remeshing", "projection")
PHASES = {
    "plasticity": ("plasticity",),
    "collision": ("contact", "collision"),
    "remeshing": ("remeshing",),
    "projection": ("projection",),
}
"""Our phases in each column; integration is what is left of a frame."""
COMPARABLE = 1.5
"""Largest factor between face counts that are called comparable."""


@dataclass(frozen=True)
class Times:
    """Mean faces and mean seconds per frame, by column; `frames` that were averaged."""

    faces: float
    seconds: dict[str, float]
    total: float
    frames: int = 0


PAPER = {
    "crumple": Times(6950, dict(zip(COLUMNS, (61.6, 14.9, 75.0, 0.42, 13.9), strict=True)), 168.8),
    "fold": Times(3670, dict(zip(COLUMNS, (9.43, 7.28, 4.31, 0.14, 1.67), strict=True)), 22.8),
    "airplane": Times(2070, dict(zip(COLUMNS, (2.88, 3.31, 3.03, 4.73, 0.73), strict=True)), 14.7),
    "tshirt": Times(13400, dict(zip(COLUMNS, (21.7, 6.55, 16.0, 0.49, 0.0), strict=True)), 44.7),
}
"""[Narain2013] Table 1, seconds per frame of 40 ms; no projection of the T-shirt."""


def frame_ends(lines: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The sums of each frame in a step log."""
    return [line["frame_end"] for line in lines if "frame_end" in line]


def average(ends: Sequence[dict[str, Any]]) -> Times | None:
    """Mean times of the frames; None without any."""
    if not ends:
        return None
    count = len(ends)
    total = sum(end["seconds"] for end in ends) / count
    seconds = {
        column: sum(end["phases"].get(phase, 0.0) for end in ends for phase in phases) / count
        for column, phases in PHASES.items()
    }
    seconds["integration"] = total - sum(seconds.values())
    return Times(sum(end["faces"] for end in ends) / count, seconds, total, count)


def comparable(ends: Sequence[dict[str, Any]], faces: float) -> list[dict[str, Any]]:
    """The frames with about as many faces as the paper's average."""
    return [end for end in ends if faces / COMPARABLE <= end["faces"] <= faces * COMPARABLE]


def table_rows(name: str, ends: Sequence[dict[str, Any]]) -> list[str]:
    """The rows of one scene: the paper's, ours over all frames, ours over comparable frames."""
    paper = PAPER[name]
    rows = [_row(f"{name}, paper", paper, None)]
    for label, times in (("all", average(ends)), ("comparable", average(comparable(ends, paper.faces)))):
        if times is not None:
            rows.append(_row(f"{name}, {label} {times.frames} frames", times, paper))
        else:
            rows.append(f"{name}, {label}: no frames")
    return rows


def heading() -> str:
    """The line above the rows."""
    return f"{'seconds per frame':34s}{'faces':>8s}" + "".join(f"{column:>13s}" for column in (*COLUMNS, "total"))


def _row(label: str, times: Times, paper: Times | None) -> str:
    columns = "".join(f"{times.seconds[column]:13.3f}" for column in COLUMNS)
    ratio = "" if paper is None else f"  {paper.total / times.total:6.1f} × as fast"
    return f"{label:34s}{times.faces:8.0f}{columns}{times.total:13.3f}{ratio}"


def log_of(name: str, source: str | None, options: argparse.Namespace) -> list[dict[str, Any]]:
    """The step log of a recording, or of a run of a scene into one."""
    if source is not None and Path(source).is_dir():
        return Recording(source).steps()
    from crumple.cli.running import run_scene

    out = Path(options.out) / (name if options.step is None else f"{name}-fixed")
    overrides = [*options.set, *([] if options.step is None else [f"solver.fixed_step={options.step}"])]
    run_scene(
        source or name, out=out, frames=options.frames, until=None, overrides=overrides, quick=options.quick, force=True
    )
    return Recording(out).steps()


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(description="Our times beside Table 1 of Narain 2013.")
    parser.add_argument("scenes", nargs="*", metavar="NAME[=SCENE or RECORDING]", help=f"of {', '.join(PAPER)}")
    parser.add_argument("--frames", type=int, help="run only this many frames")
    parser.add_argument("--step", type=float, help="fixed time step [s], such as the files' 0.001")
    parser.add_argument("--quick", action="store_true", help="the scenes' coarse and short variants")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="override a value of the scene")
    parser.add_argument("--out", default="out/narain", help="folder for the recordings")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> None:
    options = parse(arguments)
    chosen = [text.partition("=") for text in options.scenes or PAPER]
    for name, _, _ in chosen:
        if name not in PAPER:
            raise InputError("scene", f"Table 1 has {', '.join(PAPER)}", name)
    machine = describe_machine()
    print(f"{machine['processor']}, {machine['cores']} cores, {machine['threads']} threads, {machine['linear solver']}")
    steps = "adaptive steps" if options.step is None else f"fixed steps of {options.step:g} s"
    rows = [
        row for name, _, source in chosen for row in table_rows(name, frame_ends(log_of(name, source or None, options)))
    ]
    print(f"{steps}; recordings that were read keep their own")
    print("\n".join([heading(), *rows]))


if __name__ == "__main__":
    main()
