"""`crumple play`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from crumple.cli.consoles import make_console
from crumple.runtime.errors import InputError
from crumple.runtime.packages import load_package
from crumple.scenes import Scene, load_scene, scene_from_tables


def play_scene(
    source: str,
    *,
    overrides: Sequence[str],
    replay: Path | None,
    out: Path | None,
    force: bool,
    host: str,
    port: int | None,
    browser: bool,
) -> None:
    """Serve a sheet to play with, or play a script again without a page."""
    scene = load_sheet(source, overrides)
    if replay is not None:
        return replay_script(scene, replay, out, force)
    load_package("aiohttp", "crumple play")
    if out is not None:
        raise InputError("--out", "is for --replay; a page saves where its button says", str(out))
    from crumple.studio.serve import serve_play

    console = make_console(stderr=True)

    def announce(line: str) -> None:
        console.print(line, highlight=False, markup=False, soft_wrap=True)

    serve_play(scene, host=host, port=port, browser=browser, announce=announce)


def load_sheet(source: str, overrides: Sequence[str] = ()) -> Scene:
    """The scene of one of the sheets to play with, or any other scene."""
    from crumple.studio.sheets import SHEETS, sheet_tables

    if source in SHEETS:
        return scene_from_tables(sheet_tables(source), source=source, overrides=overrides)
    return load_scene(source, overrides)


def replay_script(scene: Scene, path: Path, out: Path | None, force: bool) -> None:
    """Do what a script says and record it, without a page."""
    from crumple.recording.folder import check_vacant
    from crumple.session.script import Script
    from crumple.session.simulation import Simulation

    if out is None:
        raise InputError("--replay", "needs --out, the folder for the recording", str(path))
    script = Script.load(path)
    check_vacant(out, force)
    console = make_console(stderr=True)
    with Simulation(scene) as simulation:
        simulation.record(out, force=force)
        simulation.play(script)
        frames, time = simulation.state.frame, simulation.time
        failed = [event for event in simulation.events() if event.kind == "trouble"]
    if failed:
        line = f"{len(failed)} steps failed, as they may have by hand; the first: {failed[0].message}"
        console.print(line, highlight=False, markup=False, soft_wrap=True)
    console.print(f"{out}: {frames} frames, {time:.2f} s", highlight=False, markup=False, soft_wrap=True)
