"""Scenes that come with the package, as TOML files; see `crumple.scenes.builtin_scenes`."""

from typing import NamedTuple


class About(NamedTuple):
    """A scene in a few words, and about how long it and its quick variant take [s], None when nobody measured it.

    The times are those of docs/scenes.md: one thread, kernels compiled.
    """

    what: str
    seconds: float | None = None
    quick_seconds: float | None = None


ABOUT = {
    "airplane": About("a paper dart flies into a wall", 180, 16),
    "ball": About("note paper in a shrinking sphere", 35, 8),
    "box": About("the blank of a box folds, group by group", 11, 10),
    "crumple": About("a letter sheet in a shrinking sphere", 80, 46),
    "crumpled-heavy": About("paper crumpled for tear-heavy"),
    "crumpled-light": About("paper crumpled for tear-light"),
    "cylinder": About("a tube of paper is pressed together", 50, 19),
    "demo": About("a square of paper falls on a ball"),
    "drape": About("tissue settles on a ball", 26, 14),
    "drape-fixed": About("the same on a fixed mesh, which locks", 17, 6),
    "drop": About("a letter sheet falls through air"),
    "flag": About("a cotton flag in the wind", 70, 6),
    "foil-ball": About("a disk of foil is pressed into a ball", 1800, 34),
    "foil-ball-dense": About("the same, denser: it fills 22 %", 5400),
    "fold": About("a letter sheet is folded twice", 140, 103),
    "letter": About("a letter sheet is pushed together", 24, 17),
    "miura": About("a Miura-ori folds by its zigzags", 13, 7),
    "moebius": About("a Möbius strip of film", 60, 10),
    "recrumple": About("paper crumpled and opened eight times", 54, 12),
    "sizes": About("four sheets in shrinking spheres", 87, 15),
    "skirt": About("a skirt with pressed pleats turns", 130, 52),
    "squeeze": About("a tube of paper between two plates"),
    "student-crush": About("two planes crush a folded sheet", 7, 3),
    "student-damped": About("a stiff sheet on a ball, damped", 4, 2),
    "student-floppy": About("floppy cloth, in explicit steps", 85, 18),
    "student-plastic": About("a sheet stays bent over a rim", 7, 4),
    "student-sphere": About("a stiff sheet on a ball", 4, 2),
    "stuff": About("an elastic sheet stuffed in a sphere"),
    "trousers": About("pressed trousers on walking legs", 180, 52),
    "tear-elmendorf": About("a pendulum tears paper: ISO 1974"),
    "tear-essential": About("three ligaments: the essential work"),
    "tear-flat": About("paper torn from a slit"),
    "tear-folded": About("the same, folded: the crack follows"),
    "tear-heavy": About("the same, crumpled heavily before"),
    "tear-letter": About("a letter is torn in two by hand"),
    "tear-light": About("the same, crumpled lightly before"),
    "tear-notched": About("a notched strip is pulled until it breaks"),
    "tear-tool": About("a blunt tool is driven through a film"),
    "tear-trouser": About("the two legs of a slit strip are pulled"),
    "tshirt": About("a T-shirt stuffed into a box", 240, 33),
    "twist": About("cotton twisted, a benchmark"),
}
