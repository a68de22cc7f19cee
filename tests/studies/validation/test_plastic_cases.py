"""The plastic cases measure what they say."""

import numpy as np
import pytest

from crumple.studies.validation.crease_spring import BEND, FOLD, WEAKENING, YIELD, fold_sheet
from crumple.studies.validation.plastic_round_trip import bend_and_release, force_remesh, measure
from crumple.studies.validation.strip import make_strip


def test_below_yield_nothing_stays():
    strip = make_strip(0.1, 0.05, 10, clamps=0)
    _, state = bend_and_release(strip, 9.0)
    assert not state.damage.any()
    _, sizes, _ = np.linalg.svd(state.x - state.x.mean(axis=0), full_matrices=False)
    assert sizes[2] < 1e-3 * sizes[1]  # flat again, if a little turned


def test_forced_remesh_changes_the_mesh_and_keeps_the_bend():
    strip = make_strip(0.1, 0.1, 12, clamps=0)
    model, state = bend_and_release(strip, 20.0)
    finer = force_remesh(model, state, 0.6 * strip.spacing)
    assert finer.mesh.face_count > 1.5 * state.mesh.face_count
    assert measure(model, finer).curvature == pytest.approx(measure(model, state).curvature, rel=0.02)


def test_a_crease_is_softer_than_the_sheet_and_finer_meshes_make_it_stiffer():
    """γ = 0.2 < 1: k_c = B/(γθ/κ_y + (1 − γ) h), so both terms matter."""
    coarse, fine = fold_sheet("alternating", 4e-3), fold_sheet("alternating", 2e-3)
    assert fine.stiffness > 1.1 * coarse.stiffness
    assert coarse.stiffness < 0.8 * BEND / coarse.width
    assert fine.stiffness == pytest.approx(BEND / (WEAKENING * FOLD / YIELD + (1 - WEAKENING) * fine.width), rel=0.02)
