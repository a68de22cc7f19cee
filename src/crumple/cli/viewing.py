"""`crumple view`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from crumple.cli.consoles import make_console
from crumple.cli.notices import show_notes
from crumple.recording.folder import check_vacant
from crumple.runtime.errors import InputError
from crumple.runtime.packages import load_package
from crumple.studies.sweeping import is_sweep

if TYPE_CHECKING:
    from crumple.scenes import Scene

MOST_SHOWN = 1000
"""Runs of a sweep, or recordings in a folder, that the studio lists."""


def view_sources(
    sources: Sequence[str],
    *,
    out: Path | None,
    frames: int | None,
    until: float | None,
    overrides: Sequence[str],
    quick: bool,
    force: bool,
    host: str,
    port: int | None,
    browser: bool,
) -> None:
    """Show recordings, and scenes while they are simulated, in a browser until Ctrl-C."""
    load_package("aiohttp", "crumple view")
    from crumple.studio.runs import SceneRun, StudioRun
    from crumple.studio.serve import serve_studio

    scenes = {source: _load(source, frames, until, overrides, quick) for source in sources if not Path(source).is_dir()}
    folders = scene_folders(scenes, out)
    for source, folder in folders.items():
        show_notes(scenes[source].notes)
        check_vacant(folder, force)
    runs = []
    for source in (source for source in sources if source not in scenes):  # complains before anything starts
        runs += [StudioRun(folder, label=label) for folder, label in _recordings(Path(source))]
    for source, folder in folders.items():
        runs.append(StudioRun(folder, SceneRun(scenes[source], folder, force)))
    console = make_console(stderr=True)

    def announce(line: str) -> None:
        console.print(line, highlight=False, markup=False, soft_wrap=True)

    serve_studio(runs, host=host, port=port, browser=browser, announce=announce)


def _load(source: str, frames: int | None, until: float | None, overrides: Sequence[str], quick: bool) -> Scene:
    """The scene; what reads it is loaded only now, so that recordings open at once."""
    from crumple.scenes.length import load_with_length

    return load_with_length(source, frames, until, overrides=overrides, quick=quick)


def _recordings(path: Path) -> list[tuple[Path, str]]:
    """The recording at `path`, or those of a sweep, or those in the folder, each with what it is called, "" for its
    name."""
    if is_sweep(path):
        return sweep_recordings(path)
    below = [] if (path / "frames").is_dir() else sorted(frames.parent for frames in path.glob("*/frames"))
    if len(below) > MOST_SHOWN:
        show_notes([f"{path}: the first {MOST_SHOWN} of {len(below)} recordings; name others to see them"])
    return [(folder, "") for folder in below[:MOST_SHOWN]] or [(path, "")]


def sweep_recordings(path: Path) -> list[tuple[Path, str]]:
    """The recordings of a sweep with what was varied in each, at most MOST_SHOWN, of which a note tells."""
    from crumple.studies.sweeping import SweepFolder  # loads what reads scenes, which recordings do not need

    folder = SweepFolder(path)
    there = [(folder.recording_path(run), run.describe() or run.name) for run in folder.plan.runs]
    there = [(place, label) for place, label in there if (place / "frames").is_dir()]
    if not there:
        raise InputError(str(path), "has no run to show yet")
    if len(there) > MOST_SHOWN:
        show_notes(
            [f"{path}: the first {MOST_SHOWN} of {len(there)} runs; name recordings in {path}/runs to see others"]
        )
    return there[:MOST_SHOWN]


def scene_folders(scenes: dict[str, Scene], out: Path | None) -> dict[str, Path]:
    """Where each scene is recorded: `out`, or out/SCENE as `crumple run` does it; `InputError` when two would meet."""
    if out is not None and len(scenes) != 1:
        raise InputError("--out", f"is for one scene, not for {len(scenes)}", str(out))
    folders = {source: out if out is not None else Path("out") / (Path(source).stem or "scene") for source in scenes}
    if len(set(folders.values())) < len(folders):
        raise InputError("crumple view", "two scenes would be recorded in one folder; view them one by one with --out")
    return folders
