"""`crumple play`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from crumple.cli.consoles import make_console
from crumple.runtime.errors import InputError
from crumple.runtime.packages import load_package

if TYPE_CHECKING:
    from crumple.scenes import Scene
    from crumple.studio.sheet_process import Playable


def play_scene(
    source: str,
    *,
    engine: str,
    overrides: Sequence[str],
    replay: Path | None,
    out: Path | None,
    shown: bool,
    force: bool,
    host: str,
    port: int | None,
    browser: bool,
) -> None:
    """Serve a sheet to play with, or play a script again without a page."""
    if replay is not None:
        return replay_script(load_sheet(source, overrides), replay, out, force, engine=engine, shown=shown)
    load_package("aiohttp", "crumple play")
    if out is not None:
        raise InputError("--out", "is for --replay; a page saves where its button says", str(out))
    if shown:
        raise InputError("--shown", "is for --replay, which records")
    from crumple.studio.serve import serve_play

    console = make_console(stderr=True)

    def announce(line: str) -> None:
        console.print(line, highlight=False, markup=False, soft_wrap=True)

    serve_play(
        _checked(find_sheet(source, overrides), engine),
        engine=engine,
        host=host,
        port=port,
        browser=browser,
        announce=announce,
    )


def play_live(sources: Sequence[str], *, overrides: Sequence[str], host: str, port: int | None, browser: bool) -> None:
    """Serve the sheet of the one scene in `sources`."""
    if len(sources) != 1:
        raise InputError("--live", "is for one scene at a time", " ".join(sources))
    play_scene(
        sources[0], engine="physics", overrides=overrides, replay=None, out=None, shown=False, force=False,
        host=host, port=port, browser=browser,
    )  # fmt: skip


def find_sheet(source: str, overrides: Sequence[str] = ()) -> Playable:
    """What to play with: the tables of a sheet, which need no check and load nothing, or a scene that was checked."""
    from crumple.studio.sheets import SHEETS, sheet_tables

    return sheet_tables(source) if source in SHEETS and not overrides else load_sheet(source, overrides)


def load_sheet(source: str, overrides: Sequence[str] = ()) -> Scene:
    """The scene of one of the sheets to play with, or any other scene."""
    from crumple.scenes import load_scene, scene_from_tables
    from crumple.studio.sheets import SHEETS, sheet_tables

    if source in SHEETS:
        return scene_from_tables(sheet_tables(source), source=source, overrides=overrides)
    return load_scene(source, overrides)


def _checked(scene: Playable, engine: str) -> Playable:
    """The same, after it was found out that another engine than the physics can take it."""
    if engine != "physics":
        from crumple.studio.play_process import simulate

        simulate(scene, engine)
    return scene


def replay_script(
    scene: Scene, path: Path, out: Path | None, force: bool, *, engine: str = "physics", shown: bool = False
) -> None:
    """Do what a script says and record it, without a page.

    With another engine than the physics the start is another one than the script may have been made with, and so is
    what comes of it.
    """
    from crumple.recording.folder import check_vacant
    from crumple.session.script import Script
    from crumple.session.simulation import Simulation
    from crumple.session.surroundings import FLOOR

    if out is None:
        raise InputError("--replay", "needs --out, the folder for the recording", str(path))
    script = Script.load(path)
    check_vacant(out, force)
    console = make_console(stderr=True)
    with Simulation(scene, engine=engine) as simulation:
        if engine == "physics":
            script.check_start(simulation.state)
        if any(action.method == "set_floor" for action in script.actions) and FLOOR not in simulation.obstacles:
            simulation.set_floor(None)  # all frames of a recording have the same obstacles
        simulation.record(out, force=force, shown=shown)
        simulation.play(script, check=False)
        frames, time = simulation.state.frame, simulation.time
        failed = [event for event in simulation.events() if event.kind == "trouble"]
    if failed:
        line = f"{len(failed)} steps failed, as they may have by hand; the first: {failed[0].message}"
        console.print(line, highlight=False, markup=False, soft_wrap=True)
    console.print(f"{out}: {frames} frames, {time:.2f} s", highlight=False, markup=False, soft_wrap=True)
