"""The datasheet of a dataset: what is in it, how it was made, what it is good for and what not [Gebru2021]."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

import crumple
from crumple.model.model import Model
from crumple.studies.datasets.sources import Source

OUTCOME = "outcome"
"""The column of a sweep's table that says how a run ended."""
MOST_ROWS = 50
"""Runs that the table of the datasheet lists; the file itself names all."""

ARRAYS = (
    ("`time`, `frame`", "(F,)", "simulated time [s], number of the frame in the recording"),
    ("`frame_mesh`", "(F,)", "which of `meshes/` the frame has"),
    ("`x`, `v`", "(n, 3)", "positions [m] and velocities [m/s] of the nodes"),
    (
        "`damage`, `plastic_curvature`",
        "(n,), (n, 3)",
        "of the faces: accumulated plastic bending [-], plastic curvature (xx, yy, xy) in the pattern [1/m]",
    ),
    (
        "`handle_position`",
        "(F, handles, 3)",
        "where each handle wants the middle of what it holds [m], NaN when it holds nothing",
    ),
    (
        "`pin_node`, `pin_handle`, `pin_target`",
        "(n,), (n,), (n, 3)",
        "the nodes that are held, by which handle, where they are wanted [m]",
    ),
    (
        "`contact_nodes`, `contact_is_edges`",
        "(n, 4), (n,)",
        "pairs of node and face, or of two edges; nodes of obstacles are numbered after those of the sheets",
    ),
    (
        "`contact_weight`, `contact_distance`, `contact_force`",
        "(n, 4), (n,), (n, 3)",
        "weights of the closest points, distance of the mid-surfaces [m], normal force on the first side [N]",
    ),
    (
        "`obstacle_x`, `frame_obstacle`, `obstacle_faces`",
        "(m, points, 3), (F,), (…, 3)",
        "places of the obstacles [m], which of them a frame has, their triangles",
    ),
    ("`transfer_frame`", "(T,)", "frames k whose mesh is another than that of k − 1"),
    (
        "`forward_row`, `forward_column`, `forward_weight`, and `backward_…`",
        "(n,)",
        "sparse operators from the nodes of k − 1 to those of k, and back",
    ),
    ("`meshes/…/u`, `faces`", "(vertices, 2), (faces, 3)", "pattern coordinates [m] and triangles of the vertices"),
    ("`meshes/…/vertex_node`", "(vertices,)", "node of each vertex; several share one along seams"),
    ("`scene`", "", "the resolved scene, for `crumple run`; a run steered by hand also needs its start and its moves"),
)
"""Name, shape and meaning of what a run has."""


@dataclass(frozen=True)
class RunFacts:
    """What the datasheet tells of a run: `counts` of nodes and faces of each frame, of changed meshes, of contacts."""

    source: Source
    model: Model
    times: Sequence[float]
    counts: Sequence[tuple[int, int]]
    changes: int
    contacts: int


def describe_dataset(facts: Sequence[RunFacts], *, constant: bool, contacts: bool, precision: type) -> str:
    """The datasheet in Markdown."""
    frames = sum(len(fact.times) for fact in facts)
    faces = [count for fact in facts for _, count in fact.counts]
    materials = sorted({material.name or "unnamed" for fact in facts for material in fact.model.materials})
    solvers = sorted({_solver(fact.model) for fact in facts})
    changes = sum(fact.changes for fact in facts)
    mesh = (
        "All frames of all runs are on one mesh, the finest of them; positions and velocities were interpolated in the "
        "pattern, so they are not exactly what the solver had, and finer wrinkles than the mesh are lost."
        if constant
        else f"Every frame has the mesh of its recording. It changes {changes} times from one frame to the next; "
        "operators between the two interpolate linearly in the pattern."
    )
    touching = (
        f"There are {sum(fact.contacts for fact in facts)} contacts in all frames together; they are those within the "
        "activation distance of the barrier, and their forces leave friction out."
        if contacts
        else "Contacts are not kept."
    )
    return f"""# Datasheet

Made with crumple {crumple.__version__}, a simulator of thin sheets. The file is HDF5 of the format 1;
`crumple.load_dataset` reads it.

## What is in it

{len(facts)} runs, {frames} frames, {min(faces)} to {max(faces)} faces per frame, numbers as {np.dtype(precision).name},
SI units. Materials: {", ".join(materials)}. {mesh} {touching}

{_table(facts)}

Every run is a group `runs/000000` and so on, with these arrays for its F frames:

{_rows([("array", "shape", "what it is"), ("---", "---", "---"), *ARRAYS])}

Arrays with n rows hold those of all frames one after the other; frame k has the rows `node_start[k]` to
`node_start[k + 1]`, and likewise `face_start`, `pin_start`, `contact_start`, and for operators `forward_start`.
The action that leads from frame k to frame k + 1 is `handle_position[k + 1] - handle_position[k]`.

## How it was made

Simulated, not measured: elastic–plastic sheets with penetration-free contact, {"; ".join(solvers)}.
With the same version, machine and one thread the same scene gives the same bits; a run that was steered by hand
also needs its moves, which are the actions.

## What it is good for, and what not

For learning to predict or to control the motion of sheets on meshes. The physics is that of the model: read crumple's
pages on validation before you conclude anything about real material. Crumpling is chaotic: two runs that differ by
rounding part after some folds, so judge predictions of long runs by statistics. Frames of one run are not independent
samples: split into training and test by runs.

## Licence and maintenance

Say here under which licence you pass the dataset on, and whom to ask about it.
"""


def _solver(model: Model) -> str:
    solver = model.solver
    step = f"steps of {solver.fixed_step:g} s" if solver.fixed_step else "adaptive steps"
    return f"{solver.mode}, {solver.integrator}, {step}"


def _table(facts: Sequence[RunFacts]) -> str:
    """One row for each run, with its parameters."""
    names = [name for name in dict.fromkeys(key for fact in facts for key in fact.source.parameters) if name != "run"]
    if OUTCOME in names:  # what a sweep varies comes before it, what it measures after it
        names = names[: names.index(OUTCOME) + 1]
    rows = [("run", "frames", "time [s]", "faces", *names), ("---",) * (4 + len(names))]
    for fact in facts[:MOST_ROWS]:
        faces = [count for _, count in fact.counts]
        span = f"{min(faces)}–{max(faces)}" if min(faces) < max(faces) else str(faces[0])
        values = [str(fact.source.parameters.get(name, "")) for name in names]  # numbers as they were given
        rows.append((fact.source.name, str(len(fact.times)), f"{fact.times[0]:g}–{fact.times[-1]:g}", span, *values))
    more = f"\n\n… and {len(facts) - MOST_ROWS} more." if len(facts) > MOST_ROWS else ""
    return _rows(rows) + more


def _rows(rows: Sequence[tuple[str, ...]]) -> str:
    """A table in Markdown."""
    return "\n".join(f"| {' | '.join(cells)} |" for cells in rows)
