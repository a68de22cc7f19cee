"""`crumple run` and `crumple resume`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from crumple.analysis.crease_lines import measure_crease_lines, tally_creases
from crumple.cli.compiling import compile_large_with_notice, compile_with_notice
from crumple.cli.consoles import make_console
from crumple.cli.edits import adopt_scene, check_edits, check_fit
from crumple.cli.exits import FAILED, INTERRUPTED, explain, fail
from crumple.cli.interruption import Interruption
from crumple.cli.notices import show_notes, show_warning
from crumple.cli.progress import RunProgress
from crumple.cli.waiting import told_when_long
from crumple.model.model import Model
from crumple.recording.folder import check_vacant
from crumple.recording.recorder import Recorder, create_recording
from crumple.recording.recording import Recording
from crumple.recording.resume import find_beginning, resume_recording
from crumple.runtime.errors import InputError, SimulationError
from crumple.scenes import Scene, build, dump_scene
from crumple.scenes.length import load_with_length, new_length
from crumple.session.driving import is_driven_by_hand, refuse_before_drives
from crumple.session.engines import refuse_resumption
from crumple.session.session import Session
from crumple.simulation.engine import PhysicsEngine
from crumple.state import State


def run_scene(
    source: str,
    *,
    out: Path | None,
    frames: int | None,
    until: float | None,
    overrides: Sequence[str],
    quick: bool,
    force: bool,
) -> None:
    """Build the scene `source` and run it into a new recording."""
    console = make_console(stderr=True)
    scene = load_with_length(source, frames, until, overrides=overrides, quick=quick)
    show_notes(scene.notes)
    folder = out if out is not None else Path("out") / (Path(source).stem or "scene")
    check_vacant(folder, force)  # before the scene is built, which may take a while
    compile_with_notice(console, remeshing=scene.remeshing is not None)
    with told_when_long(console, f"building {source}"):
        model, state, notes = build(scene)
    show_notes(notes)
    session = Session(PhysicsEngine(model, state))  # whatever may fail comes before a recording is replaced
    with create_recording(folder, dump_scene(scene), force=force) as recorder:
        _advance(console, session, recorder)


def resume_scene(folder: Path, *, frame: int | None, frames: int | None, until: float | None) -> None:
    """Continue the recording in `folder` to its end, or to a new end."""
    console = make_console(stderr=True)
    recording = Recording(folder)
    if frame is not None:
        recording.frame_number(frame, "resume --frame")
    find_beginning(recording, frame)  # tells of a frame that stops the resumption before anything takes long
    model, scene, notes = _recorded(recording, frames, until)
    compile_with_notice(console, remeshing=model.remeshing is not None)

    def check(state: State) -> None:
        check_fit(recording.model_path if scene is None else recording.scene_path, model, state)
        refuse_before_drives("resume --frame", model, state)
        if state.frame > model.frame_count:
            given = "--frames" if frames is not None else "--until" if until is not None else "run.duration"
            remedy = f"{folder} has frames 0 to {state.frame} already; --frame goes back to an earlier one"
            raise InputError(given, remedy, frames if frames is not None else model.duration)

    state, recorder = resume_recording(folder, frame=frame, check=check, warn=show_warning)
    with recorder:
        for note in notes:
            show_warning(note)
        if scene is not None:
            adopt_scene(recording, scene, rewrite=frames is not None or until is not None)
        if state.frame >= model.frame_count:
            console.print(f"{folder} is complete (frames 0 to {state.frame}); --frames or --until makes it longer")
            return
        console.print(f"resuming {folder} after frame {state.frame} (t = {state.time:.3f} s)", highlight=False)
        _advance(console, Session(PhysicsEngine(model, state)), recorder)


def _recorded(recording: Recording, frames: int | None, until: float | None) -> tuple[Model, Scene | None, list[str]]:
    """The model to go on with, the scene if there is one, and what was edited in it since, a line each.

    The scene is built, and its sheets meshed, only where the stored model is not the one that it describes.
    """
    stored, model = recording.stored_model(), recording.present_model()
    refuse_resumption(str(recording.path), () if stored is None else stored.terms)
    if stored is not None and stored.lacking:
        remedy = "which only Python can give again: crumple.Simulation.resume(folder, terms=[…]), then run()"
        raise InputError(str(recording.path), f"was made with {stored.lacking}, {remedy}")
    if recording.scene_path.is_file():
        scene = load_with_length(str(recording.scene_path), frames, until)
        notes = check_edits(recording, scene)
        if model is None and stored is not None and stored.model is not None and is_driven_by_hand(stored.model):
            notes.append("creases that were driven by hand follow the scene again")
        found = build(scene, relax=False).model if model is None else replace(model, duration=scene.run.duration)
        return found, scene, notes
    if model is None:
        raise InputError(str(recording.path), "has neither scene.toml nor model.h5 to resume from")
    return replace(model, duration=new_length(frames, until, model.frame_time) or model.duration), None, []


def _advance(console: Console, session: Session, recorder: Recorder) -> None:
    """Run to the end with a recorder, a progress display and a polite Ctrl-C; say where the result is."""
    folder = recorder.recording.path
    compile_large_with_notice(console, session.state.mesh.face_count)
    with Interruption() as interruption:
        observers = [interruption.shield(recorder), RunProgress(console, session.model.frame_count), interruption]
        try:
            with interruption.unwrapped():
                final = session.run(observers=observers)
        except KeyboardInterrupt:
            fail(f"interrupted after {_reached(recorder)}; go on with: crumple resume {folder}", INTERRUPTED)
        except SimulationError as error:
            raise SimulationError(f"{error}; all finished frames are in {folder}") from None
        except OSError as error:
            reason, _ = explain(error)
            fail(f"{reason}; stopped after {_reached(recorder)}; then go on with: crumple resume {folder}", FAILED)
    tally = tally_creases(measure_crease_lines(session.model, final)).describe()
    if tally:
        remedy = "" if tally.startswith("all") else f" (crumple analyze {folder} --frame -1 lists them)"
        console.print(tally + remedy, highlight=False, markup=False, soft_wrap=True)
    console.print(
        f"frames 0 to {final.frame} in {folder}; open {folder / 'run.vtkhdf.series'} in ParaView", highlight=False
    )


def _reached(recorder: Recorder) -> str:
    """The last frame that is on disk."""
    done = recorder.recording.frames
    return f"frame {done[-1]}" if done else "no frame"
