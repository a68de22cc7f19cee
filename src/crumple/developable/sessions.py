"""Scripted sessions after the figures of [Schreck2015]: the same hands, whatever the seed.

The paper shows its sheets and says in words what is done to them; paths of hands and times are readings of these.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.spatial.transform import Rotation

from crumple.developable.creases import Crease
from crumple.developable.engine import FRAME_TIME, DevelopableEngine, developable_sheet
from crumple.developable.hands import Hand
from crumple.options.developable import DevelopableOptions
from crumple.runtime.errors import InputError
from crumple.runtime.typing import Floats
from crumple.simulation.observers import Observer

SIZE = 0.1
"""Side of the sheets [m]."""
CORNERS = ((0.0, 0.0), (SIZE, 0.0), (SIZE, SIZE), (0.0, SIZE))
WEIGHTLESS = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Script:
    """What hands do to a sheet: `about` it, `hands`, its `width` and `height` [m], its `creases` and `slits`, how long
    it takes, and how its `options` differ from the default."""

    about: str
    hands: tuple[Hand, ...]
    seconds: float
    width: float = SIZE
    height: float = SIZE
    options: DevelopableOptions = field(default_factory=DevelopableOptions)
    creases: tuple[Crease, ...] = ()
    slits: tuple[Floats, ...] = ()

    @property
    def frames(self) -> int:
        """How many frames it takes."""
        return round(self.seconds / FRAME_TIME)

    def engine(self, *, seed: int = 0, **changes: float | bool) -> DevelopableEngine:
        """The sheet at the start; `changes` of the options."""
        options = replace(self.options, seed=seed, **changes)  # type: ignore[arg-type]
        return developable_sheet(
            self.width,
            self.height,
            hands=self.hands,
            options=options,
            gravity=WEIGHTLESS,
            duration=self.seconds,
            creases=self.creases,
            slits=self.slits,
        )

    def run(self, *, seed: int = 0, observer: Observer | None = None, **changes: float | bool) -> DevelopableEngine:
        """The sheet at the end."""
        engine = self.engine(seed=seed, **changes)
        for _ in range(self.frames):
            engine.advance_frame(observer)
        return engine


def script(name: str) -> Script:
    """The script of this name."""
    if name not in SCRIPTS:
        raise InputError("script", f"must be one of {', '.join(SCRIPTS)}", name)
    return SCRIPTS[name]()


def pushed_sides(closer: float = 0.1, then: float = 0.2) -> Script:
    """Figure 17: two opposite sides come closer, then the corners of one of them."""
    x, y = 0.5 * closer * SIZE, 0.5 * then * SIZE

    def corner(u: tuple[float, float], across: float, along: float) -> Hand:
        bent = (across, 0.0, 0.0)
        return Hand(u, ((0.0, (0.0, 0.0, 0.0)), (1.0, bent), (1.3, bent), (2.3, (across, along, 0.0))))

    ways = ((x, y), (-x, 0.0), (-x, 0.0), (x, -y))
    hands = tuple(corner(u, *way) for u, way in zip(CORNERS, ways, strict=True))
    options = DevelopableOptions(whole_ruling=True)
    return Script("sides 10 % closer, then the corners of one side", hands, 2.6, options=options)


def wrapped_and_bent(closer: float = 0.008) -> Script:
    """Figure 1: a sheet is wrapped into half a cylinder, which then is bent across its axis: its ends come closer, each
    by `closer` [m]."""
    radius = SIZE / np.pi
    keys: list[list[tuple[float, Sequence[float], Sequence[float]]]] = []
    for corner in CORNERS:
        left, near = corner[0] == 0.0, corner[1] == 0.0
        side, end = (1.0 if left else -1.0), (1.0 if near else -1.0)
        path: list[tuple[float, Sequence[float], Sequence[float]]] = []
        for step in np.linspace(0.0, 1.0, 7):
            angle = 0.5 * np.pi * max(step, 1e-3)
            chord = SIZE / (2.0 * angle) * np.sin(angle)
            path.append((1.5 * step, (side * (0.5 * SIZE - chord), 0.0, 0.0), (0.0, -side * 0.9 * angle, 0.0)))
        shift = side * (0.5 * SIZE - radius)
        path.append((1.8, (shift, 0.0, 0.0), path[-1][2]))
        path.append((1.8 + 175.0 * closer, (shift, end * closer, 0.0), path[-1][2]))
        keys.append(path)
    hands = tuple(Hand(u, tuple(path)) for u, path in zip(CORNERS, keys, strict=True))
    return Script("wrapped into half a cylinder, then bent across its axis", hands, 2.1 + 175.0 * closer)


def twisted_strip(closed: float = 0.995) -> Script:
    """Figure 18, top: a strip is bent to a loop and twisted by half a turn, to a band of Möbius whose ends are held
    together by hands: they are not joined, and a gap of a millimetre or three is left.

    Its ends go as on a circle through its middle, which closes: that at x = L is turned by R_y(−φ/2) R_x(τ/2), with the
    angle φ of the arc, up to 2π, and the twist τ, up to π; the other one by as much the other way.
    """
    length, width = 0.2, 0.03
    hands = []
    for end, side in ((0.0, -1.0), (length, 1.0)):
        path: list[tuple[float, Sequence[float], Sequence[float]]] = []
        for step in np.linspace(0.0, 1.0, 25):
            half = np.pi * closed * max(step, 1e-6)
            radius = 0.5 * length / half
            place = (side * (radius * np.sin(half) - 0.5 * length), 0.0, radius * (1.0 - np.cos(half)))
            turn = Rotation.from_rotvec((0.0, -side * half, 0.0)) * Rotation.from_rotvec(
                (side * 0.5 * np.pi * step, 0.0, 0.0)
            )
            path.append((4.0 * step, place, turn.as_rotvec().tolist()))
        hands.append(Hand((end, 0.5 * width), tuple(path), radius=0.52 * width))
    return Script("a strip bent and twisted to a band of Möbius", tuple(hands), 4.3, length, width)


def pinched_and_released() -> Script:
    """Figure 18, bottom: a bent sheet is pinched at the back until it breaks, then the back is let go."""
    base = pushed_sides(0.12, 0.15)
    hands = tuple(replace(hand, until=2.6) if number in (0, 3) else hand for number, hand in enumerate(base.hands))
    return replace(base, about="bent, pinched at the back, which then is let go", hands=hands, seconds=3.6)


def crushed(seed: int = 0) -> Script:
    """Figure 22, second row: four hands at the corners crush a sheet, each in its own way; ε_c as in table VI."""
    hands = []
    for number, u in enumerate(CORNERS):
        generator = np.random.default_rng([seed, number])
        inwards = np.array([1.0 if u[0] == 0.0 else -1.0, 1.0 if u[1] == 0.0 else -1.0, 0.0])
        path: list[tuple[float, Sequence[float], Sequence[float]]] = [(0.0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))]
        for step in np.arange(1, 8) / 7.0:
            strayed = generator.normal(size=3) * np.array([0.005, 0.005, 0.018]) * min(1.0, 2.0 * step)
            place = inwards * 0.022 * step + strayed
            path.append((4.2 * step, tuple(place.tolist()), tuple((0.8 * step * generator.normal(size=3)).tolist())))
        hands.append(Hand(u, tuple(path)))
    return Script("crushed by four hands", tuple(hands), 4.5, options=DevelopableOptions(compression=1e-3))


def newspaper() -> Script:
    """Figure 22, third row: a sheet that is folded in its middle is opened a little, then bent across its fold."""
    hands = []
    for u in CORNERS:
        side, end = (1.0 if u[0] == 0.0 else -1.0), (1.0 if u[1] == 0.0 else -1.0)
        opened = (-side * 0.002, 0.0, -0.006)
        hands.append(Hand(u, ((0.0, (0.0, 0.0, 0.0)), (0.8, opened), (1.0, opened), (2.6, (0.0, end * 0.012, -0.006)))))
    crease = Crease((0.5 * SIZE, 0.0), (0.5 * SIZE, SIZE), 0.8)
    return Script("a newspaper, opened and bent across its fold", tuple(hands), 3.0, creases=(crease,))


def finger(depth: float = 0.012, turn: float = 1.6) -> Script:
    """A sheet whose ends are held on the arcs of a cylinder that turns by `turn` [rad], and a finger that presses its
    middle in by `depth` [m]: what [Schreck2015] §7.4 cannot do."""

    def arc(s: float, angle: float) -> tuple[float, float]:
        radius = SIZE / angle
        return radius * np.sin(s / radius) - s, radius * (1.0 - np.cos(s / radius))

    def keys(s: float) -> list[tuple[float, Sequence[float]]]:
        steps = np.linspace(0.0, 1.0, 9)
        places = [arc(s, turn * max(step, 1e-3)) for step in steps]
        return [(0.8 * step, (x, 0.0, -z)) for step, (x, z) in zip(steps, places, strict=True)]

    rims = [Hand((0.5 * SIZE + s, y), tuple(keys(s)), radius=0.004)
            for s in np.linspace(-0.5, 0.5, 7) * SIZE for y in (0.0, SIZE)]  # fmt: skip
    still = (0.0, 0.0, 0.0)
    pressing = Hand((0.5 * SIZE, 0.5 * SIZE), ((0.0, still), (1.0, still), (1.8, (0.0, 0.0, -depth))), radius=0.009)
    return Script("a finger in a cylinder", (*rims, pressing), 2.0, options=DevelopableOptions(seed=0))


SCRIPTS: Mapping[str, Callable[[], Script]] = {
    "figure 1": wrapped_and_bent,
    "figure 17": pushed_sides,
    "figure 18 top": twisted_strip,
    "figure 18 bottom": pinched_and_released,
    "figure 21": lambda: wrapped_and_bent(0.012),
    "figure 22": crushed,
    "newspaper": newspaper,
    "finger": finger,
}
"""Scripts by the figure that they are after."""
