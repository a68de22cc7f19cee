"""What sheets are made of, to the eye: paper, card, foil, cloth, film."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from crumple.runtime.errors import InputError
from crumple.runtime.typing import Floats


@dataclass(frozen=True)
class Look:
    """How a sheet meets light.

    `front`, `back`, `rim`: colours as sRGB hexadecimal;  `metal`: reflects in its own colour and nothing else;
    `roughness` of front and back: 0 a mirror, 1 matte;  `gloss`: reflectance at normal incidence;
    `through`: share of the light that comes through diffusely;  `clear`: share that one sees straight through;
    `sheen`: brightening at grazing angles, as of fibres;  `grain`: how much the brightness varies from fibre to fibre;
    `bump`: slope of its small unevenness, of length `bump_length` [m];  `weave`: distance of threads [m], 0 = none.
    """

    front: str
    back: str
    rim: str
    metal: bool = False
    roughness: tuple[float, float] = (0.9, 0.9)
    gloss: float = 0.04
    through: float = 0.0
    clear: float = 0.0
    sheen: float = 0.0
    grain: float = 0.0
    bump: float = 0.0
    bump_length: float = 1e-3
    weave: float = 0.0


LOOKS = {
    "paper": Look("#f5f3ed", "#f2f0ea", "#fbfaf6", roughness=(0.75, 0.75), through=0.16, grain=0.02, bump=0.012),
    "card": Look("#c2a67f", "#b39770", "#a68a64", roughness=(0.8, 0.8), grain=0.07, bump=0.03, bump_length=1.5e-3),
    "tissue": Look("#fdfbf7", "#fdfbf7", "#ffffff", roughness=(0.95, 0.95), through=0.34, grain=0.03, bump=0.03),
    "foil": Look(
        "#e9eaec", "#e2e3e5", "#d0d2d5", metal=True, roughness=(0.2, 0.36), bump=0.012, bump_length=1.1e-3
    ),
    "film": Look("#dfe9ee", "#dfe9ee", "#f2f8fb", roughness=(0.06, 0.06), gloss=0.07, through=0.3, clear=0.62),
    "cloth": Look(
        "#b5483f", "#b5483f", "#bd554c", roughness=(1.0, 1.0), gloss=0.02, through=0.08, sheen=0.35, grain=0.06,
        weave=0.8e-3,
    ),
    "plain": Look("#f2f0ea", "#dfe5ec", "#ffffff", gloss=0.02),
}  # fmt: skip

MARK = Look("#c0271b", "#c0271b", "#c0271b", roughness=(0.6, 0.6), gloss=0.03)
OBSTACLE = Look("#9aa1a8", "#9aa1a8", "#9aa1a8", roughness=(0.45, 0.45), gloss=0.04)
"""Solid obstacles: unglazed porcelain."""

TINTS = ("#ffffff", "#f3cf9f", "#b9dcc2", "#cfc2e8", "#f0b7ad", "#b5d3ee")
"""Sheets of one scene are told apart by their tint; cloth brings its own colours instead."""
CLOTHS = ("#b5483f", "#33587d", "#6f7d43", "#a8803a", "#5d4a78", "#3f7d78")

WORDS = {
    "foil": ("foil", "alu", "metal", "steel", "copper"),
    "tissue": ("tissue", "napkin"),
    "card": ("card", "corrugated", "kraft"),
    "cloth": ("cotton", "cloth", "fabric", "knit", "wool", "silk", "denim", "jersey", "interlock", "linen", "shirt",
              "flag", "felt", "weave"),
    "film": ("mylar", "film", "plastic", "polyester", "acetate"),
    "paper": ("paper", "letter"),
}  # fmt: skip
"""Words in the name of a material or of a sheet that tell its look."""


def known_look(name: str) -> str | None:
    """The look that a name tells, if any.

    >>> known_look("narain-foil"), known_look("paper80"), known_look("sheet")
    ('foil', 'paper', None)
    """
    return next((look for look, words in WORDS.items() if any(word in name.lower() for word in words)), None)


def named_look(name: str) -> Look:
    """The look called `name`; `InputError` listing the known ones."""
    if name not in LOOKS:
        raise InputError("render --look", f"must be one of {', '.join(LOOKS)}", name)
    return LOOKS[name]


def sheet_look(name: str, sheet: int) -> Look:
    """The look called `name` for a sheet, tinted by its number."""
    look = named_look(name)
    if name == "cloth":
        return replace(look, front=CLOTHS[sheet % len(CLOTHS)], back=CLOTHS[sheet % len(CLOTHS)])
    tint = TINTS[sheet % len(TINTS)]
    return look if look.metal or sheet == 0 else replace(look, front=tint, back=tint)


def linear_color(code: str, place: str = "color") -> Floats:
    """Red, green, blue of an sRGB colour `#rrggbb` as shares of full light, (3,)."""
    try:
        if not (len(code) == 7 and code.startswith("#")):
            raise ValueError
        srgb = np.array([int(code[k : k + 2], 16) for k in (1, 3, 5)]) / 255.0
    except ValueError:
        raise InputError(place, "must be a colour #rrggbb", code) from None
    return np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)


def look_table(look: Look) -> Floats:
    """The numbers of a look for compiled code, (2, 16): front and back."""
    return np.array(
        [
            [*linear_color(color), float(look.metal), roughness, look.gloss, look.through, look.clear, look.sheen,
             look.grain, look.bump, look.bump_length, look.weave, *linear_color(look.rim)]
            for color, roughness in zip((look.front, look.back), look.roughness, strict=True)
        ]
    )  # fmt: skip
