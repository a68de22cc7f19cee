"""Creases: they go back to their angles, are in the mesh for good, and no ruling crosses them."""

from __future__ import annotations

import numpy as np
import pytest

from crumple.developable import Crease, DevelopableEngine, developable_sheet
from crumple.developable.creases import split_crease
from crumple.developable.enrich import CREASE, enrich
from crumple.developable.sessions import SIZE, script
from crumple.developable.structure import SINGULAR, Draft, Refused
from crumple.geometry.hinge import dihedral_angles
from crumple.mesh.validate import validate_mesh
from crumple.runtime.errors import InputError
from crumple.studies.validation.schreck import crossed_creases

MIDDLE = Crease((0.05, 0.0), (0.05, 0.1), 0.8)
STILL = (0.0, 0.0, 0.0)


def fold_angle(engine: DevelopableEngine) -> float:
    """The angle of the only crease [rad]."""
    (edge,) = engine.paper.structure.creases
    hinge = engine.paper.layout.hinge_of(edge)
    assert hinge is not None
    return float(dihedral_angles(engine.state.x, engine.state.mesh.hinges.nodes[[hinge]])[0])


def test_a_crease_begins_folded_and_goes_back_to_its_angle() -> None:
    engine = developable_sheet(creases=[MIDDLE], gravity=STILL)
    assert fold_angle(engine) == pytest.approx(0.8, abs=0.02)
    ridge = engine.state.x[np.abs(engine.state.mesh.u[:, 0] - 0.05) < 1e-9, 2]
    assert ridge.min() > 0.015  # a mountain, with its feet on z = 0
    x = engine.state.x * np.array([1.0, 1.0, 0.7])
    engine.change(engine.model, engine.state.replaced(x=x))
    flattened = fold_angle(engine)
    assert flattened < 0.65
    for _ in range(10):
        engine.advance_frame()
    assert fold_angle(engine) == pytest.approx(0.8, abs=1e-2)
    assert np.count_nonzero(engine.state.mesh.edge_label == CREASE) == 2
    assert validate_mesh(engine.state.mesh) == []


def test_rulings_meet_a_crease_in_a_singular_point_and_never_cross_it() -> None:
    chosen = script("newspaper")
    engine = chosen.engine()
    for _ in range(66):
        engine.advance_frame()
        assert crossed_creases(engine.paper.structure, chosen.creases) == 0
    structure = engine.paper.structure
    assert structure.singular
    assert all(structure.u(key)[0] == pytest.approx(0.5 * SIZE) for key in structure.singular)
    assert len(structure.creases) == len(structure.singular) + 1


def test_a_ruling_across_a_crease_is_refused_and_counted() -> None:
    structure = developable_sheet(creases=[MIDDLE], gravity=STILL).paper.structure
    draft = Draft(structure)
    draft.curve([(draft.border(y + 0.1), draft.border(0.4 - y)) for y in (0.03, 0.05)])
    with pytest.raises(Refused, match="cross"):
        draft.build()
    draft.creases = {}
    assert crossed_creases(draft.build(), [MIDDLE]) == 2


def test_a_ruling_on_a_crease_is_left_out() -> None:
    structure = developable_sheet(creases=[MIDDLE], gravity=STILL).paper.structure
    draft = Draft(structure)
    key = draft.curve([(draft.border(x), draft.border(0.3 - x)) for x in (0.05, 0.06, 0.07)])
    assert len(draft.curves[key].rulings) == 2
    draft.build()


def test_a_vertex_on_a_crease_cuts_it_in_two_with_the_same_angle() -> None:
    draft = Draft(developable_sheet(creases=[MIDDLE], gravity=STILL).paper.structure)
    (edge,) = draft.creases
    split_crease(draft, edge, draft.inner(SINGULAR, np.array([0.05, 0.04])))
    structure = draft.build()
    assert list(structure.creases.values()) == [0.8, 0.8]
    assert validate_mesh(enrich(structure, 0.016).mesh) == []


def test_creases_that_cross_have_a_singular_point() -> None:
    flattened = [Crease((0.05, 0.0), (0.05, 0.1)), Crease((0.0, 0.04), (0.1, 0.04))]
    engine = developable_sheet(creases=flattened, gravity=STILL)
    (key,) = engine.paper.structure.singular
    assert engine.paper.structure.u(key) == pytest.approx([0.05, 0.04])
    assert len(engine.paper.structure.creases) == 4
    engine.advance_frame()


@pytest.mark.parametrize(
    ("creases", "message"),
    [
        ([Crease((0.05, 0.01), (0.05, 0.1))], "border"),
        ([Crease((0.0, 0.0), (0.1, 0.0))], "cross the sheet"),
        ([Crease((0.05, 0.0), (0.05, 0.1), 4.0)], "rest_angle"),
        ([Crease((0.05, 0.0), (0.05, 0.1), 0.5), Crease((0.0, 0.04), (0.1, 0.04))], "rest angle 0"),
        ([Crease((x, 0.0), (x, 0.1), 2.9) for x in (0.02, 0.04, 0.06, 0.08)], "intersect"),
    ],
)
def test_creases_that_make_no_sense_are_errors(creases: list[Crease], message: str) -> None:
    with pytest.raises(InputError, match=message):
        developable_sheet(creases=creases)
