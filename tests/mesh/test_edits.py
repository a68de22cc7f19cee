"""Random edits on odd meshes keep every invariant; chosen edits are refused for the right reason."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from odd_meshes import ODD

import crumple.mesh as cm
import crumple.shapes as cs
from crumple.mesh import Field, Refusal, SheetMesh
from crumple.mesh.buffers import Buffers

FIELDS = (
    Field("x", "node", 3, "interpolate"),
    Field("tag", "node", 1, "copy"),
    Field("chart", "vertex", 2, "interpolate"),
    Field("damage", "face", 1, "conserve"),
    Field("strain", "face", 3, "conserve"),
    Field("cache", "face", 1, "discard"),
)


def field_values(mesh: SheetMesh, rng: np.random.Generator) -> dict[str, np.ndarray]:
    return {
        "x": mesh.node_rest,
        "tag": rng.integers(0, 3, mesh.node_count).astype(float),
        "chart": mesh.u,
        "damage": rng.random(mesh.face_count),
        "strain": rng.normal(size=(mesh.face_count, 3)),
        "cache": np.ones(mesh.face_count),
    }


SPLIT, FLIP, COLLAPSE, CUT = range(4)


def random_edit(buf: Buffers, rng: np.random.Generator, cuts: bool) -> tuple[int, int]:
    """Try an edit of a random kind at a random place: the kind and the refusal code."""
    kind = int(rng.integers(0, 4 if cuts else 3))
    edge = int(rng.integers(0, 3 * buf.counters.faces))
    t, head = float(rng.uniform(0.2, 0.8)), bool(rng.integers(0, 2))
    path = rng.integers(0, 3 * buf.counters.faces, int(rng.integers(1, 4)))
    if kind == SPLIT:
        return kind, cm.split_edge(buf, edge, t)
    if kind == FLIP:
        return kind, cm.flip_edge(buf, edge)
    if kind == COLLAPSE:
        return kind, cm.collapse_edge(buf, edge, head, 1e-9)
    return kind, cm.cut_edges(buf, path, len(path))


def random_edits(mesh: SheetMesh, seed: int, count: int, cuts: bool = False) -> tuple[Buffers, dict, np.ndarray]:
    """Buffers after random edits, the values before, and how often each (kind, refusal code) came up."""
    rng = np.random.default_rng(seed)
    values = field_values(mesh, rng)
    buf = cm.open_buffers(mesh, FIELDS, values, spare=0.0)
    seen = np.zeros((4, len(Refusal)), int)
    for _ in range(count):
        kind, code = random_edit(buf, rng, cuts)
        seen[kind, code] += 1
        if code == Refusal.NO_CAPACITY:
            buf = cm.grow(buf, 1.5)
    return buf, values, seen


def contents(buf: Buffers) -> dict[str, np.ndarray]:
    """Copies of all that describes the mesh and its fields, without scratch."""
    named = buf._asdict() | buf.links._asdict()
    scratch = ("links", "ring", "ring_vertex", "report", "counters", "scratch", "polygon")
    arrays = {name: array.copy() for name, array in named.items() if name not in scratch}
    return arrays | {"counters": np.array([buf.counters.nodes, buf.counters.vertices, buf.counters.faces])}


def check_links(buf: Buffers, mesh: SheetMesh, maps: cm.Maps) -> None:
    """Maintained twins and node corners are those of the compacted mesh computed from scratch."""
    old = np.flatnonzero(maps.face >= 0)
    twin = buf.links.twin.reshape(-1, 3)[old].ravel()
    mapped = np.where(twin >= 0, 3 * maps.face[twin // 3] + twin % 3, -1)
    np.testing.assert_array_equal(mapped, mesh.twin)
    nodes = np.flatnonzero(maps.node >= 0)
    corner = buf.links.node_corner[nodes]
    tail = buf.links.vertex_node[buf.links.faces[corner // 3, corner % 3]]
    np.testing.assert_array_equal(tail, nodes)
    before = corner // 3 * 3 + (corner + 2) % 3
    beside_boundary = (buf.links.twin[corner] < 0) | (buf.links.twin[before] < 0)
    np.testing.assert_array_equal(beside_boundary, mesh.boundary_nodes)


def euler(mesh: SheetMesh) -> int:
    return mesh.node_count - len(mesh.edges) + mesh.face_count


def line_length(mesh: SheetMesh, chosen: np.ndarray) -> float:
    return float(mesh.corner_length[chosen].sum())


@settings(deadline=None, max_examples=15)
@given(seed=st.integers(0, 2**32 - 1))
@pytest.mark.parametrize("name", ODD)
def test_random_edits_keep_the_invariants(name: str, seed: int) -> None:
    mesh = ODD[name]
    buf, values, _ = random_edits(mesh, seed, 70)
    edited, after, maps = cm.compact(buf, FIELDS)
    assert cm.validate_mesh(edited, after["x"]) == []
    check_links(buf, edited, maps)
    assert euler(edited) == euler(mesh)
    for sheet in range(mesh.face_sheet.max() + 1):
        for material in range(mesh.face_material.max() + 1):
            a, b = ((m.face_sheet == sheet) & (m.face_material == material) for m in (mesh, edited))
            assert edited.face_area[b].sum() == pytest.approx(mesh.face_area[a].sum(), rel=1e-7)
    for kind in ("damage", "strain"):
        old = mesh.face_area @ values[kind].reshape(mesh.face_count, -1)
        new = edited.face_area @ after[kind].reshape(edited.face_count, -1)
        np.testing.assert_allclose(new, old, atol=1e-7 * mesh.face_area.sum())
    assert values["damage"].min() - 1e-12 <= after["damage"].min()
    assert after["damage"].max() <= values["damage"].max() + 1e-12
    np.testing.assert_array_equal(after["chart"], edited.u)
    np.testing.assert_allclose(after["x"], edited.node_rest, atol=1e-14)
    assert np.isin(after["tag"], values["tag"]).all()
    assert line_length(edited, edited.twin < 0) == pytest.approx(line_length(mesh, mesh.twin < 0), rel=1e-7)
    labelled_before, labelled_after = mesh.edge_label.ravel() == 3, edited.edge_label.ravel() == 3
    assert line_length(edited, labelled_after) == pytest.approx(line_length(mesh, labelled_before), rel=1e-7)


@settings(deadline=None, max_examples=15)
@given(seed=st.integers(0, 2**32 - 1))
@pytest.mark.parametrize("name", ODD)
def test_random_cuts_among_edits_keep_the_mesh_valid(name: str, seed: int) -> None:
    mesh = ODD[name]
    buf, values, _ = random_edits(mesh, seed, 60, cuts=True)
    edited, after, maps = cm.compact(buf, FIELDS)
    assert cm.validate_mesh(edited, after["x"]) == []
    check_links(buf, edited, maps)
    assert edited.face_area.sum() == pytest.approx(mesh.face_area.sum(), rel=1e-7)
    assert edited.face_area @ after["damage"] == pytest.approx(mesh.face_area @ values["damage"], rel=1e-7)


def check_report(buf: Buffers, before: dict[str, np.ndarray], kind: int) -> None:
    """The report names exactly what the last edit has made, changed and removed; nothing else has changed."""
    report, (nodes, vertices, faces) = buf.report, before["counters"]
    listed = report.faces[: report.face_count]
    removed = [face for face in (report.removed_face_a, report.removed_face_b) if face >= 0]
    moved = (buf.links.faces[:faces] != before["faces"][:faces]).any(axis=1)
    data = (buf.face_data[:faces] != before["face_data"][:faces]).any(axis=1)
    assert set(np.flatnonzero(moved | data)) <= {*listed, *removed}
    assert set(range(faces, buf.counters.faces)) <= set(listed)
    assert (buf.links.faces[removed] == -1).all()
    assert (buf.links.faces[listed] >= 0).all()
    # slots are only ever added, and what a node or vertex holds stays as it is
    np.testing.assert_array_equal(buf.node_data[:nodes], before["node_data"][:nodes])
    np.testing.assert_array_equal(buf.links.u[:vertices], before["u"][:vertices])
    made = buf.counters.nodes - nodes
    assert made == report.new_node_count == (1 if kind == SPLIT else report.new_node_count if kind == CUT else 0)
    assert report.new_node == (nodes if made else -1)
    gone = np.flatnonzero((before["node_corner"][:nodes] >= 0) & (buf.links.node_corner[:nodes] < 0))
    assert gone.tolist() == ([report.removed_node] if kind == COLLAPSE else [])
    assert len(removed) == (0 if kind != COLLAPSE else 1 if report.removed_face_b < 0 else 2)
    new = [v for v in (report.new_vertex_a, report.new_vertex_b) if v >= 0]
    assert kind != SPLIT or new == list(range(vertices, buf.counters.vertices))


@settings(deadline=None, max_examples=5)
@given(seed=st.integers(0, 2**32 - 1))
@pytest.mark.parametrize("name", ODD)
def test_every_single_edit_leaves_a_valid_mesh_and_a_true_report(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = field_values(ODD[name], rng)
    buf = cm.open_buffers(ODD[name], FIELDS, values, spare=0.0)
    mesh = ODD[name]
    for _ in range(25):
        before = contents(buf)
        kind, code = random_edit(buf, rng, cuts=True)
        if code != Refusal.OK:
            after = contents(buf)
            assert [key for key in before if not np.array_equal(before[key], after[key])] == []
            buf = cm.grow(buf, 1.5) if code == Refusal.NO_CAPACITY else buf
            continue
        check_report(buf, before, kind)
        edited, fields, maps = cm.compact(buf, FIELDS)
        assert cm.validate_mesh(edited, fields["x"]) == []
        check_links(buf, edited, maps)
        assert edited.face_area.sum() == pytest.approx(mesh.face_area.sum(), rel=1e-8)
        for kept in ("damage", "strain"):
            old = mesh.face_area @ values[kept].reshape(mesh.face_count, -1)
            new = edited.face_area @ fields[kept].reshape(edited.face_count, -1)
            np.testing.assert_allclose(new, old, atol=1e-8 * mesh.face_area.sum())
        if kind != CUT:
            assert euler(edited) == euler(mesh)
            outline = line_length(mesh, mesh.twin < 0)
            assert line_length(edited, edited.twin < 0) == pytest.approx(outline, rel=1e-8)
        else:
            assert edited.face_count == mesh.face_count
            assert edited.node_count == mesh.node_count + buf.report.new_node_count
        mesh, values = edited, fields


def test_random_sequences_exercise_every_kernel() -> None:
    seen = sum(random_edits(mesh, 1, 300, cuts=True)[2] for mesh in ODD.values())
    assert (seen[:, Refusal.OK] > 50).all()
    wanted = (
        "SEAM",
        "LABEL",
        "MATERIAL",
        "BOUNDARY_EDGE",
        "INVERTED",
        "DUPLICATE_EDGE",
        "LINK",
        "SHAPE",
        "DEAD",
    )
    assert [name for name in wanted if not seen[:, Refusal[name]].any()] == []


def test_refused_edits_change_nothing() -> None:
    for mesh in ODD.values():
        buf = cm.open_buffers(mesh, spare=2.0)
        for edge in range(3 * mesh.face_count):
            before = [a.copy() for a in (*buf.links, np.array(list(buf.counters)[:3]), buf.edge_label)]
            codes = []
            for head in (False, True):
                if cm.plan_collapse(buf, edge, head, 1e-9):
                    codes.append(cm.collapse_edge(buf, edge, head, 1e-9))
            if cm.plan_flip(buf, edge):
                codes.append(cm.flip_edge(buf, edge))
            if mesh.twin[edge] >= 0 and not mesh.boundary_nodes[mesh.edges].any():
                codes.append(cm.cut_edges(buf, np.array([edge]), 1))
            assert Refusal.OK not in codes
            after = [*buf.links, np.array(list(buf.counters)[:3]), buf.edge_label]
            assert all(np.array_equal(a, b) for a, b in zip(before, after, strict=True))


def grid(columns: int, rows: int) -> SheetMesh:
    return cs.rectangle(float(columns), float(rows), kind="right", divisions=(columns, rows))[0]


def edge_between(mesh: SheetMesh, a: int, b: int) -> int:
    """A half-edge a→b."""
    tail, head = mesh.face_nodes.ravel(), np.roll(mesh.face_nodes, -1, axis=1).ravel()
    return int(np.flatnonzero((tail == a) & (head == b))[0])


def test_split_of_a_seam_makes_one_node_and_two_vertices() -> None:
    mesh = ODD["tube"]
    node, vertex = mesh.face_nodes.ravel(), mesh.faces.ravel()
    paired = np.flatnonzero(mesh.twin >= 0)
    other = mesh.twin[paired]
    seam = int(paired[vertex[paired] != vertex[other // 3 * 3 + (other + 1) % 3]][0])
    buf = cm.open_buffers(mesh)
    assert cm.split_edge(buf, seam, 0.25) == Refusal.OK
    edited, _, _ = cm.compact(buf)
    assert cm.validate_mesh(edited) == []
    assert edited.node_count == mesh.node_count + 1
    assert edited.vertex_count == mesh.vertex_count + 2
    a, b = edited.u[-2:]
    assert a[1] == pytest.approx(b[1])  # both sides at the same height
    assert abs(a[0] - b[0]) == pytest.approx(1.0)
    tail = mesh.node_rest[node[seam]]
    new = edited.node_rest[buf.report.new_node]
    assert np.linalg.norm(new - tail) == pytest.approx(0.25 * mesh.corner_length[seam])


def test_corners_of_the_outline_stay_and_straight_sides_collapse() -> None:
    mesh = grid(3, 3)
    buf = cm.open_buffers(mesh)
    corner_edge, side_edge = edge_between(mesh, 0, 1), edge_between(mesh, 1, 2)
    assert cm.collapse_edge(buf, corner_edge, False, 1e-9) in (Refusal.SHAPE, Refusal.PINCH)
    assert cm.plan_collapse(buf, side_edge, True, 1e-9) == Refusal.OK
    assert cm.collapse_edge(buf, side_edge, True, 1e-9) == Refusal.OK
    assert buf.report.removed_node == 2
    inner_edge = edge_between(mesh, 1, 5)
    assert cm.collapse_edge(buf, inner_edge, False, 1e-9) == Refusal.BOUNDARY_EDGE  # would leave the side


def test_tip_of_a_slit_stays() -> None:
    mesh = ODD["slit disk"]
    tip = mesh.node_count - 1
    buf = cm.open_buffers(mesh)
    assert cm.collapse_edge(buf, edge_between(mesh, tip, 0), False, 1e-9) == Refusal.SHAPE
    assert cm.collapse_edge(buf, edge_between(mesh, 8, tip), True, 1e-9) == Refusal.SHAPE


def test_collapse_along_a_seam_takes_back_its_split() -> None:
    mesh = ODD["tube"]
    vertex, paired = mesh.faces.ravel(), np.flatnonzero(mesh.twin >= 0)
    other = mesh.twin[paired]
    seam = int(paired[vertex[paired] != vertex[other // 3 * 3 + (other + 1) % 3]][0])
    damage = np.random.default_rng(0).random(mesh.face_count)
    for head in (False, True):
        buf = cm.open_buffers(mesh, FIELDS[3:4], {"damage": damage})
        assert cm.split_edge(buf, seam, 0.3) == Refusal.OK
        # After the split, `seam` runs from its old tail to the new node.
        edge = seam
        if not head:  # any half-edge that leaves the new node along the seam
            faces, node = buf.links.faces, buf.report.new_node
            tails = buf.links.vertex_node[faces[: buf.counters.faces]].ravel()
            edge = next(int(e) for e in np.flatnonzero(tails == node) if not cm.plan_collapse(buf, e, False, 1e-9))
        assert cm.collapse_edge(buf, edge, head, 1e-9) == Refusal.OK
        assert buf.report.removed_node == mesh.node_count
        edited, values, _ = cm.compact(buf, FIELDS[3:4])
        assert cm.validate_mesh(edited) == []
        assert (edited.node_count, edited.vertex_count) == (mesh.node_count, mesh.vertex_count)
        np.testing.assert_allclose(np.sort(values["damage"]), np.sort(damage), atol=1e-12)


def test_curved_rim_collapses_only_with_tolerance() -> None:
    mesh, _ = cs.disk(1.0, 0.2)
    rim = int(np.flatnonzero(mesh.twin < 0)[0])
    assert cm.collapse_edge(cm.open_buffers(mesh), rim, True, 1e-9) == Refusal.SHAPE
    assert cm.collapse_edge(cm.open_buffers(mesh), rim, True, 0.3) == Refusal.OK


def test_protected_nodes_are_not_removed() -> None:
    mesh = grid(3, 3)
    protected = np.zeros(mesh.node_count, bool)
    protected[5] = True
    buf = cm.open_buffers(mesh, protected=protected)
    assert cm.collapse_edge(buf, edge_between(mesh, 5, 6), False, 1e-9) == Refusal.PROTECTED
    assert cm.collapse_edge(buf, edge_between(mesh, 5, 6), True, 1e-9) == Refusal.OK


def test_closed_tetrahedron_of_one_chart_cannot_collapse() -> None:
    mesh = ODD["tetrahedron"]
    buf = cm.open_buffers(mesh)
    assert all(cm.collapse_edge(buf, e, h, 1.0) != Refusal.OK for e in range(12) for h in (False, True))


def test_split_of_a_pillow_would_join_two_nodes_twice() -> None:
    assert cm.split_edge(cm.open_buffers(ODD["pillow"]), 0, 0.5) == Refusal.DUPLICATE_EDGE


@pytest.mark.parametrize("t", [0.0, 1.0, -1.0, np.nan, 2.0])
def test_split_parameter_must_be_inside(t: float) -> None:
    assert cm.split_edge(cm.open_buffers(ODD["triangle"]), 0, t) == Refusal.PARAMETER


def cut(mesh: SheetMesh, path: list[int]) -> tuple[int, Buffers]:
    edges = np.array([edge_between(mesh, a, b) for a, b in pairwise(path)])
    return cut_half_edges(mesh, edges)


def cut_half_edges(mesh: SheetMesh, edges: np.ndarray) -> tuple[int, Buffers]:
    buf = cm.open_buffers(mesh, spare=0.0)
    while (code := cm.cut_edges(buf, edges, len(edges))) == Refusal.NO_CAPACITY:
        buf = cm.grow(buf)
    return code, buf


def test_cut_from_the_side_duplicates_all_but_its_tip() -> None:
    mesh = grid(4, 4)
    code, buf = cut(mesh, [2, 7, 12])
    edited, _, _ = cm.compact(buf)
    assert (code, buf.report.new_node_count) == (Refusal.OK, 2)
    assert cm.validate_mesh(edited) == []
    assert edited.vertex_count == edited.node_count == mesh.node_count + 2
    assert euler(edited) == 1
    assert line_length(edited, edited.twin < 0) == pytest.approx(16 + 4)


def test_cut_inside_opens_a_slit_only_if_it_has_two_edges() -> None:
    mesh = grid(4, 4)
    assert cut(mesh, [12, 13])[0] == Refusal.DUPLICATE_EDGE
    code, buf = cut(mesh, [11, 12, 13])
    edited, _, _ = cm.compact(buf)
    assert (code, buf.report.new_node_count, euler(edited)) == (Refusal.OK, 1, 0)


def test_cut_from_side_to_side_makes_two_pieces() -> None:
    mesh = grid(4, 4)
    code, buf = cut(mesh, [2, 7, 12, 17, 22])
    edited, _, _ = cm.compact(buf)
    assert (code, buf.report.new_node_count, euler(edited)) == (Refusal.OK, 5, 2)


def test_cut_around_frees_an_island_and_crossing_cuts_free_four_corners() -> None:
    mesh = grid(4, 4)
    code, buf = cut(mesh, [6, 7, 8, 13, 18, 17, 16, 11, 6])
    assert (code, buf.report.new_node_count) == (Refusal.OK, 8)
    assert euler(cm.compact(buf)[0]) == 0 + 1
    cross = [edge_between(mesh, 12, n) for n in (7, 11, 13, 17)] + [edge_between(mesh, 7, 2)]
    code, buf = cut_half_edges(mesh, np.array(cross))
    assert code == Refusal.OK
    # The middle falls in four parts (3 new nodes); 7 and 2 in two each; the other three are tips.
    assert buf.report.new_node_count == 3 + 1 + 1
    assert cm.validate_mesh(cm.compact(buf)[0]) == []


def test_ungluing_the_seam_of_a_tube_gives_its_flat_pattern() -> None:
    mesh = ODD["tube"]
    vertex, paired = mesh.faces.ravel(), np.flatnonzero(mesh.twin > np.arange(len(mesh.twin)))
    other = mesh.twin[paired]
    seam = paired[vertex[paired] != vertex[other // 3 * 3 + (other + 1) % 3]]
    code, buf = cut_half_edges(mesh, seam)
    assert code == Refusal.OK
    edited, _, _ = cm.compact(buf)
    assert cm.validate_mesh(edited) == []
    assert not edited.has_seams
    assert edited.vertex_count == mesh.vertex_count
    assert euler(edited) == 1


def test_maps_tell_where_everything_went() -> None:
    mesh = grid(3, 3)
    buf = cm.open_buffers(mesh)
    assert cm.collapse_edge(buf, edge_between(mesh, 5, 6), False, 1e-9) == Refusal.OK
    edited, _, maps = cm.compact(buf)
    assert len(maps.node) == buf.counters.nodes
    assert maps.node[5] == -1
    kept = np.flatnonzero(maps.node >= 0)
    np.testing.assert_array_equal(edited.node_rest[maps.node[kept]], mesh.node_rest[kept])
    assert (maps.face == -1).sum() == 2


def test_compact_of_untouched_buffers_is_the_same_mesh() -> None:
    for mesh in ODD.values():
        same, _, _ = cm.compact(cm.open_buffers(mesh))
        for name in mesh.__dataclass_fields__:
            a, b = getattr(mesh, name), getattr(same, name)
            assert a.dtype == b.dtype
            np.testing.assert_array_equal(a, b)
