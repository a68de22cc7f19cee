"""What all that is done in a session stands on: its engine, the way back, and what has been done."""

from __future__ import annotations

from dataclasses import dataclass, field

from crumple.model.model import Model
from crumple.runtime.errors import InputError
from crumple.runtime.typing import Floats
from crumple.session.guidance import Body, Goal
from crumple.session.history import History, Mark
from crumple.session.tape import Tape
from crumple.simulation.engine import Engine, Moment
from crumple.state import State


@dataclass
class Wishes:
    """What is wanted of handles and obstacles: `goals` to be sent to, those that were `sent` and arrive at `arrival`
    [s], how they are turned by now (3, 3), and where hands have their points from the middles of their nodes (3,)
    [m]."""

    goals: dict[Body, Goal] = field(default_factory=dict)
    sent: dict[Body, Goal] = field(default_factory=dict)
    arrival: float = float("inf")
    turns: dict[Body, Floats] = field(default_factory=dict)
    offsets: dict[str, Floats] = field(default_factory=dict)


class Base:
    """An engine, what it is at, and the places to go back to."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._depth = 0
        self._begin(engine.moment)

    @property
    def model(self) -> Model:
        """What is constant, but for what is changed by hand."""
        return self.engine.model

    @property
    def state(self) -> State:
        """What the session is at; it may be replaced between steps."""
        return self.engine.state

    @state.setter
    def state(self, state: State) -> None:
        self._mark()
        self._is_replayable = False
        self.engine.change(self.model, state)

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return self.state.time

    @property
    def is_recorded(self) -> bool:
        """Whether frames are being written."""
        return False

    def _begin(self, first: Moment) -> None:
        """Nothing has been done, and nothing is wanted yet."""
        self._first = first
        self._history = History()
        self._actions = Tape()
        self._is_replayable = True
        self._wishes = Wishes()

    def _mark(self) -> None:
        """Keep where the session is, as a place to go back to."""
        self._history.keep(self._here())

    def _here(self) -> Mark:
        return Mark(self.engine.moment, dict(self._wishes.turns), dict(self._wishes.offsets))

    def _return(self, mark: Mark) -> None:
        """Be where the mark was made."""
        self.engine.restore(mark.moment)
        self._wishes = Wishes(turns=dict(mark.turns), offsets=dict(mark.offsets))

    def _change(self, model: Model, state: State) -> None:
        """Go on with what was changed by hand, after keeping where the session was."""
        self._mark()
        self.engine.change(model, state)

    def _require(self, action: str) -> None:
        """Refuse what the engine cannot do."""
        reason = self.engine.refusal(action)
        if reason:
            raise InputError(action, reason)
