"""Every kind of field follows remeshing, cuts, lines, glides and merging by its rule."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from odd_meshes import ODD
from state_samples import edited, every_field, glided, jittered

import crumple.mesh as cm
from crumple.geometry.metric import tensor_norm
from crumple.geometry.overlap import overlap_area
from crumple.mesh import SheetMesh, validate_mesh
from crumple.plasticity import insert_polyline
from crumple.remeshing import isotropic_sizing, remesh
from crumple.runtime.errors import InputError
from crumple.state import Bonds, Change, Pins, State, close_change, merge, no_change, transfer
from crumple.state.change import NEW
from crumple.state.following import element_count


def remeshed(mesh: SheetMesh) -> Change:
    return remesh(mesh, isotropic_sizing(mesh, 0.13), x=mesh.node_rest)


def cut(mesh: SheetMesh) -> Change:
    """A cut from the middle of one side half way across."""
    start = int(np.flatnonzero(mesh.boundary_nodes)[1])
    buf = cm.open_buffers(mesh, spare=1.0)
    tail, head = mesh.face_nodes.ravel(), np.roll(mesh.face_nodes, -1, axis=1).ravel()
    path = [start]
    for _ in range(3):
        next_to = head[(tail == path[-1]) & (mesh.twin >= 0) & ~mesh.boundary_nodes[head]]
        path.append(int(next(node for node in next_to if node not in path)))
    edges = [int(np.flatnonzero((tail == a) & (head == b))[0]) for a, b in pairwise(path)]
    assert cm.cut_edges(buf, np.array(edges), len(edges)) == cm.Refusal.OK
    return close_change(mesh, buf)[0]


def lined(mesh: SheetMesh) -> Change:
    return insert_polyline(mesh, np.array([[0.13, 0.11], [0.71, 0.83], [2.0, 0.9]])).change


CHANGES = {
    "remeshing": remeshed,
    "cut": cut,
    "line": lined,
    "glide": lambda mesh: glided(mesh, np.random.default_rng(2)),
    "edits": lambda mesh: edited(mesh, np.random.default_rng(3), 60),
}


@pytest.fixture(scope="module", params=CHANGES)
def changed(request) -> tuple[State, Change, State]:
    """The state before, the change, the state after."""
    state = every_field(jittered())
    change = CHANGES[request.param](state.mesh)
    assert not change.is_none
    return state, change, transfer(state, change)


def test_the_new_state_is_valid(changed):
    _, change, after = changed
    assert after.mesh is change.mesh
    assert validate_mesh(after.mesh, after.x) == []
    for own in after.own.values():
        assert len(own.values) == element_count(after.mesh, own.where)


def test_linear_functions_are_reproduced(changed):
    _, _, after = changed
    np.testing.assert_allclose(after.field("rest"), after.mesh.node_rest, atol=1e-14)
    np.testing.assert_allclose(after.field("pattern"), after.mesh.u, atol=1e-14)


def test_integrals_are_conserved_and_bounds_hold(changed):
    state, _, after = changed
    for name in ("damage", "crease", "plastic_strain", "face_conserve"):
        before, now = state.field(name), after.field(name)
        np.testing.assert_allclose(after.mesh.face_area @ now, state.mesh.face_area @ before, atol=1e-12)
        if name in ("damage", "crease"):  # go with the plastic curvature, which may be concentrated
            continue
        assert np.all(now.min(axis=0) >= before.min(axis=0) - 1e-12)
        assert np.all(now.max(axis=0) <= before.max(axis=0) + 1e-12)


def test_embedded_curvature_keeps_its_integral_in_a_flat_embedding(changed):
    """Nothing of S_p is in a flat y: all of it is residual, which is averaged by area."""
    state, _, after = changed
    before, now = state.plastic_curvature, after.plastic_curvature
    np.testing.assert_allclose(after.mesh.face_area @ now, state.mesh.face_area @ before, atol=1e-10)


def segment_holds(points: np.ndarray, a: np.ndarray, b: np.ndarray) -> bool:
    """Whether all points lie on the segment ab."""
    along = (points - a) @ (b - a) / ((b - a) @ (b - a))
    foot = a + along[:, None] * (b - a)
    return bool(np.all(np.linalg.norm(points - foot, axis=1) < 1e-9) and along.min() > -1e-9 and along.max() < 1 + 1e-9)


def brute_edge_source(old: SheetMesh, new: SheetMesh) -> np.ndarray:
    """The old edge on which each new one lies, by geometry."""
    source = np.full(len(new.edges), NEW)
    for e, ends in enumerate(new.edges):
        for k, (a, b) in enumerate(old.edges):
            if segment_holds(new.node_rest[ends], old.node_rest[a], old.node_rest[b]):
                source[e] = k
    return source


def test_sources_of_edges_and_hinges_agree_with_geometry(changed):
    state, change, after = changed
    source = brute_edge_source(state.mesh, after.mesh)
    # where several old edges are in line, a node between three old ones may be on one of them: this is not noticed
    many = (np.diff(change.node_operator.indptr) > 2)[after.mesh.edges].any(axis=1)
    assert (change.edge_source[many] == NEW).all()
    source[many] = NEW
    assert (source != NEW).sum() > 10
    np.testing.assert_array_equal(change.edge_source, source)
    np.testing.assert_array_equal(after.field("edge_copy"), source + 1)
    hinge_of = {tuple(sorted(nodes)): h for h, nodes in enumerate(state.mesh.hinges.nodes[:, :2].tolist())}
    edge_of = {tuple(sorted(nodes)): e for e, nodes in enumerate(after.mesh.edges.tolist())}
    for h, nodes in enumerate(after.mesh.hinges.nodes[:, :2].tolist()):
        old = source[edge_of[tuple(sorted(nodes))]]
        expected = NEW if old == NEW else hinge_of.get(tuple(sorted(state.mesh.edges[old].tolist())), NEW)
        assert change.hinge_source[h] == expected
        assert after.field("hinge_copy")[h] == expected + 1


def test_sources_of_faces_agree_with_geometry(changed):
    state, change, after = changed
    corners = {tuple(sorted(map(tuple, state.mesh.u[face].tolist()))): f for f, face in enumerate(state.mesh.faces)}
    expected = [corners.get(tuple(sorted(map(tuple, after.mesh.u[face].tolist()))), NEW) for face in after.mesh.faces]
    np.testing.assert_array_equal(change.face_source, expected)
    np.testing.assert_array_equal(after.field("face_discard"), np.array(expected) + 1)
    shared = overlap_area(state.mesh.u, state.mesh.faces, after.mesh.u, after.mesh.faces).toarray()
    copied = after.field("face_copy") - 1
    np.testing.assert_allclose(shared[np.arange(len(copied)), copied], shared.max(axis=1), rtol=1e-9)


@pytest.mark.parametrize("where", ["node", "vertex"])
def test_nodes_and_vertices_copy_and_discard(changed, where):
    _, change, after = changed
    rows = (change.node_operator if where == "node" else change.vertex_operator).toarray()
    copied, kept = after.field(f"{where}_copy"), after.field(f"{where}_discard")
    np.testing.assert_allclose(rows.sum(axis=1), 1.0, atol=1e-12)
    np.testing.assert_allclose(rows[np.arange(len(rows)), copied - 1], rows.max(axis=1))
    for row, value in zip(rows, kept, strict=True):
        assert value == (np.argmax(row) + 1 if np.count_nonzero(row) == 1 else 0)


def test_types_are_kept(changed):
    """Numbers of things stay integers."""
    state, _, after = changed
    assert all(after.own[name].values.dtype == own.values.dtype for name, own in state.own.items())


def test_what_the_edit_has_placed_is_taken():
    state = every_field(jittered())
    change = remesh(state.mesh, isotropic_sizing(state.mesh, 0.13), x=state.x + 1.0, v=state.v)
    after = transfer(state, change)
    np.testing.assert_array_equal(after.x, change.x)
    np.testing.assert_array_equal(after.v, change.v)
    np.testing.assert_allclose(after.y, change.node_operator @ state.y)


def test_no_change_is_no_change():
    state = every_field(jittered())
    change = no_change(state.mesh)
    assert transfer(state, change) is state
    np.testing.assert_array_equal(change.edge_source, np.arange(len(state.mesh.edges)))
    np.testing.assert_array_equal(change.face_source, np.arange(state.mesh.face_count))
    assert not change.changed_nodes.any()


def test_a_change_of_another_mesh_is_refused():
    with pytest.raises(InputError, match="another mesh"):
        transfer(every_field(jittered()), cut(jittered(6, 6)))


def test_a_cut_doubles_what_is_pinned():
    """Both sides of a cut stay in the hand; a bond stays with the first."""
    state = every_field(jittered())
    change = cut(state.mesh)
    copies = np.flatnonzero(np.diff(change.node_operator.tocsc().indptr) == 2)
    assert len(copies) > 0
    node = copies[:1].astype(np.int32)
    pins = Pins(node, np.array([3], np.int32), np.array([[1.0, 2.0, 3.0]])).follow(change)
    assert len(pins.node) == 2
    np.testing.assert_array_equal(pins.handle, [3, 3])
    np.testing.assert_array_equal(pins.anchor, [[1.0, 2.0, 3.0]] * 2)
    other = np.int32(state.mesh.node_count - 1)
    bonds = Bonds(np.array([[node[0], other]], np.int32), np.zeros(1, np.int32)).follow(change)
    np.testing.assert_array_equal(bonds.nodes, [[change.node_map[node[0]], change.node_map[other]]])


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("seed", range(3))
def test_random_edits_and_glides_on_odd_meshes(name, seed):
    """Splits, flips, collapses, cuts, then glides, twice: everything attached stays valid and conserved."""
    rng = np.random.default_rng(seed)
    state = every_field(ODD[name], seed)
    start = state
    for _ in range(2):
        state = transfer(state, edited(state.mesh, rng, 40))
        assert validate_mesh(state.mesh, state.x) == []
        state = transfer(state, glided(state.mesh, rng))
        assert validate_mesh(state.mesh, state.x) == []
    np.testing.assert_allclose(state.field("rest"), state.mesh.node_rest, atol=1e-13)
    np.testing.assert_allclose(state.field("pattern"), state.mesh.u, atol=1e-13)
    area = state.mesh.face_area
    assert area.sum() == pytest.approx(start.mesh.face_area.sum(), rel=1e-9)
    for field in ("damage", "plastic_strain", "face_conserve"):
        np.testing.assert_allclose(area @ state.field(field), start.mesh.face_area @ start.field(field), atol=1e-7)
    assert state.damage.min() >= 0.0
    # whatever the embedding shows, no face is bent for good by more than it has been worked
    worked = (tensor_norm(start.plastic_curvature) / start.damage).max() * state.damage
    assert np.all(tensor_norm(state.plastic_curvature) <= worked * (1.0 + 1e-9))
    for where in ("node", "vertex", "face"):
        assert np.isin(state.field(f"{where}_copy"), start.field(f"{where}_copy")).all()
    for where in ("node", "vertex", "face", "edge", "hinge"):
        assert np.isin(state.field(f"{where}_discard"), [0, *start.field(f"{where}_discard")]).all()


def test_merged_sheets_keep_their_fields_side_by_side():
    parts = [every_field(jittered(4, 3), 1), every_field(ODD["moebius"], 2)]
    for k, part in enumerate(parts):
        node = np.array([k + 1], np.int32)
        parts[k] = part.replaced(
            pins=Pins(node, node * 0 + k, part.x[node]), bonds=Bonds(np.array([[k, k + 2]], np.int32), node * 0)
        )
    whole = merge(parts)
    assert validate_mesh(whole.mesh, whole.x) == []
    first = parts[0].mesh.node_count
    for field in ("x", "damage", "node_copy", "vertex_interpolate", "face_conserve", "edge_copy", "hinge_discard"):
        expected = np.concatenate([part.field(field) for part in parts])
        np.testing.assert_array_equal(whole.field(field), expected)
    np.testing.assert_array_equal(whole.pins.node, [1, first + 2])
    np.testing.assert_array_equal(whole.pins.handle, [0, 1])
    np.testing.assert_array_equal(whole.bonds.nodes, [[0, 2], [first + 1, first + 3]])
    ends = [np.sort(part.mesh.edges[part.field("edge_copy") - 1], axis=1) for part in parts]
    np.testing.assert_array_equal(np.sort(whole.mesh.edges, axis=1), np.concatenate([ends[0], ends[1] + first]))
