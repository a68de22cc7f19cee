"""S_G, the structure of a developable sheet: what is flat, what is curved, along which lines, and where it is singular.

Vertices lie on the border, or are singular points and held points inside. A *curved region* is an ordered list of
rulings, straight lines between two vertices; a *strip* lies between two that follow each other. All other cells are
*flat*. A *crease* is a fold line that is there from the start; no ruling crosses it. Slits and tears are parts of the
border. Everything but vertices, rulings and creases is derived (`build`), so an edit changes these lists and nothing
else: it is made on a `Draft`, and refused when what would come of it is not a subdivision of the sheet.
[Schreck2015] §3.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from crumple.developable.outline import Outline
from crumple.developable.planar import crosses, trace_cells
from crumple.developable.tuning import TUNING
from crumple.runtime.typing import Floats

BOUNDARY, SINGULAR, HANDLE = range(3)
"""Kinds of vertices: on the border, singular for good, held inside the sheet."""
NOBODY = -1
"""No vertex, no cell."""
SNAP, CROWD, STRETCH = TUNING.snap.value, TUNING.crowd.value, TUNING.stretch.value

Edge = tuple[int, int]
"""Two vertices."""


class Refused(Exception):  # noqa: N818 (an answer, not an error)
    """An edit that does not give a valid structure; the old one stays. `is_late`: at the gate, after most of its work
    was done;  `about`: the ruling or crease that was to break, if it was one."""

    is_late = False
    about: Edge | None = None


class Vertex(NamedTuple):
    """`u` pattern position [m];  `place` along the border [m], NaN inside;  `is_held` by a handle."""

    kind: int
    u: tuple[float, float]
    place: float = float("nan")
    is_held: bool = False


class Curve(NamedTuple):
    """A curved region: its `rulings` in order; `apex`: the singular vertex that all meet in, or `NOBODY`."""

    rulings: tuple[Edge, ...]
    apex: int = NOBODY


@dataclass(frozen=True)
class Structure:
    """`vertices` and `curves` by key;  `spacing` of vertices on the border [m];  `cells`: vertices of each,
    counter-clockwise;  `strips`: the cells between the rulings i and i + 1 of a curve, by (curve, i);  `sides`: the
    cell to the left of every directed edge, of which border edges have one, chords two;  `creases`: the angle at which
    each is at rest [rad], by its ends, the smaller key first."""

    outline: Outline
    spacing: float
    vertices: Mapping[int, Vertex]
    curves: Mapping[int, Curve]
    cells: tuple[tuple[int, ...], ...]
    strips: Mapping[tuple[int, int], int]
    sides: Mapping[Edge, int]
    creases: Mapping[Edge, float] = field(default_factory=dict)

    @cached_property
    def border(self) -> tuple[int, ...]:
        """The vertices on the border, in order."""
        return border_order(self.vertices)

    @cached_property
    def chords(self) -> frozenset[Edge]:
        """All rulings and creases, each with the smaller key first."""
        return all_chords(self.curves, self.creases)

    @cached_property
    def tips(self) -> tuple[int, ...]:
        """The vertices at the ends of slits and tears."""
        places = self.outline.tip_places
        return tuple(
            key for key in self.border if any(abs(self.vertices[key].place - place) < 1e-12 for place in places)
        )

    @cached_property
    def singular(self) -> tuple[int, ...]:
        """The singular vertices."""
        return tuple(key for key, vertex in self.vertices.items() if vertex.kind == SINGULAR)

    @cached_property
    def flats(self) -> tuple[int, ...]:
        """The cells that are flat."""
        strips = set(self.strips.values())
        return tuple(cell for cell in range(len(self.cells)) if cell not in strips)

    @cached_property
    def owners(self) -> Mapping[Edge, tuple[int, int]]:
        """Of every ruling, the smaller key first, a curve that it belongs to and its number there."""
        return {
            sorted_edge(ruling): (key, number)
            for key, curve in self.curves.items()
            for number, ruling in enumerate(curve.rulings)
        }

    def u(self, key: int) -> Floats:
        """The pattern position of a vertex, (2,) [m]."""
        return np.array(self.vertices[key].u)

    def polygon(self, cell: int) -> Floats:
        """The corners of a cell, (n, 2) [m]."""
        return np.array([self.vertices[key].u for key in self.cells[cell]])

    def differs(self, other: Structure) -> bool:
        """Whether the outline, chords or curved regions are others, or chords are elsewhere."""
        if self.outline is not other.outline:
            return True
        if self.chords != other.chords or _regions(self) != _regions(other):
            return True
        return any(self.vertices[key].u != other.vertices[key].u for edge in self.chords for key in edge)


class Draft:
    """A structure that is being edited; `build` makes it one again, or raises `Refused`."""

    def __init__(self, base: Structure) -> None:
        self.outline, self.spacing = base.outline, base.spacing
        self.vertices, self.curves, self.creases = dict(base.vertices), dict(base.curves), dict(base.creases)
        self._next = 1 + max([*self.vertices, *self.curves], default=-1)

    def border(self, place: float, *, is_held: bool = False) -> int:
        """The vertex at a place on the border [m]: one that is near enough, or a new one."""
        place %= self.outline.length
        keys = [key for key, vertex in self.vertices.items() if vertex.kind == BOUNDARY]
        places = np.array([self.vertices[key].place for key in keys])
        away = np.abs(self.outline.way(places, np.full(len(keys), place)))
        nearest = int(away.argmin()) if keys else NOBODY
        far, key = (away[nearest], keys[nearest]) if keys else (np.inf, NOBODY)
        if far <= (1e-9 if is_held else SNAP) * self.spacing:
            self.vertices[key] = self.vertices[key]._replace(is_held=is_held or self.vertices[key].is_held)
            return key
        u = self.outline.point(place)
        return self._add(Vertex(BOUNDARY, (float(u[0]), float(u[1])), place, is_held))

    def slide(self, places: Mapping[int, float]) -> None:
        """Move vertices along the border to places [m], those that can move."""
        sliding = self.sliding()
        for key, place in places.items():
            if key in sliding:
                u, place = self.outline.point(place), place % self.outline.length
                self.vertices[key] = self.vertices[key]._replace(u=(float(u[0]), float(u[1])), place=place)

    def sliding(self) -> set[int]:
        """The vertices that can move along the border: only one ruling ends there, nobody holds them, and they are
        neither corners nor ends of creases."""
        ends = Counter(key for edge in all_chords(self.curves, self.creases) for key in edge)
        once = {key for key, count in ends.items() if count == 1} - {key for edge in self.creases for key in edge}
        free = [key for key in once if self.vertices[key].kind == BOUNDARY and not self.vertices[key].is_held]
        places = np.array([self.vertices[key].place for key in free])
        is_corner = np.any(np.abs(self.outline.starts - places[:, None]) < 1e-12, axis=1)
        return {key for key, is_one in zip(free, is_corner.tolist(), strict=True) if not is_one}

    def inner(self, kind: int, u: Floats) -> int:
        """A new vertex inside, singular or held."""
        return self._add(Vertex(kind, (float(u[0]), float(u[1])), is_held=kind == HANDLE))

    def curve(self, rulings: Iterable[Edge], apex: int = NOBODY) -> int:
        """A new curved region; rulings that are points, or that repeat, are left out."""
        key, self._next = self._next, self._next + 1
        self.replace_curve(key, rulings, apex)
        return key

    def replace_curve(self, key: int, rulings: Iterable[Edge], apex: int = NOBODY) -> None:
        """Give a region other rulings; those on creases are left out, and without any it is gone."""
        kept: list[Edge] = []
        for ruling in rulings:
            if sorted_edge(ruling) in self.creases:
                continue
            if ruling[0] != ruling[1] and (not kept or set(ruling) != set(kept[-1])):
                kept.append(ruling)
        if kept:
            self.curves[key] = Curve(tuple(kept), apex)
        else:
            self.curves.pop(key, None)

    def build(self) -> Structure:
        """The structure, with the border sampled evenly; `Refused` when chords cross or strips are lost."""
        self._sample()
        chords, order = all_chords(self.curves, self.creases), border_order(self.vertices)
        border = list(zip(order, (*order[1:], order[0]), strict=True))
        self._check_chords(chords, border)
        cells = self._cells(chords, border)
        sides = edge_cells(cells)
        return Structure(
            self.outline,
            self.spacing,
            dict(self.vertices),
            dict(self.curves),
            cells,
            find_strips(self.curves, sides),
            sides,
            dict(self.creases),
        )

    def _add(self, vertex: Vertex) -> int:
        key, self._next = self._next, self._next + 1
        self.vertices[key] = vertex
        return key

    def needed(self) -> set[int]:
        """The vertices that cannot go: ends of rulings and creases, held ones and corners."""
        used = {key for edge in all_chords(self.curves, self.creases) for key in edge}
        corners = set(np.round(self.outline.starts[:-1], 12).tolist())
        return {key for key, vertex in self.vertices.items() if key in used or vertex.is_held
                or (vertex.kind == BOUNDARY and round(vertex.place, 12) in corners)}  # fmt: skip

    def _sample(self) -> None:
        """Vertices of the border that nobody needs go where others are close; gaps are filled."""
        self._thin_out()
        order = border_order(self.vertices)
        for key, after in zip(order, (*order[1:], order[0]), strict=True):
            start = self.vertices[key].place
            gap = (self.vertices[after].place - start) % self.outline.length
            count = int(np.ceil(gap / (STRETCH * self.spacing) - 1e-9))
            for k in range(1, count):
                u = self.outline.point(start + gap * k / count)
                place = (start + gap * k / count) % self.outline.length
                self._add(Vertex(BOUNDARY, (float(u[0]), float(u[1])), place))

    def _thin_out(self) -> None:
        """Take out vertices of the border, one after the other, that nobody needs and that are too close to one that
        is left, on either side."""
        needed, order = self.needed(), border_order(self.vertices)
        places = [self.vertices[key].place for key in order]
        is_left = [True] * len(order)
        for number, key in enumerate(order):
            if key not in needed and any(
                self._is_crowded(number, step, order, places, is_left, needed) for step in (-1, 1)
            ):
                is_left[number] = False
                del self.vertices[key]

    def _is_crowded(
        self, number: int, step: int, order: tuple[int, ...], places: list[float], is_left: list[bool], needed: set[int]
    ) -> bool:
        """Whether a vertex that nobody needs is too close to one on one side of it."""
        count, length = len(order), self.outline.length
        for far in range(1, count):
            other = (number + step * far) % count
            gap = (step * (places[other] - places[number])) % length
            if gap >= CROWD * self.spacing:
                return False
            if is_left[other] and (order[other] in needed or gap < 0.5 * CROWD * self.spacing):
                return True
        return False

    def _check_chords(self, chords: frozenset[Edge], border: list[Edge]) -> None:
        """`Refused` when two chords cross, or one lies on the border or crosses it."""
        for a, b in chords:
            p, q = self.vertices[a], self.vertices[b]
            if p.kind == q.kind == BOUNDARY and self.outline.on_one_side(p.place, q.place):
                raise Refused("a ruling on the border")
        ordered = [*sorted(chords), *(() if self.outline.is_convex else border)]
        ends = np.array(ordered, np.int64).reshape(-1, 2)
        points = np.array([[self.vertices[key].u for key in edge] for edge in ordered]).reshape(-1, 2, 2)
        if crosses(ends, points, len(chords)):
            raise Refused("rulings cross")

    def _cells(self, chords: frozenset[Edge], border: list[Edge]) -> tuple[tuple[int, ...], ...]:
        """The cells between chords and border; `Refused` when they do not cover the sheet."""
        positions = {key: vertex.u for key, vertex in self.vertices.items()}
        cells, total = trace_cells(positions, [*border, *chords])
        if any(len(set(cell)) < len(cell) for cell in cells):
            raise Refused("a loose end")
        if abs(total - self.outline.area) > 1e-9 * self.outline.area:
            raise Refused("cells do not cover the sheet")
        return tuple(cells)


def flat_structure(outline: Outline, spacing: float) -> Structure:
    """A sheet that is flat everywhere."""
    empty = Structure(outline, spacing, {}, {}, (), {}, {})
    draft = Draft(empty)
    for place in outline.starts[:-1]:
        draft.border(float(place), is_held=True)
    draft.vertices = {key: vertex._replace(is_held=False) for key, vertex in draft.vertices.items()}
    return draft.build()


def border_order(vertices: Mapping[int, Vertex]) -> tuple[int, ...]:
    """The vertices on the border by place."""
    return tuple(sorted((k for k, v in vertices.items() if v.kind == BOUNDARY), key=lambda k: vertices[k].place))


def all_chords(curves: Mapping[int, Curve], creases: Iterable[Edge]) -> frozenset[Edge]:
    """The rulings of all curves, and the creases, each with the smaller key first."""
    return frozenset(creases).union(sorted_edge(ruling) for curve in curves.values() for ruling in curve.rulings)


def edge_cells(cells: Iterable[tuple[int, ...]]) -> dict[Edge, int]:
    """The cell to the left of every directed edge."""
    return {
        (a, b): number for number, cell in enumerate(cells) for a, b in zip(cell, (*cell[1:], cell[0]), strict=True)
    }


def find_strips(curves: Mapping[int, Curve], sides: Mapping[Edge, int]) -> dict[tuple[int, int], int]:
    """The cell between two rulings that follow each other; `Refused` when there is none. `sides` as in `Structure`."""
    found: set[int] = set()
    strips: dict[tuple[int, int], int] = {}
    for key, curve in curves.items():
        for number, (first, second) in enumerate(zip(curve.rulings[:-1], curve.rulings[1:], strict=True)):
            common = _cells_beside(sides, first) & _cells_beside(sides, second)
            if len(common) != 1 or common & found:
                raise Refused("a strip is lost")
            strips[key, number] = common.pop()
            found.add(strips[key, number])
    return strips


def _cells_beside(sides: Mapping[Edge, int], edge: Edge) -> set[int]:
    return {sides[way] for way in (edge, (edge[1], edge[0])) if way in sides}


def sorted_edge(edge: Edge) -> Edge:
    """The same with the smaller key first."""
    return (edge[0], edge[1]) if edge[0] < edge[1] else (edge[1], edge[0])


def _regions(structure: Structure) -> set[frozenset[frozenset[int]]]:
    return {frozenset(frozenset(ruling) for ruling in curve.rulings) for curve in structure.curves.values()}
