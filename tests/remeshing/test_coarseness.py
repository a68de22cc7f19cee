"""Notes on meshes that are too coarse: told of bends, waves and compression that edges cannot show, and only then."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crumple.model.derived import Derived
from crumple.options.remeshing import RemeshingOptions
from crumple.options.sizing import SizingOptions
from crumple.plasticity import total_strain
from crumple.remeshing.adapting import Adapting, judge_sheets
from crumple.remeshing.coarseness import tell_coarseness
from crumple.remeshing.demands import Demands
from crumple.runtime.timing import PhaseTimer
from crumple.scenes import build, scene_from_tables

SIZE = 0.01
STYLES = ("equilateral", "alternating", "right", "delaunay")


def flat(style="equilateral"):
    """The model and the state of a flat sheet of 40 × 15 edges."""
    shape = {"kind": "rectangle", "width": 40 * SIZE, "height": 15 * SIZE, "size": SIZE, "style": style}
    material = {"young": 2e9, "thickness": 1e-4, "density": 0.08, "poisson": 0.3}
    run = {"frame_time": 0.04, "duration": 0.04}
    return build(scene_from_tables({"name": "flat", "run": run, "sheets": [{"shape": shape, "material": material}]}))[
        :2
    ]


def told(model, state):
    derived = Derived(model, state)
    return tell_coarseness(derived.relaxed(state), derived)


def waved(state, edges, amplitude=1e-3):
    x = state.x.copy()
    x[:, 2] = amplitude * np.sin(2.0 * np.pi / (edges * SIZE) * x[:, 0])
    # lengths along the waves as they are: only bending counts
    return state.replaced(x=x, plastic_strain=total_strain(state.mesh, x))


def rolled(state, radius):
    x = state.x.copy()
    x[:, 0], x[:, 2] = radius * np.sin(state.x[:, 0] / radius), radius * (1.0 - np.cos(state.x[:, 0] / radius))
    return state.replaced(x=x, plastic_strain=total_strain(state.mesh, x))


@pytest.mark.parametrize("style", STYLES)
def test_waves_of_few_edges_are_told_and_long_ones_are_not(style):
    model, state = flat(style)
    assert "waves of fewer than 6 edges" in told(model, waved(state, 4))
    assert "waves of fewer than 6 edges" in told(model, waved(state, 6))
    assert told(model, waved(state, 16, 2e-3)) == ""
    assert told(model, waved(state, 4, 1e-6)) == ""  # nobody sees it


@pytest.mark.parametrize("style", STYLES)
def test_radii_of_few_edges_are_told_and_large_ones_are_not(style):
    model, state = flat(style)
    assert "radii below 2 edges" in told(model, rolled(state, 1.2 * SIZE))
    assert told(model, rolled(state, 6.0 * SIZE)) == ""
    assert told(model, state) == ""


def test_sharp_folds_and_what_remeshing_means_are_not_told():
    model, state = flat()
    bent = rolled(state, 1.2 * SIZE)
    derived = Derived(model, bent)
    bent = derived.relaxed(bent)
    assert tell_coarseness(bent.replaced(plastic_curvature=derived.curvature(bent)), derived) == ""
    remeshed = replace(model, remeshing=RemeshingOptions(SizingOptions(size_min=SIZE)))
    assert "remeshing.size_min" in told(remeshed, bent)
    assert told(replace(model, remeshing=RemeshingOptions()), bent) == ""  # it will become finer
    assert told(remeshed, rolled(state, 1.9 * SIZE)) == ""
    assert told(remeshed, waved(state, 4)) == ""


def test_compression_that_the_mesh_cannot_give_way_to_is_told():
    model, state = flat("delaunay")
    assert "would wrinkle" in told(model, state.replaced(x=state.x * [1.0, 1.0 - 2e-3, 1.0]))
    assert told(model, state.replaced(x=state.x * [1.0, 1.0 - 2e-5, 1.0])) == ""
    # stretched, it is narrower without being compressed
    assert told(model, state.replaced(x=state.x * [1.05, 1.0 - 0.3 * 0.05, 1.0])) == ""


def test_moving_waves_wait():
    model, state = flat()
    moving = waved(state, 4)
    assert told(model, moving.replaced(ledger=replace(moving.ledger, kinetic=1.0, sheets=1.0))) == ""


def test_it_is_told_once_in_a_run():
    model, state = flat()
    state = rolled(state, 1.2 * SIZE).replaced(ledger=replace(state.ledger, has_begun=True))
    adapting = Adapting(state, Derived(model, state), PhaseTimer(), Demands())
    first = judge_sheets(adapting)
    assert len(first.warnings) == 1
    assert judge_sheets(first) is first
