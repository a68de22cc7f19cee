"""The remeshing loop: split what is too long, collapse what may go, flip throughout ([Narain2013] §4).

The field M on the vertices decides: an edge is valid when uᵀ ½(M_i + M_j) u ≤ 1 (eq. 4). Each pass takes the
edges in a fixed order (longest first when splitting, shortest first when collapsing, ties by number), so results do
not depend on anything but the input.

The loop ends: a split halves an edge and M between two vertices never exceeds theirs, every collapse removes a node,
flips per edit are bounded; passes and the number of splits are bounded on top of that.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.sparse import csr_matrix, identity

from crumple.mesh.buffers import Buffers, compact, grow, open_buffers
from crumple.mesh.fields import Field
from crumple.mesh.refusal import NO_CAPACITY
from crumple.mesh.sheet_mesh import SheetMesh
from crumple.options.remeshing import RemeshOptions
from crumple.remeshing import arrays as at
from crumple.remeshing.estimate import estimate_faces
from crumple.remeshing.guard import Guard, guard_arrays, refresh_tree
from crumple.remeshing.passes import COLLAPSE, FLIP, MERGE, SPLIT, gather_edges, gather_thin, run_pass
from crumple.remeshing.sizing.transfer import vertex_sizing
from crumple.remeshing.surface import (
    is_surface,
    join_surface,
    separate_surface,
    surface_overlap_operator,
    tensors_in_charts,
    tensors_in_space,
)
from crumple.remeshing.tuning import TUNING
from crumple.runtime.errors import InputError
from crumple.runtime.typing import Bools, Floats
from crumple.state.change import Change, operators

MAX_PASSES = TUNING.remeshing_passes.value
CURE_ROUNDS = TUNING.cure_rounds.value
TREE_AGE = TUNING.tree_age.value
FLIP_SWEEPS = TUNING.flip_sweeps.value


@dataclass(frozen=True)
class RemeshStatistics:
    """What was done: numbers of edits; `refused` by the guard; `linear` splits that it moved back to the middle of
    the edge; `passes`; `limited`: whether edges were left too long because there are `max_faces` faces; `fallback`: ""
    or why less was done than asked for ("splits only", "unchanged")."""

    splits: int = 0
    flips: int = 0
    collapses: int = 0
    refused: int = 0
    linear: int = 0
    passes: int = 0
    limited: bool = False
    fallback: str = ""


@dataclass(frozen=True)
class RemeshResult(Change):
    """The change that a remeshing made, with all that was carried over: x, v and y by name in `carried`.

    `node_fields`, `face_fields` as given;  `sizing` (vertex_count, 3) the field that the mesh satisfies [1/m²].
    Of a surface in space the vertices of the operators are its nodes.
    """

    node_fields: dict[str, Floats] = field(default_factory=dict)
    face_fields: dict[str, Floats] = field(default_factory=dict)
    sizing: Floats = field(default_factory=lambda: np.zeros((0, 3)))
    statistics: RemeshStatistics = field(default_factory=RemeshStatistics)

    @property
    def x(self) -> Floats:
        """World positions (node_count, 3) [m]."""
        return self.carried["x"]

    @property
    def v(self) -> Floats | None:
        """Velocities (node_count, 3) [m/s], None when none were given."""
        return self.carried.get("v")

    @property
    def y(self) -> Floats | None:
        """The plastic embedding (node_count, 3) [m], None when none was given."""
        return self.carried.get("y")

    def _overlap(self) -> csr_matrix:
        if is_surface(self.old_mesh):
            return surface_overlap_operator(self.old_mesh, self.mesh)
        return super()._overlap()


def remesh(
    mesh: SheetMesh,
    sizing: Floats,
    *,
    x: Floats | None = None,
    v: Floats | None = None,
    y: Floats | None = None,
    node_fields: Mapping[str, Floats] | None = None,
    face_fields: Mapping[str, Floats] | None = None,
    density: Floats | None = None,
    stretch: Floats | None = None,
    protected: Bools | None = None,
    guard: Guard | None = None,
    options: RemeshOptions | None = None,
) -> RemeshResult:
    """The mesh with edges as long as `sizing` allows, and everything that is attached to it.

    `sizing` (vertex_count, 3) [1/m²] tensors in the pattern, or (face_count, 3) tensors of the faces; of a surface in
    space (one chart per triangle) in these charts.
    `x` (node_count, 3) [m] world positions (default: `mesh.node_rest`), `v` [m/s], `y` [m] plastic embedding.
    New nodes are placed smoothly in x and y; v and `node_fields` are interpolated, and what flips and collapses change
    of the linear momentum is given back to the faces around (see `momentum`), with the masses of `density`
    (material groups,) [kg/m²], by default 1. `stretch` (material groups,): square of the stretch beyond which no edit
    takes a face, unless those that it replaces are stretched more; without bound by default. `face_fields` are averaged
    over the old faces under each new one.
    `protected` (node_count,): nodes that are not removed. `guard`: check every edit against contacts; then nothing
    intersects afterwards if nothing did before (all that is new is tested in the end; should that test ever fail,
    only splits in the middle of edges are made, which move nothing, or none: see `statistics.fallback`).
    """
    if not isinstance(mesh, SheetMesh):
        remedy = "must be a SheetMesh; crumple.remeshing.remesh_triangles(vertices, faces, size=…) takes arrays"
        raise InputError("remesh: mesh", remedy, type(mesh).__name__)
    options = options or RemeshOptions()
    job = _Job(mesh, sizing, x, v, y, dict(node_fields or {}), density, stretch, protected, guard)
    result = job.run(options)
    if guard is not None and guard.has_intersections(result.mesh, result.x, result.changed_nodes):
        fallback = replace(options, collapse=False, smooth=False, flip_hysteresis=10.0)
        result = job.run(fallback, flips=False)
        note = "splits only"
        if guard.has_intersections(result.mesh, result.x, result.changed_nodes):
            result, note = job.unchanged(), "unchanged"
        result = replace(result, statistics=replace(result.statistics, fallback=note))
    if face_fields:
        result.face_fields.update({name: result.face_operator @ np.asarray(v) for name, v in face_fields.items()})
    return result


class _Job:
    """The checked input of a remeshing."""

    def __init__(
        self,
        mesh: SheetMesh,
        sizing: Floats,
        x: Floats | None,
        v: Floats | None,
        y: Floats | None,
        node_fields: dict[str, Floats],
        density: Floats | None,
        stretch: Floats | None,
        protected: Bools | None,
        guard: Guard | None,
    ) -> None:
        self.mesh, self.guard, self.node_fields = mesh, guard, node_fields
        self.surface = is_surface(mesh)
        self.x = mesh.node_rest if x is None else _checked("x", x, (mesh.node_count, 3))
        self.v = None if v is None else _checked("v", v, (mesh.node_count, 3))
        self.y = None if y is None else _checked("y", y, (mesh.node_count, 3))
        self.protected = protected
        groups = int(mesh.face_material.max(initial=0)) + 1
        self.density = np.ones(groups) if density is None else _checked("density", density, (len(density),))
        self.stretch = np.full(groups, np.inf) if stretch is None else np.ascontiguousarray(stretch, np.float64)
        for name, given in (("density", self.density), ("stretch", self.stretch)):
            if len(given) < groups:
                raise InputError(f"remesh: {name}", f"must have one entry per material group, {groups}", len(given))
        sizing = np.asarray(sizing, np.float64)
        self.sizing = self._vertex_tensors(sizing)
        self.needed_faces = estimate_faces(mesh, sizing)

    def _vertex_tensors(self, sizing: Floats) -> Floats:
        """The field on vertices, (vertex_count, 3), or in space on nodes, (node_count, 9)."""
        mesh = self.mesh
        if sizing.shape not in ((mesh.vertex_count, 3), (mesh.face_count, 3)):
            remedy = f"must be ({mesh.vertex_count}, 3) on vertices or ({mesh.face_count}, 3) on faces"
            raise InputError("remesh: shape of sizing", remedy, sizing.shape)
        low = 0.5 * (sizing[:, 0] + sizing[:, 1]) - np.hypot(0.5 * (sizing[:, 0] - sizing[:, 1]), sizing[:, 2])
        if not np.all(low >= -1e-9 * np.abs(sizing[:, 0] + sizing[:, 1])):
            raise InputError("remesh: sizing", "tensors must be finite and positive semidefinite, in 1/m²")
        if self.surface:
            six = tensors_in_space(mesh, sizing)
            return np.concatenate([np.zeros((len(six), 3)), six], axis=1)
        return sizing if len(sizing) == mesh.vertex_count else vertex_sizing(mesh, sizing)

    def fields(self) -> tuple[list[Field], dict[str, Floats]]:
        """Fields on nodes and vertices with their values, x first, then y."""
        values: dict[str, Floats] = {"x": self.x}
        if self.y is not None:
            values["y"] = self.y
        if self.v is not None:
            values["v"] = self.v
        values |= {f"field {name}": np.asarray(value, np.float64) for name, value in self.node_fields.items()}
        nodes = self.mesh.node_count
        fields = [
            Field(name, "node", value.reshape(nodes, -1).shape[1], "interpolate") for name, value in values.items()
        ]
        fields.append(Field("sizing", "vertex", self.sizing.shape[1], "interpolate"))
        return fields, values | {"sizing": self.sizing}

    def split_budget(self, options: RemeshOptions, faces: int) -> int:
        """Splits that are more than enough for a mesh of so many faces: a bound for fields that no mesh satisfies."""
        return int(20 * (min(self.needed_faces, options.max_faces) + faces)) + 1000

    def open(self, options: RemeshOptions, flips: bool) -> tuple[at.Work, SheetMesh, list[Field]]:
        """Buffers and records for the loop, the mesh that was opened and its fields."""
        fields, values = self.fields()
        mesh = join_surface(self.mesh, options.feature_angle) if self.surface else self.mesh
        spare = min(max(min(self.needed_faces, options.max_faces) / mesh.face_count, 0.5), 100.0)
        buf = open_buffers(mesh, fields, values, protected=self.protected, spare=spare)
        switches = at.Switches(
            has_y=self.y is not None,
            velocity=-1 if self.v is None else (6 if self.y is not None else 3),
            surface=self.surface,
            guarded=self.guard is not None,
            smooth=options.smooth,
        )
        # an integer instead of a float would be another type, and all would be compiled again
        limits = at.Limits(
            hysteresis=float(options.flip_hysteresis) if flips else 1e300,
            collapse=float(options.collapse_limit),
            aspect=float(options.aspect_min),
            strain=float(options.strain_limit),
            smooth_cos=math.cos(options.smooth_angle),
            feature_cos=math.cos(options.feature_angle),
            outline=float(options.outline_tolerance),
            max_faces=options.max_faces,
        )
        guard = at.no_guard()
        if self.guard is not None:
            surface = self.guard.surface
            guard = guard_arrays(self.guard, self.mesh, len(buf.links.faces))
            gap = 0.5 * max(self.guard.lowest(self.x), 0.0)
            limits = limits._replace(dhat=float(surface.dhat), reach=float(surface.reach), gap=float(gap))
        work = at.make_work(buf, limits, switches, self.density, self.stretch, guard)
        work.tally.faces = mesh.face_count
        return work, mesh, fields

    def run(self, options: RemeshOptions, flips: bool = True) -> RemeshResult:
        """Remesh and carry everything over."""
        work, opened, fields = self.open(options, flips)
        work, passes = _loop(work, options, flips, budget=self.split_budget(options, opened.face_count))
        done = work.tally
        if not (done.splits or done.flips or done.collapses):
            result = self.unchanged()
            statistics = RemeshStatistics(refused=int(done.refused), passes=passes, limited=bool(done.unmet))
            return replace(result, statistics=statistics)
        return self.close(work, fields, passes)

    def close(self, work: at.Work, fields: list[Field], passes: int) -> RemeshResult:
        """The result from the buffers."""
        buf: Buffers = work.buf
        mesh, values, maps = compact(buf, fields)
        node_operator, vertex_operator = operators(buf, maps)
        sizing = values["sizing"]
        if self.surface:
            vertex_operator = node_operator
            mesh = separate_surface(mesh)
            sizing = tensors_in_charts(mesh, np.ascontiguousarray(sizing[:, 3:]))
        done = work.tally
        return RemeshResult(
            old_mesh=self.mesh,
            mesh=mesh,
            node_operator=node_operator,
            vertex_operator=vertex_operator,
            carried={name: values[name] for name in ("x", "v", "y") if name in values},
            node_fields={name: values[f"field {name}"] for name in self.node_fields},
            sizing=sizing,
            statistics=RemeshStatistics(
                splits=int(done.splits),
                flips=int(done.flips),
                collapses=int(done.collapses),
                refused=int(done.refused),
                linear=int(done.linear),
                passes=passes,
                limited=bool(done.unmet),
            ),
        )

    def unchanged(self) -> RemeshResult:
        """The input as a result."""
        nodes = self.mesh.node_count
        sizing = tensors_in_charts(self.mesh, self.sizing[:, 3:]) if self.surface else self.sizing
        placed = {"x": self.x, "v": self.v, "y": self.y}
        return RemeshResult(
            old_mesh=self.mesh,
            mesh=self.mesh,
            node_operator=identity(nodes, format="csr"),
            vertex_operator=identity(nodes if self.surface else self.mesh.vertex_count, format="csr"),
            carried={name: value for name, value in placed.items() if value is not None},
            node_fields=dict(self.node_fields),
            sizing=sizing,
        )


def _checked(name: str, value: Floats, shape: tuple[int, ...]) -> Floats:
    """The array as contiguous float64, if it has the shape and finite entries."""
    array = np.ascontiguousarray(value, np.float64)
    if array.shape != shape:
        raise InputError(f"remesh: shape of {name}", f"must be {shape}", array.shape)
    if not np.isfinite(array).all():
        raise InputError(f"remesh: {name}", "must be finite")
    return array


def _loop(work: at.Work, options: RemeshOptions, flips: bool, budget: int) -> tuple[at.Work, int]:
    """Flips, splits, collapses; returns the work (its buffers may have grown) and the number of passes."""
    if flips:
        since = 0
        for _ in range(FLIP_SWEEPS):
            before = work.tally.flips
            work = _run(work, FLIP, _edges_between(work, -1.0, np.inf, since)[0])
            since = int(work.tally.passes)
            if work.tally.flips == before:
                break
    if options.split:
        work = _split_loop(work, options.split_limit**2, budget)
    work = work._replace(switches=work.switches._replace(coarsening=True))
    if options.collapse:
        work = _collapse_loop(work, options.merge)
    if options.split and options.collapse:
        work = _cure_thin(work, budget)
    return work, int(work.tally.passes)


def _split_loop(work: at.Work, limit: float, budget: int) -> at.Work:
    """Passes of splits until all edges are valid or nothing more can be done."""
    since = 0
    for _ in range(MAX_PASSES):
        edges, size = _edges_between(work, limit, np.inf, since)
        if not len(edges):
            break
        before, room = work.tally.splits, len(work.buf.links.faces)
        work = _run(work, SPLIT, edges[np.argsort(-size, kind="stable")], limit=limit, budget=budget)
        since = int(work.tally.passes)
        if len(work.buf.links.faces) > room:
            since = 0
        elif work.tally.splits == before:
            break
    return work


def _collapse_loop(work: at.Work, merge: bool) -> at.Work:
    """Passes of collapses until nothing more can go; to be rid of thin faces, edges may grow to the full length."""
    since, limit, mode = 0, work.limits.collapse**2, COLLAPSE
    for _ in range(MAX_PASSES):
        edges, size = _edges_between(work, -1.0, limit, since)
        before, room = work.tally.collapses, len(work.buf.links.faces)
        work = _run(work, mode, edges[np.argsort(size, kind="stable")], limit=limit)
        since = int(work.tally.passes)
        work = _run(work, FLIP, _thin_edges(work).ravel())
        work = _run(work, COLLAPSE, _thin_edges(work).ravel(), limit=1.0)
        if len(work.buf.links.faces) > room:
            since = 0
        elif merge and mode == COLLAPSE:
            since, mode = 0, MERGE
        elif work.tally.collapses == before:
            break
    return work


def _cure_thin(work: at.Work, budget: int) -> at.Work:
    """Split the longest edge of faces that are still too thin (often flat against the outline), then collapse there."""
    for _ in range(CURE_ROUNDS):
        thin = _thin_edges(work)
        if not len(thin):
            break
        work = _run(work, SPLIT, np.ascontiguousarray(thin[:, 2]), limit=0.0, budget=budget)
        work = _run(work, COLLAPSE, _thin_edges(work).ravel(), limit=1.0)
    return work


def _edges_between(work: at.Work, low: float, high: float, since: int) -> tuple[np.ndarray, Floats]:
    """Edges that changed since a pass, with low < length² ≤ high, and their length²."""
    buf, surface = work.buf, work.switches.surface
    return gather_edges(
        buf.links, buf.vertex_data, buf.node_rest, surface, buf.counters.faces, work.node_stamp, low, high, since
    )


def _thin_edges(work: at.Work) -> np.ndarray:
    """Edges of the faces below the aspect bound, shortest first, (n, 3)."""
    buf, surface = work.buf, work.switches.surface
    return gather_thin(buf.links, buf.node_rest, surface, buf.counters.faces, work.limits.aspect)


def _run(work: at.Work, mode: int, edges: np.ndarray, limit: float = 1.0, budget: int = 0) -> at.Work:
    """One pass over the edges; after many edits the tree of the faces starts afresh: no item is to stand for many."""
    if not len(edges):
        return work
    work.tally.passes += 1
    if work.switches.guarded:
        done = int(work.tally.splits + work.tally.flips + work.tally.collapses)
        if done >= work.tally.fresh:
            work = refresh_tree(work)
            work.tally.fresh = done + 1 + len(work.guard.first) // TREE_AGE
    links = work.buf.links
    face, corner = edges // 3, edges % 3
    tail, head = links.faces[face, corner], links.faces[face, (corner + 1) % 3]
    ends = np.ascontiguousarray(np.stack([links.vertex_node[tail], links.vertex_node[head]], axis=1))
    if run_pass(work, mode, edges, ends, limit, budget) == NO_CAPACITY:
        work = at.fit_records(work, grow(work.buf))
    return work
