"""What a user chooses about the looks of a picture, and how well it is drawn."""

from __future__ import annotations

from dataclasses import dataclass, replace

from crumple.rendering.looks import linear_color, named_look
from crumple.runtime.errors import InputError
from crumple.runtime.typing import Floats

OBSTACLES = ("auto", "solid", "glass", "ghost", "hidden")
BACKGROUNDS = {
    "studio": ("#a9b0b6", "#76828d", 0.28),
    "light": ("#e4e7ea", "#cdd4da", 0.06),
    "dark": ("#2b3138", "#14181d", 0.5),
    "white": ("#ffffff", "#ffffff", 0.0),
}
"""Colours at the bottom and the top, and how much brighter the middle is."""


@dataclass(frozen=True)
class Quality:
    """`samples` per pixel each way;  `rays` from each gathering point;  `gathered` faces up to which light is gathered
    on a mesh refined once more;  `refined` how often the drawn surface is refined;  `crf` of films (less is
    better)."""

    samples: int
    rays: int
    gathered: int
    refined: int
    crf: int


QUALITIES = {
    "draft": Quality(samples=2, rays=48, gathered=0, refined=1, crf=23),
    "normal": Quality(samples=2, rays=96, gathered=1200, refined=2, crf=18),
    "high": Quality(samples=4, rays=256, gathered=6000, refined=2, crf=14),
}


@dataclass(frozen=True)
class Style:
    """`look`: a name in `LOOKS`, by default from the material of each sheet;  `texture`, `back`: image file or pattern
    on the front and on the back;  `obstacles`: one of `OBSTACLES`;  `background`: one of `BACKGROUNDS` or #rrggbb;
    `color_by`: a field;  `edges`: whether to show the mesh;  `structure`: whether to show its marked edges and nodes
    only, such as rulings and singular points;  `quality`: one of `QUALITIES`, by default "high" for pictures and
    "normal" for films."""

    look: str | None = None
    texture: str | None = None
    back: str | None = None
    obstacles: str = "auto"
    background: str = "studio"
    color_by: str | None = None
    edges: bool = False
    structure: bool = False
    quality: str | None = None

    def __post_init__(self) -> None:
        if self.look is not None:
            named_look(self.look)
        _check("obstacles", self.obstacles, OBSTACLES)
        if self.quality is not None:
            _check("quality", self.quality, tuple(QUALITIES))
        if self.background not in BACKGROUNDS and not self.background.startswith("#"):
            _check("background", self.background, (*BACKGROUNDS, "#rrggbb"))
        self.backdrop()

    def drawn_as(self, quality: str) -> Style:
        """The same style with this `quality` unless it names one."""
        return self if self.quality is not None else replace(self, quality=quality)

    def backdrop(self) -> tuple[Floats, Floats, float]:
        """Linear colours at the bottom and the top of the background, (3,) each, and its glow."""
        bottom, top, glow = BACKGROUNDS.get(self.background, (self.background, self.background, 0.0))
        place = "render --background"
        return linear_color(bottom, place), linear_color(top, place), glow


def _check(name: str, value: str, known: tuple[str, ...]) -> None:
    """`InputError` unless the value of an option is one of the known ones."""
    if value not in known:
        raise InputError(f"render --{name}", f"must be one of {', '.join(known)}", value)
