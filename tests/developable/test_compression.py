"""Where a flat region is compressed, and how far the bending reaches."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crumple.developable import DevelopableOptions, developable_sheet
from crumple.developable.bend import bend_flats
from crumple.developable.compression import Compression, compression
from crumple.developable.paper import Paper, commit
from crumple.developable.propagation import FREE, find_band
from crumple.developable.structure import Refused
from crumple.runtime.errors import InputError


def bowed(angle: float, turn: float = 1.2) -> Paper:
    """A square sheet on a cylinder that turns by `turn` over its side, the compression at `angle` from u [rad]."""
    paper = developable_sheet(gravity=(0.0, 0.0, 0.0)).paper
    along = np.array([np.cos(angle), np.sin(angle)])
    across = np.array([-along[1], along[0]])
    u = paper.layout.mesh.u - 0.05
    s, radius = u @ along, 0.1 / turn
    x = np.outer(radius * np.sin(s / radius), [*along, 0.0]) + np.outer(u @ across, [*across, 0.0])
    x[:, 2] = radius * np.cos(s / radius)
    return replace(paper, state=paper.state.replaced(x=x))


@pytest.mark.parametrize("degrees", [0.0, 30.0, 75.0])
def test_the_direction_of_a_bow_is_found(degrees: float) -> None:
    paper = bowed(np.radians(degrees))
    found = compression(paper, 0)
    expected = np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))])
    assert abs(found.along @ expected) > np.cos(0.05)
    assert 0.02 < found.value < 0.12


def test_a_flat_sheet_is_not_compressed() -> None:
    paper = developable_sheet(gravity=(0.0, 0.0, 0.0)).paper
    assert compression(paper, 0).value < 1e-4
    assert bend_flats(paper) is paper


def test_a_band_reaches_over_the_whole_sheet() -> None:
    structure = bowed(0.0).structure
    band = find_band(structure, Compression(0, 0.1, np.array([1.0, 0.0]), np.array([0.04, 0.05])))
    assert band.edges == (FREE, FREE)
    assert band.low == pytest.approx(-0.04, abs=1e-4)
    assert band.high == pytest.approx(0.06, abs=1e-4)
    with pytest.raises(Refused):
        find_band(structure, Compression(0, 0.1, np.array([1.0, 0.0]), np.array([0.2, 0.05])))


@pytest.mark.parametrize("degrees", [0.0, 20.0])
def test_a_bow_becomes_a_curved_region_with_rulings_along_it(degrees: float) -> None:
    paper = bend_flats(bowed(np.radians(degrees)))
    (curve,) = paper.structure.curves.values()
    across = np.array([-np.sin(np.radians(degrees)), np.cos(np.radians(degrees))])
    ways = [paper.structure.u(b) - paper.structure.u(a) for a, b in curve.rulings]
    off = [np.arccos(min(1.0, abs(way @ across) / np.linalg.norm(way))) for way in ways if np.linalg.norm(way) > 0.05]
    assert len(curve.rulings) >= 6
    assert max(off) < 0.12
    assert np.abs(paper.isometry.strain(paper.state.x)).max() <= 1e-3
    assert [event.kind for event in paper.events] == ["bend"]


def test_what_changes_nothing_is_refused() -> None:
    paper = bend_flats(bowed(0.0))
    with pytest.raises(Refused, match="nothing"):
        commit(paper, paper.structure)


def test_an_edit_that_intersects_is_refused() -> None:
    paper = bowed(0.0)
    edited = bend_flats(paper)
    x = paper.state.x.copy()
    x[0] = np.array([0.0, 0.0, x[:, 2].max() + 0.01])  # a corner reaches through the middle of the sheet
    broken = replace(paper, state=paper.state.replaced(x=x))
    with pytest.raises(Refused, match="intersect"):
        commit(broken, edited.structure)


def test_options_are_checked() -> None:
    with pytest.raises(InputError, match="curved_angle"):
        DevelopableOptions(flat_angle=0.1, curved_angle=0.01)
