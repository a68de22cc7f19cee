"""The process that simulates a scene into a recording and obeys the studio: pause, continue, stop, hands, sliders.

It is a process of its own, so that the page stays quick while kernels use all threads. The end of the studio closes the
pipe and ends the run; finished frames are complete whatever happens.
"""

from __future__ import annotations

import signal
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from crumple.model.model import Model
from crumple.recording.recorder import create_recording
from crumple.runtime.errors import CrumpleError, InputError
from crumple.scenes import Scene, build, dump_scene
from crumple.session.driving import drive_levels
from crumple.session.session import Session
from crumple.simulation.engine import PhysicsEngine
from crumple.simulation.observers import Observer
from crumple.state import State
from crumple.stepping.reports import FrameReport, StepReport
from crumple.studio.holding import Holding
from crumple.studio.outbox import Outbox
from crumple.studio.runs import PAUSE, STOP, Refusal

MOST_HEARD = 200
"""Commands that are taken at a time between two steps."""


class Stopped(Exception):  # noqa: N818 (a signal, not an error)
    """The user has stopped the run."""


class Gate(Observer):
    """Tells the studio how far the run is, and holds it while it is paused; `Stopped` when it is to end."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe
        self._wishes = Outbox()

    def fulfil(self, holding: Holding) -> None:
        """Let hands do what pages asked for since; a page is told what is refused."""
        while (command := self._wishes.take()) is not None:
            try:
                holding.obey(command)
            except CrumpleError as error:
                self._refuse(command, error)
        holding.send()

    def on_start(self, model: Model, state: State) -> None:
        self._notify(model, state, "running")
        self._obey(model, state)

    def on_step(self, model: Model, state: State, report: StepReport) -> None:
        self._notify(model, state, "running")
        self._obey(model, state)

    def on_frame(self, model: Model, state: State, report: FrameReport) -> None:
        self._notify(model, state, "running")
        self._obey(model, state)

    def _notify(self, model: Model, state: State, phase: str) -> None:
        levels = drive_levels(model, state.time)
        send(self._pipe, state=phase, frame=state.frame, frames=model.frame_count, time=state.time, drives=levels)

    def _refuse(self, command: dict[str, Any], error: CrumpleError) -> None:
        send(self._pipe, refused=Refusal(command.get("page"), str(error)))

    def _obey(self, model: Model, state: State) -> None:
        """Take what was asked meanwhile, but not for ever: the run goes on while pages talk without a pause. While
        paused, wait for more."""
        paused, heard = False, 0
        while paused or (heard < MOST_HEARD and self._pipe.poll()):
            heard += 1
            try:
                command = self._pipe.recv()
            except (EOFError, OSError):  # the studio is gone
                raise Stopped from None
            if command == STOP:
                raise Stopped
            if isinstance(command, dict):
                try:
                    self._wishes.put(command)
                except InputError as error:
                    self._refuse(command, error)
                continue
            paused = command == PAUSE
            self._notify(model, state, "paused" if paused else "running")


def send(pipe: Connection, **news: Any) -> None:
    """Tell the studio; `Stopped` when it is gone."""
    try:
        pipe.send(news)
    except OSError:
        raise Stopped from None


def simulate(scene: Scene, folder: Path, force: bool, pipe: Connection) -> None:
    """Run `scene` into a new recording in `folder`; the entry point of the process."""
    for number in (signal.SIGINT, signal.SIGTERM):  # they reach the studio too, which then asks to stop
        signal.signal(number, signal.SIG_IGN)
    try:
        model, state, _ = build(scene)
        session = Session(PhysicsEngine(model, state))  # whatever may fail comes before a recording is replaced
        gate, holding = Gate(pipe), Holding(session)

        with create_recording(folder, dump_scene(scene), force=force) as recorder:
            session.run(observers=[recorder, gate], between=lambda: gate.fulfil(holding))
        news = {"state": "finished"}
    except Stopped:
        news = {"state": "stopped"}
    except CrumpleError as error:
        news = {"state": "failed", "message": str(error)}
    except OSError as error:
        news = {"state": "failed", "message": f"{error.filename or folder}: {error.strerror or error}"}
    except Exception as error:  # the page shows it in one line; a traceback would scroll by unseen
        news = {"state": "failed", "message": f"internal error: {type(error).__name__}: {error} (please report it)"}
    try:
        send(pipe, **news)
    except Stopped:
        return
