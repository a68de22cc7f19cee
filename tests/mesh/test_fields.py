"""Fields follow edits by their rules; overlap averages agree with a geometry library."""

from __future__ import annotations

import numpy as np
import pytest
import shapely

import crumple.mesh as cm
import crumple.shapes as cs
from crumple.mesh import Field, Refusal
from crumple.runtime.errors import InputError

SQUARE = cm.make_sheet_mesh(np.array([[0, 0], [1, 0], [1, 1], [0, 1.0]]), np.array([[0, 1, 2], [0, 2, 3]]))


def test_split_interpolates_copies_and_discards() -> None:
    fields = [Field("v", "node", 2, "interpolate"), Field("tag", "node", 1, "copy"), Field("old", "node", 1, "discard")]
    fields += [Field("damage", "face", 1, "conserve"), Field("cache", "face", 1, "discard")]
    values = {"v": np.arange(8.0).reshape(4, 2), "tag": np.arange(4.0), "old": np.ones(4)}
    values |= {"damage": np.array([0.2, 0.6]), "cache": np.ones(2)}
    buf = cm.open_buffers(SQUARE, fields, values)
    assert cm.split_edge(buf, 0, 0.25) == Refusal.OK  # the edge 0→1 of the first face
    _, after, _ = cm.compact(buf, fields)
    assert buf.report.new_node == 4
    assert after["v"][4].tolist() == [0.5, 1.5]
    assert (after["tag"][4], after["old"][4]) == (0.0, 0.0)
    assert after["damage"].tolist() == [0.2, 0.6, 0.2]
    assert after["cache"].tolist() == [0.0, 1.0, 0.0]
    assert sorted(buf.report.faces[: buf.report.face_count]) == [0, 2]


def test_flip_averages_by_area() -> None:
    fields = [Field("damage", "face", 1, "conserve")]
    u = np.array([[0, 0], [2, 0], [1, 1], [1, -3.0]])
    mesh = cm.make_sheet_mesh(u, np.array([[0, 1, 2], [1, 0, 3]]))
    buf = cm.open_buffers(mesh, fields, {"damage": np.array([1.0, 0.0])})
    assert cm.flip_edge(buf, 0) == Refusal.OK
    edited, after, _ = cm.compact(buf, fields)
    np.testing.assert_allclose(after["damage"], 0.25)
    assert sorted(map(sorted, edited.edges[edited.twin[edited.edge_corners] >= 0].tolist())) == [[2, 3]]


@pytest.mark.parametrize("seed", range(6))
def test_collapse_averages_by_true_overlap(seed: int) -> None:
    rng = np.random.default_rng(seed)
    mesh, _ = cs.rectangle(1.0, 1.0, 0.25, kind="delaunay", seed=seed)
    damage = rng.random(mesh.face_count)
    fields = [Field("damage", "face", 1, "conserve")]
    old = [shapely.Polygon(mesh.u[f]) for f in mesh.faces]
    done = 0
    for edge in rng.permutation(3 * mesh.face_count)[:25]:
        buf = cm.open_buffers(mesh, fields, {"damage": damage})
        if cm.collapse_edge(buf, int(edge), False, 1e-9) != Refusal.OK:
            continue
        done += 1
        edited, after, _ = cm.compact(buf, fields)
        for face, value in zip(edited.faces, after["damage"], strict=True):
            new = shapely.Polygon(edited.u[face])
            shared = np.array([new.intersection(o).area for o in old])
            assert value == pytest.approx(float(shared @ damage / shared.sum()), abs=1e-9)
    assert done > 2


def test_columns_are_stacked_in_order() -> None:
    fields = [Field("x", "node", 3, "interpolate"), Field("d", "face", 1, "copy"), Field("v", "node", 3, "interpolate")]
    assert cm.field_columns(fields, "node") == {"x": slice(0, 3), "v": slice(3, 6)}
    assert cm.field_columns(fields, "face") == {"d": slice(0, 1)}


def test_impossible_declarations_are_refused() -> None:
    for where, rule, width in (
        ("node", "conserve", 1),
        ("face", "interpolate", 1),
        ("edge", "interpolate", 1),
        ("hinge", "conserve", 1),
        ("node", "copy", 0),
    ):
        with pytest.raises(InputError, match="field 'f'"):
            Field("f", where, width, rule)
    with pytest.raises(ValueError, match="width 2"):
        cm.open_buffers(SQUARE, [Field("f", "node", 3, "copy")], {"f": np.zeros((4, 2))})
