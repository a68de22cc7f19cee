"""What pages may ask of a sheet, by the word for it; every function takes the player and the command."""

from __future__ import annotations

from collections.abc import Callable
from math import pi
from pathlib import Path

from crumple.runtime.errors import InputError
from crumple.studio.commands import Command, hand_key, number_within, point, polyline, velocity, whole_number
from crumple.studio.player import PIN, Player

STRONGEST_WIND = 12.0
"""Speed of the wind [m/s] up to which it may blow."""
SLOW = 0.25
"""Pace of slow motion."""
MOST_SHEETS = 10_000
"""Number of a sheet in a scene."""


def obey(player: Player, command: Command) -> None:
    """Do what a page asks for; `InputError` when that makes no sense."""
    name = command.get("do")
    action = ACTIONS.get(name) if isinstance(name, str) else None
    if action is None:
        raise InputError("do", f"must be one of {', '.join(ACTIONS)}", str(name)[:40])
    if name not in HARMLESS:
        player.end_replay()
    action(player, command)
    player.wake(is_seen=name not in UNSEEN)


def grab(player: Player, command: Command) -> None:
    """A hand takes hold where its ray meets a sheet."""
    key = hand_key(command)
    if key in player.hands:
        return
    player.make_room()
    place = player.session.pick(point(command, "origin"), point(command, "direction"))
    if place is None:
        raise InputError("grab", "the sheet has moved on from there; take it again")
    hand = player.session.grab(place.u, sheet=place.sheet)
    player.hands[key], player.goals[hand] = hand, place.position
    player.pins.discard(hand)


def move(player: Player, command: Command) -> None:
    """A hand is wanted at a position [m]."""
    hand = player.hands.get(hand_key(command))
    if hand is not None:
        player.goals[hand] = point(command, "position")


def release(player: Player, command: Command) -> None:
    """A hand lets go of a sheet or of an obstacle."""
    player.let_go(hand_key(command))


def pin(player: Player, command: Command) -> None:
    """A hand stays where it is, whatever its page does, until all pins are taken out."""
    hand = player.hands.pop(hand_key(command), None)
    if hand is not None:
        player.hands[f"{PIN}{hand}"] = hand
        player.pins.add(hand)


def unpin(player: Player, command: Command) -> None:
    """All pins are taken out."""
    for key in [key for key in player.hands if key.startswith(PIN)]:
        player.let_go(key)


def push(player: Player, command: Command) -> None:
    """An obstacle is wanted at a position [m] of its middle."""
    names = [one["name"] for one in player.obstacles() if one["loose"]]
    name, key = str(command.get("obstacle")), hand_key(command)
    if name not in names:
        raise InputError("obstacle", f"can be moved are {', '.join(names) or 'none'}", name[:40])
    if key not in player.pushes:
        player.make_room()
    player.pushes[key] = name, point(command, "position")


def leave(player: Player, command: Command) -> None:
    """A page has gone."""
    player.forget_page(command.get("page"))


def undo(player: Player, command: Command) -> None:
    """Back to before the last grasp or change."""
    player.travel(player.session.undo, lambda: player.session.undo_count)


def redo(player: Player, command: Command) -> None:
    """On again after an undo."""
    player.travel(player.session.redo, lambda: player.session.redo_count)


def reset(player: Player, command: Command) -> None:
    """Back to the start."""
    player.begin_again()


def replay(player: Player, command: Command) -> None:
    """Do again what was done since the start."""
    player.replay()


def pause(player: Player, command: Command) -> None:
    """Time stands still, or goes on."""
    player.is_paused = not player.is_paused


def slow(player: Player, command: Command) -> None:
    """Slow motion, or not."""
    player.pace = SLOW if player.pace == 1.0 else 1.0


def weigh(player: Player, command: Command) -> None:
    """Gravity is switched off, or on again."""
    player.session.set_gravity((0.0, 0.0, 0.0) if any(player.session.model.gravity) else player.gravity)


def blow(player: Player, command: Command) -> None:
    """Wind of a velocity [m/s]; zero is calm air."""
    player.session.set_wind(velocity(command, "velocity", STRONGEST_WIND))


def lay_floor(player: Player, command: Command) -> None:
    """The floor is taken away, or put back where it was."""
    if player.session.floor is None and player.session.state.x[:, 2].min() < player.floor:
        raise InputError("floor", "the sheet is below the table; undo or reset brings it back")
    player.session.set_floor(None if player.session.floor is not None else player.floor)


def iron(player: Player, command: Command) -> None:
    """Creases are ironed out, by a fraction from 0 to 1."""
    player.session.flatten(number_within(command, "fraction", 0.0, 1.0))


def press(player: Player, command: Command) -> None:
    """A crease of an angle [rad] along a line drawn on a sheet."""
    angle = number_within(command, "angle", -pi, pi)
    player.session.press(polyline(command, "points"), angle=angle, sheet=_sheet(command))


def cut(player: Player, command: Command) -> None:
    """A cut along a line drawn on a sheet."""
    player.session.cut(polyline(command, "points"), sheet=_sheet(command))


def drive(player: Player, command: Command) -> None:
    """A group of driven creases is folded by a percentage."""
    groups, group = player.session.drives(), command.get("group")
    if not isinstance(group, str) or group not in groups:
        raise InputError("group", f"driven are {', '.join(groups) or 'none'}", str(group)[:40])
    player.session.drive(group, number_within(command, "percent", 0.0, 100.0))


def save(player: Player, command: Command) -> None:
    """The present state as a recording beside what was done, in a new folder in `out`."""
    folder = new_folder(Path("out"), "play")
    player.session.save(folder)
    try:
        player.session.script().save(folder / "script.json")
    except InputError as error:  # the state is saved, whatever can be told of how it came about
        return player.tell("saved", f"{folder}, without its script ({error.remedy})")
    player.tell("saved", str(folder))


def new_folder(parent: Path, name: str) -> Path:
    """A folder that is not there yet."""
    number = 1
    while (parent / f"{name}{number}").exists():
        number += 1
    return parent / f"{name}{number}"


def _sheet(command: Command) -> int:
    return whole_number({"sheet": 0, **command}, "sheet", MOST_SHEETS)


ACTIONS: dict[str, Callable[[Player, Command], None]] = {
    "grab": grab,
    "move": move,
    "release": release,
    "pin": pin,
    "unpin": unpin,
    "push": push,
    "leave": leave,
    "undo": undo,
    "redo": redo,
    "reset": reset,
    "replay": replay,
    "pause": pause,
    "slow": slow,
    "gravity": weigh,
    "wind": blow,
    "floor": lay_floor,
    "iron": iron,
    "press": press,
    "cut": cut,
    "drive": drive,
    "save": save,
}
"""What a page may ask for."""
HARMLESS = frozenset({"move", "release", "leave", "pause", "slow", "save", "replay"})
"""What does not end a replay."""
UNSEEN = frozenset({"move", "push"})
"""What is seen with the next frame only: to show it before would make that one late."""
