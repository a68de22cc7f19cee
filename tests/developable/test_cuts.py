"""Slits and tears: notches of the outline that rulings do not cross, and that run on under tension."""

from __future__ import annotations

import numpy as np
import pytest

from crumple.developable import DevelopableEngine, DevelopableOptions, Hand, developable_sheet
from crumple.developable.clearance import Clearance
from crumple.developable.cuts import cut_open, cut_outline, with_slits
from crumple.developable.enrich import enrich
from crumple.developable.outline import Outline
from crumple.developable.structure import Draft, Refused, Structure, flat_structure
from crumple.mesh.validate import validate_mesh
from crumple.runtime.errors import InputError

SQUARE = Outline(np.array([[0.0, 0.0], [0.1, 0.0], [0.1, 0.1], [0.0, 0.1]]))
SPACING = 0.01
SLIT = np.array([[0.05, 0.0], [0.05, 0.025]])
STILL = (0.0, 0.0, 0.0)


def check(engine: DevelopableEngine) -> None:
    """What holds at the end of every frame."""
    strain = np.abs(engine.paper.isometry.strain(engine.state.x))
    assert strain.mean() <= 1e-4
    assert strain.max() <= 1e-3
    assert Clearance(engine.model, engine.state).is_clear(engine.state.x)
    assert validate_mesh(engine.state.mesh) == []


@pytest.mark.parametrize("place", [0.05, 0.0, 0.1, 0.213])
def test_places_stay_where_they_are_when_an_outline_is_cut(place: float) -> None:
    u = SQUARE.point(place)
    tip = u + 0.3 * (np.array([0.05, 0.05]) - u)
    cut, moved = cut_outline(SQUARE, place, tip, 1e-5)
    assert cut.length == pytest.approx(SQUARE.length + 2.0 * np.linalg.norm(tip - u), abs=2e-5)
    assert cut.area < SQUARE.area
    assert cut.point(float(cut.tip_places[0])) == pytest.approx(tip, abs=1e-15)
    others = [old for old in np.linspace(0.001, 0.399, 37) if abs(SQUARE.way(old, place)) > 1e-4]
    for old in others:
        assert cut.point(moved(old)) == pytest.approx(SQUARE.point(old), abs=1e-5)


def test_a_slit_with_a_bend_has_one_tip_and_two_lips() -> None:
    outline = with_slits(SQUARE, [np.array([[0.05, 0.0], [0.05, 0.03], [0.07, 0.05]])], SPACING)
    assert len(outline.corners) == 4 + 5
    assert outline.corners[list(outline.tips)] == pytest.approx(np.array([[0.07, 0.05]]))
    assert not outline.is_convex
    assert SQUARE.is_convex
    structure = flat_structure(outline, SPACING)
    assert [tuple(structure.u(key)) for key in structure.tips] == [(0.07, 0.05)]
    layout = enrich(structure, 0.016)
    assert validate_mesh(layout.mesh) == []
    assert layout.mesh.face_area.sum() == pytest.approx(0.01, rel=1e-3)


def test_a_ruling_across_a_slit_is_refused_but_one_beside_it_is_not() -> None:
    structure = flat_structure(with_slits(SQUARE, [SLIT], SPACING), SPACING)
    for height, is_refused in ((0.02, True), (0.04, False)):
        draft = Draft(structure)
        places = [structure.outline.place(np.array([x, height]))[0] for x in (0.0, 0.1)]
        draft.curve([(draft.border(places[0]), draft.border(places[1]))])
        if is_refused:
            with pytest.raises(Refused, match="cross"):
                draft.build()
        else:
            assert len(draft.build().cells) == 2


def bent() -> Structure:
    """The square with seven rulings across it."""
    draft = Draft(flat_structure(SQUARE, SPACING))
    draft.curve([(draft.border(0.3 + y), draft.border(0.2 - y)) for y in np.linspace(0.02, 0.08, 7)])
    return draft.build()


def test_a_cut_takes_the_rulings_that_it_crosses_and_leaves_the_others() -> None:
    structure = bent()
    draft = Draft(structure)
    key = draft.border(0.05, is_held=True)
    draft.vertices[key] = draft.vertices[key]._replace(is_held=False)
    cut_open(draft, key, np.array([0.05, 0.045]))
    cut = draft.build()
    assert key not in cut.vertices
    (curve,) = cut.curves.values()
    assert len(curve.rulings) == 4
    assert min(cut.u(end)[1] for ruling in curve.rulings for end in ruling) > 0.045
    assert cut.differs(structure)
    assert validate_mesh(enrich(cut, 0.016).mesh) == []


def test_a_ruling_that_ends_where_a_cut_begins_goes_on_at_its_lip() -> None:
    draft = Draft(flat_structure(SQUARE, SPACING))
    origin = draft.border(0.05, is_held=True)
    draft.vertices[origin] = draft.vertices[origin]._replace(is_held=False)
    draft.curve([(origin, draft.border(0.23)), (draft.border(0.04), draft.border(0.24))])
    cut_open(draft, origin, np.array([0.055, 0.02]))
    cut = draft.build()
    (curve,) = cut.curves.values()
    ends = [cut.u(key) for ruling in curve.rulings for key in ruling if cut.u(key)[1] == 0.0]
    assert max(end[0] for end in ends) == pytest.approx(0.05 - 0.5 * 5e-3 * SPACING)  # the left lip
    held = Draft(cut)
    held.vertices[cut.tips[0]] = held.vertices[cut.tips[0]]._replace(is_held=True)
    with pytest.raises(Refused, match="place"):
        cut_open(held, cut.tips[0], np.array([0.055, 0.03]))


def torn(strength: float, frames: int) -> DevelopableEngine:
    """A sheet with a slit whose sides are pulled apart, every frame checked."""
    away = 0.01
    hands = [
        Hand((0.0, 0.02), ((0.0, STILL), (0.7, (-away, 0.0, 0.0)))),
        Hand((0.1, 0.02), ((0.0, STILL), (0.7, (away, 0.0, 0.0)))),
        Hand((0.05, 0.1), ((0.0, STILL),)),
    ]
    options = DevelopableOptions(strength=strength)
    engine = developable_sheet(hands=hands, slits=[SLIT], gravity=STILL, options=options)
    for _ in range(frames):
        engine.advance_frame()
        check(engine)
    return engine


def test_a_slit_runs_on_where_it_is_pulled_apart() -> None:
    engine = torn(120.0, 20)
    structure = engine.paper.structure
    (tip,) = structure.tips
    assert structure.u(tip)[1] > 0.032
    assert abs(structure.u(tip)[0] - 0.05) < 0.005
    assert structure.outline.length > 0.4 + 2.0 * 0.032
    lip = structure.border.index(tip)
    before, behind = (structure.border[(lip + k) % len(structure.border)] for k in (-1, 1))
    assert np.linalg.norm(engine.paper.x(before) - engine.paper.x(behind)) > 5e-5  # it opens


def test_strong_paper_does_not_tear() -> None:
    structure = torn(float("inf"), 20).paper.structure
    assert structure.u(structure.tips[0]) == pytest.approx(SLIT[1])


def test_legs_beside_a_slit_bend_each_for_itself() -> None:
    hands = [Hand((x, 0.0), ((0.0, STILL), (0.6, (0.0, 0.0, z)))) for x, z in ((0.03, 0.03), (0.07, -0.03))]
    long = np.array([[0.05, 0.0], [0.05, 0.06]])
    engine = developable_sheet(hands=[*hands, Hand((0.05, 0.1))], slits=[long], gravity=STILL)
    for _ in range(36):
        engine.advance_frame()
        check(engine)
    structure = engine.paper.structure
    lips = [structure.outline.tips[0] + k for k in (-1, 1)]
    ends = [key for key in structure.border if structure.vertices[key].place in structure.outline.starts[lips]]
    heights = [engine.paper.x(key)[2] for key in ends]
    assert heights[0] > 0.02
    assert heights[1] < -0.02
    rulings = [ruling for curve in structure.curves.values() for ruling in curve.rulings]
    assert rulings
    for a, b in rulings:
        p, q = structure.u(a), structure.u(b)
        assert max(p[1], q[1]) > 0.055 or (p[0] - 0.05) * (q[0] - 0.05) > -1e-6


@pytest.mark.parametrize(
    ("slit", "message"),
    [
        (np.array([[0.05, 0.01], [0.05, 0.06]]), "begin on the border"),
        (np.array([[0.05, 0.0], [0.05, 0.1]]), "inside"),
        (np.array([[0.05, 0.0]]), "two points"),
    ],
)
def test_slits_that_make_no_sense_are_errors(slit: np.ndarray, message: str) -> None:
    with pytest.raises(InputError, match=message):
        developable_sheet(slits=[slit])
