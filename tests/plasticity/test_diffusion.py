"""Creases do not wear off when the mesh changes again and again (the benchmark of the same name, shortened)."""

import importlib.util
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from plastic_shapes import creased

from crumple.plasticity import crease_from_edges, crease_nodes

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


def test_naive_resampling_wears_it_off():
    """So does the embedding when nodes of the crease may be collapsed to its sides."""
    sheet, share = after(diffusion.remesh_naive, 20)
    assert share < 0.98
    assert diffusion.crease_width(sheet) > 1.1 * diffusion.crease_width(diffusion.make_creased())
    _, share = after(partial(diffusion.remesh_embedded, protect=False), 20)
    assert share < 0.98


def test_crease_nodes_are_those_on_the_line():
    line = creased("delaunay", 0.008)
    plastic = crease_from_edges(line.mesh, line.hinges, -0.7)
    on_line = np.unique(line.mesh.hinges.nodes[line.hinges, :2])
    np.testing.assert_array_equal(np.flatnonzero(crease_nodes(line.mesh, plastic)), on_line)
    assert not crease_nodes(line.mesh, plastic, sharp_angle=0.8).any()
