"""Creases do not wear off when the mesh changes again and again (the benchmark of the same name, shortened)."""

import importlib.util
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from plastic_shapes import creased

from crumple.plasticity import crease_from_edges, crease_hinges, mark_creases, unmark_creases

spec = importlib.util.spec_from_file_location("diffusion", Path(__file__).parents[2] / "benchmarks" / "diffusion.py")
diffusion = importlib.util.module_from_spec(spec)
sys.modules["diffusion"] = diffusion  # where its dataclasses look themselves up
spec.loader.exec_module(diffusion)


def after(change, remeshes):
    """The sheet after some remeshes, and its fold angle beside the crease over that at the start."""
    sheet = diffusion.make_creased()
    start = diffusion.fold_angle(sheet, *diffusion.BESIDE)
    for step in range(1, remeshes + 1):
        sheet = change(sheet, step)
    return sheet, diffusion.fold_angle(sheet, *diffusion.BESIDE) / start


def test_the_embedding_keeps_a_flattened_crease():
    sheet, share = after(diffusion.remesh_embedded, 20)
    assert share == pytest.approx(1.0, abs=0.02)
    assert diffusion.crease_width(sheet) < 1.1 * diffusion.crease_width(diffusion.make_creased())


def test_the_embedding_keeps_a_crease_whose_edges_are_not_kept():
    """Edges are flipped and nodes collapsed to its sides: it gets wider, but does not open."""
    sheet, share = after(partial(diffusion.remesh_embedded, protect=False), 20)
    assert share == pytest.approx(1.0, abs=0.03)
    assert diffusion.crease_width(sheet) < 1.5 * diffusion.crease_width(diffusion.make_creased())


def test_a_crease_wears_off_by_resampling():
    sheet, share = after(partial(diffusion.remesh_naive, protect=False), 20)
    assert share < 0.98
    assert diffusion.crease_width(sheet) > 1.1 * diffusion.crease_width(diffusion.make_creased())


def test_crease_hinges_are_those_on_the_line():
    line = creased("delaunay", 0.008)
    plastic = crease_from_edges(line.mesh, line.hinges, -0.7)
    assert not crease_hinges(line.mesh, plastic, sharp_angle=0.8).any()
    hinges = crease_hinges(line.mesh, plastic)
    np.testing.assert_array_equal(hinges, line.hinges)


def test_marks_go_where_there_is_no_label_and_come_off():
    line = creased("delaunay", 0.008, label=7)
    other = np.roll(line.hinges, 5) & ~line.hinges
    marked = mark_creases(line.mesh, line.hinges | other)
    changed = marked.edge_label != line.mesh.edge_label
    assert set(np.flatnonzero(changed)) == set(line.mesh.hinges.corners[other].ravel())
    np.testing.assert_array_equal(unmark_creases(marked).edge_label, line.mesh.edge_label)
    assert mark_creases(line.mesh, line.hinges) is line.mesh
