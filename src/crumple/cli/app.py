"""The commands. Each loads what it needs when it is called, so that `crumple --help` answers at once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import crumple
from crumple.cli.exits import FAILED, guarded
from crumple.cli.threads import set_threads
from crumple.cli.usage import OneLineGroup

app = typer.Typer(
    name="crumple",
    cls=OneLineGroup,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

SceneArgument = Annotated[
    str,
    typer.Argument(
        metavar="SCENE", help="Built-in scene name, TOML file, crease pattern (FOLD, SVG) or ARCSim JSON file."
    ),
]
FolderArgument = Annotated[Path, typer.Argument(metavar="DIR", help="Recording folder.")]
SetOption = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Override a value of the scene; repeatable.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]
FramesOption = Annotated[int | None, typer.Option(min=1, help="Stop at this frame.")]
UntilOption = Annotated[float | None, typer.Option(help="Stop at this simulated time [s].")]
ThreadsOption = Annotated[int | None, typer.Option(min=1, help="Threads to use, at most one per core (default: all).")]


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"crumple {crumple.__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Simulate thin sheets that fold, crumple and crease."""


@app.command()
@guarded
def run(
    scene: SceneArgument,
    out: Annotated[Path | None, typer.Option(help="Recording folder (default: out/SCENE).")] = None,
    frames: FramesOption = None,
    until: UntilOption = None,
    set_: SetOption = None,
    threads: ThreadsOption = None,
    quick: Annotated[bool, typer.Option("--quick", help="Use the scene's coarse and short variant.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing recording.")] = False,
) -> None:
    """Simulate a scene and record it."""
    set_threads(threads)
    from crumple.cli.running import run_scene

    run_scene(scene, out=out, frames=frames, until=until, overrides=set_ or (), quick=quick, force=force)


@app.command()
@guarded
def resume(
    folder: FolderArgument,
    frame: Annotated[int | None, typer.Option(min=0, help="Go on from this frame; later ones are moved aside.")] = None,
    frames: FramesOption = None,
    until: UntilOption = None,
    threads: ThreadsOption = None,
) -> None:
    """Continue an interrupted or finished recording."""
    set_threads(threads)
    from crumple.cli.running import resume_scene

    resume_scene(folder, frame=frame, frames=frames, until=until)


@app.command()
@guarded
def sweep(
    scene: Annotated[
        str | None, typer.Argument(metavar="SCENE", help="Scene as for `run`; with --resume the sweep says it.")
    ] = None,
    vary: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=VALUES", help="Vary a key: a,b,c or lo:hi:n or lo:hi:n:log; repeatable."),
    ] = None,
    tie: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=F*KEY", help="Let a key follow a varied one, F times as large; repeatable."),
    ] = None,
    sample: Annotated[
        tuple[int, str] | None,
        typer.Option(metavar="N METHOD", help="Draw N points from ranges lo:hi[:log]: sobol, lhs or random."),
    ] = None,
    seeds: Annotated[int, typer.Option(min=0, help="Runs of each point with other random starts (jitter).")] = 0,
    out: Annotated[Path | None, typer.Option(help="Folder of the sweep.")] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[@FRAME]", help="Number for the table, at the last frame, @confined or @20; repeatable."
        ),
    ] = None,
    set_: SetOption = None,
    frames: FramesOption = None,
    until: UntilOption = None,
    quick: Annotated[bool, typer.Option("--quick", help="Use the scene's coarse and short variant.")] = False,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes on this machine, one thread each (default: one per core).")
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Dask scheduler for the runs: tcp://host:8786, or its .json file."),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the sweep in --out.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only check, and estimate time and disk.")] = False,
    analyze: Annotated[bool, typer.Option("--analyze", help="Then do what `crumple analyze DIR` does.")] = False,
) -> None:
    """Run a scene with many values of its keys, on all cores or on a cluster."""
    from crumple.cli.sweeping import sweep_scene

    sweep_scene(
        scene, out, vary=vary or (), metrics=metric or (), workers=workers, scheduler=scheduler, resume=resume,
        dry_run=dry_run, analyze=analyze, tie=tuple(tie or ()), sample=sample, seeds=seeds, set=tuple(set_ or ()),
        quick=quick, frames=frames, until=until,
    )  # fmt: skip


@app.command(name="compile")
@guarded
def compile_kernels(
    stages: Annotated[
        list[str] | None,
        typer.Argument(metavar="STAGE", help="steps, edits, remeshing, large, rendering (default: all)."),
    ] = None,
) -> None:
    """Compile kernels now, once on a machine, that the first run would have to wait for."""
    from crumple.cli.compiling import compile_now
    from crumple.cli.consoles import make_console

    compile_now(make_console(stderr=True), stages or [])


@app.command()
@guarded
def scenes() -> None:
    """List the built-in scenes, with their frames and about how long they take."""
    from crumple.cli.listing import list_scenes

    list_scenes()


@app.command()
@guarded
def materials(json: JsonOption = False) -> None:
    """List the materials that a scene can name, with their values."""
    from crumple.cli.listing import list_materials

    list_materials(json)


@app.command()
@guarded
def check(
    scene: SceneArgument,
    set_: SetOption = None,
) -> None:
    """Report everything that is wrong with a scene, and how large it is."""
    from crumple.cli.checking import check_source

    check_source(scene, set_ or ())


@app.command()
@guarded
def convert(
    scene: SceneArgument,
    output: Annotated[Path, typer.Argument(metavar="OUTPUT", help="TOML file to write.")],
    set_: SetOption = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
) -> None:
    """Write a scene, such as an ARCSim JSON file, as TOML."""
    from crumple.cli.converting import convert_scene

    convert_scene(scene, output, set_ or (), force)


@app.command()
@guarded
def info(folder: FolderArgument, json: JsonOption = False) -> None:
    """Show frames, faces, time per phase, Newton iterations and contacts of a recording."""
    from dataclasses import asdict

    from crumple.recording.info import summarise_recording
    from crumple.recording.recorder import repair_if_idle
    from crumple.recording.recording import Recording

    recording = Recording(folder)
    repair_if_idle(recording)
    summary = summarise_recording(recording)
    if json:
        return _print_json(asdict(summary))
    from crumple.cli.consoles import make_console
    from crumple.cli.reporting import show_info

    show_info(make_console(), summary)


@app.command()
@guarded
def verify(folder: FolderArgument, json: JsonOption = False, threads: ThreadsOption = None) -> None:
    """Recheck every frame: intersections, finite values, mesh validity."""
    set_threads(threads)
    from crumple.recording.recording import Recording
    from crumple.recording.verify import verify_recording

    result = verify_recording(Recording(folder))
    if json:
        _print_json(result.summary())
    else:
        from crumple.cli.consoles import make_console
        from crumple.cli.reporting import show_verification

        show_verification(make_console(), result)
    if not result.passed:
        raise typer.Exit(FAILED)


@app.command()
@guarded
def analyze(
    folders: Annotated[list[Path], typer.Argument(metavar="DIR...", help="Recording folders.")],
    frame: Annotated[int | None, typer.Option(help="Frame; -1 is the last (default: the most confined one).")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for the files (default: DIR-analysis).")] = None,
    plane: Annotated[str, typer.Option(help="Normal of the cross-section: x, y, z or 1,0,1.")] = "y",
    ridge_curvature: Annotated[
        float | None, typer.Option(help="Curvature from which a face is on a ridge [1/m] (default: from the sheet).")
    ] = None,
    json: JsonOption = False,
    figures: Annotated[str, typer.Option(help="Format of the figures: png, pdf or svg.")] = "png",
) -> None:
    """Statistics of a crumpled sheet: density, orientation, curvature, ridges, facets, creases, energies."""
    from crumple.cli.analyzing import analyze_folders

    analyze_folders(folders, out, frame=frame, plane=plane, ridge_curvature=ridge_curvature, as_json=json, kind=figures)


@app.command()
@guarded
def validate(
    cases: Annotated[list[str] | None, typer.Argument(metavar="[CASE]...", help="Cases to run (default: all).")] = None,
    json: JsonOption = False,
    recordings: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Where the recordings are that foil-ball and crumpling-laws need, by scene name."
        ),
    ] = None,
    figures: Annotated[Path, typer.Option(help="Folder for report page and figures (needs matplotlib).")] = Path(
        "out/validation"
    ),
    threads: ThreadsOption = None,
) -> None:
    """Compare the simulator with known solutions."""
    set_threads(threads)
    from crumple.cli.measuring import validate_cases

    validate_cases(cases or [], recordings, json, figures)


@app.command()
@guarded
def bench(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="Benchmarks to run (default: all).")
    ] = None,
    json: JsonOption = False,
    quick: Annotated[bool, typer.Option("--quick", help="Smaller sheets, fewer steps.")] = False,
    history: Annotated[Path | None, typer.Option(help="Add the results to this file, a line per run.")] = None,
    against: Annotated[
        Path | None, typer.Option(help="Compare with the last results in this file (of --history or --json).")
    ] = None,
    threads: ThreadsOption = None,
) -> None:
    """Measure the speed of the simulator on this machine."""
    set_threads(threads)
    from crumple.cli.measuring import measure_speed

    measure_speed(names or [], json, quick, history, against)


@app.command()
@guarded
def render(
    folder: FolderArgument,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            help="film.mp4, .webm or .gif, picture.png or .jpg, or pictures x.%04d.png (default: DIR.mp4 beside DIR).",
        ),
    ] = None,
    frame: Annotated[int, typer.Option(help="Frame of a picture or turntable; -1 is the last.")] = -1,
    frames: Annotated[
        str | None, typer.Option(metavar="A:B:C", help="Frames of a film: first:last:step (default: all).")
    ] = None,
    size: Annotated[str, typer.Option(help="Width x height in pixels.")] = "1280x960",
    fps: Annotated[float | None, typer.Option(help="Film frames per second (default: real time).")] = None,
    quality: Annotated[
        str | None, typer.Option(help="draft, normal (default for films) or high (default for pictures).")
    ] = None,
    camera: Annotated[
        str, typer.Option(help="auto, front, back, side, top, low, high, or a position X,Y,Z in m.")
    ] = "auto",
    target: Annotated[str | None, typer.Option(help="Point to look at, X,Y,Z in m (default: the sheets).")] = None,
    orbit: Annotated[float, typer.Option(help="Go around by so many degrees during the film.")] = 0.0,
    turntable: Annotated[bool, typer.Option("--turntable", help="A film that goes around one frame.")] = False,
    follow: Annotated[
        bool | None,
        typer.Option("--follow/--no-follow", help="Move the camera with the sheets (default: if they go far)."),
    ] = None,
    zoom: Annotated[float, typer.Option(help="Enlargement.")] = 1.0,
    lens: Annotated[float | None, typer.Option(help="Focal length on 35 mm film, in mm (default: 56).")] = None,
    look: Annotated[
        str | None,
        typer.Option(help="paper, card, tissue, foil, film, cloth or plain (default: from each sheet's material)."),
    ] = None,
    texture: Annotated[
        str | None, typer.Option(metavar="FILE", help="Image on the front, or ruled, squared, checked.")
    ] = None,
    back: Annotated[str | None, typer.Option(metavar="FILE", help="The same on the back.")] = None,
    obstacles: Annotated[str, typer.Option(help="auto, solid, glass, ghost or hidden.")] = "auto",
    background: Annotated[str, typer.Option(help="studio, light, dark, white or #rrggbb.")] = "studio",
    color_by: Annotated[
        str | None,
        typer.Option(
            help="damage, curvature, crease, stress, strain (per cent), stretch, area, speed, sizing (allowed edges), "
            "or any other field."
        ),
    ] = None,
    space: Annotated[str, typer.Option(help="world, pattern, plastic, or all of them side by side.")] = "world",
    edges: Annotated[bool, typer.Option("--edges", help="Show the mesh.")] = False,
    structure: Annotated[
        bool, typer.Option("--structure", help="Show marked edges and nodes: rulings, creases, singular points.")
    ] = False,
    threads: ThreadsOption = None,
) -> None:
    """Make a film or a picture of a recording."""
    set_threads(threads)
    from crumple.cli.picturing import make_view, render_recording

    style = {
        "look": look, "texture": texture, "back": back, "obstacles": obstacles, "background": background,
        "color_by": color_by, "edges": edges, "structure": structure, "quality": quality,
    }  # fmt: skip
    render_recording(
        folder, output, frame=frame, frames=frames, size=size, space=space, fps=fps, turntable=turntable,
        view=make_view(camera, target, orbit, follow, zoom, lens), style=style,
    )  # fmt: skip


@app.command()
@guarded
def view(
    sources: Annotated[
        list[str],
        typer.Argument(metavar="DIR|SCENE...", help="Recordings, or folders of them, to show; scenes to run and show."),
    ],
    out: Annotated[Path | None, typer.Option(help="Recording folder of a scene (default: out/SCENE).")] = None,
    frames: FramesOption = None,
    until: UntilOption = None,
    set_: SetOption = None,
    threads: ThreadsOption = None,
    quick: Annotated[bool, typer.Option("--quick", help="Use the scene's coarse and short variant.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing recording of the scene.")] = False,
    host: Annotated[
        str, typer.Option(help="Address to serve on; any but this machine's own asks for a token.")
    ] = "127.0.0.1",
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Port (default: 8765, or a free one if that is taken).")
    ] = None,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open a browser window.")] = True,
    live: Annotated[
        bool, typer.Option("--live", help="Take the sheet of one scene in your hands, as `crumple play` does.")
    ] = False,
) -> None:
    """Show recordings and running simulations in a browser: play, scrub, colour, plot, pause, compare."""
    if live:
        from crumple.cli.playing import play_live

        set_threads(1)
        return play_live(sources, overrides=set_ or (), host=host, port=port, browser=browser)
    set_threads(threads)
    from crumple.cli.viewing import view_sources

    view_sources(
        sources, out=out, frames=frames, until=until, overrides=set_ or (), quick=quick, force=force,
        host=host, port=port, browser=browser,
    )  # fmt: skip


@app.command()
@guarded
def play(
    scene: Annotated[
        str,
        typer.Argument(
            metavar="[SCENE]",
            help="note, a4, letter, newspaper, card, foil, napkin, ball, miura, dart, or any scene with few faces.",
        ),
    ] = "note",
    engine: Annotated[
        str,
        typer.Option(
            help="physics, or developable: one flat sheet of cones, planes and singular points, that never stretches."
        ),
    ] = "physics",
    set_: SetOption = None,
    replay: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Do again what a script says, without a page; needs --out.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Recording folder of a replay.")] = None,
    shown: Annotated[
        bool, typer.Option("--shown", help="Record a replay as a page shows it, for films of developable sheets.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing recording.")] = False,
    host: Annotated[
        str, typer.Option(help="Address to serve on; any but this machine's own asks for a token.")
    ] = "127.0.0.1",
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Port (default: 8765, or a free one if that is taken).")
    ] = None,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open a browser window.")] = True,
) -> None:
    """Take a sheet in your hands in a browser: fold, crumple, drop it, with full physics or as developable paper."""
    set_threads(1)
    from crumple.cli.playing import play_scene

    play_scene(
        scene, engine=engine, overrides=set_ or (), replay=replay, out=out, shown=shown, force=force, host=host,
        port=port, browser=browser,
    )  # fmt: skip


@app.command()
@guarded
def export(
    folder: FolderArgument,
    to: Annotated[
        str | None,
        typer.Option(
            help="Format, such as usd, gltf or obj; a wrong one lists all (default: by the ending of the output)."
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="File to write; numbered where a file holds one frame (default: DIR.*)."),
    ] = None,
    frames: Annotated[
        str | None,
        typer.Option(metavar="A:B:C", help="A frame (-1: the last), or first:last:step (default: all; stl: the last)."),
    ] = None,
    topology: Annotated[
        str | None,
        typer.Option(help="changing: each frame's own mesh; constant: all on one (default: changing; gltf: constant)."),
    ] = None,
    texture: Annotated[Path | None, typer.Option(help="Picture to lay on the sheets (usd, gltf, obj).")] = None,
    obstacles: Annotated[bool, typer.Option(help="Write the obstacles too (usd, gltf, abc).")] = True,
) -> None:
    """Write a recording for other programs: USD, glTF, Alembic, OBJ, PLY, STL, VTK."""
    from crumple.cli.exporting import export_folder

    export_folder(folder, to, output, frames=frames, topology=topology, obstacles=obstacles, texture=texture)


@app.command()
@guarded
def blender(
    output: Annotated[Path, typer.Option("-o", "--output", help="File to write.")] = Path("crumple_blender.py"),
) -> None:
    """Write the add-on for Blender, which runs scenes and loads their results."""
    from crumple.export.blender import write_blender_addon

    written = write_blender_addon(output)
    typer.echo(f"wrote {written}; in Blender: Edit > Preferences > Add-ons > Install from Disk, then the sidebar (N)")


@app.command()
@guarded
def dataset(
    folders: Annotated[list[Path], typer.Argument(metavar="SWEEP|DIR...", help="Sweeps and recording folders.")],
    output: Annotated[
        Path, typer.Option("-o", "--output", help="HDF5 file to write (.h5); its datasheet is beside it.")
    ],
    frames: Annotated[
        str | None, typer.Option(metavar="A:B:C", help="A frame, or first:last:step, of every run (default: all).")
    ] = None,
    topology: Annotated[
        str, typer.Option(help="changing: each frame's own mesh; constant: all frames of all runs on one.")
    ] = "changing",
    contacts: Annotated[
        bool | None, typer.Option("--contacts/--no-contacts", help="Keep pairs in contact (default: if changing).")
    ] = None,
    precision: Annotated[str, typer.Option(help="single or double.")] = "single",
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
) -> None:
    """Collect recordings in one file for learning: positions, meshes, actions, contacts, operators between meshes."""
    from crumple.cli.collecting import collect_dataset

    collect_dataset(
        folders, output, frames=frames, topology=topology, contacts=contacts, precision=precision, force=force
    )


def _print_json(value: Any) -> None:
    from crumple.recording.log import strict_json

    typer.echo(strict_json(value))
