"""What a Newton direction costs with hinges (3×3 blocks) and with mid-edge bending (nodes and one scalar per edge).

    python benchmarks/mixed_system.py [RECORDING FRAME]...

CPU milliseconds of one thread: element Hessians, assembly, analysis, factorisation, solution. Flat Delaunay meshes, and
frames of recordings with the contacts that they have.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence

import numpy as np

from crumple.contact import active_pairs, find_candidates, make_surface
from crumple.energies.bending_hinge import BendingHinge
from crumple.energies.bending_midedge import make_bending_midedge
from crumple.energies.membrane_stvk import make_membrane_stvk
from crumple.geometry.directors import edge_links
from crumple.linalg import make_solver
from crumple.materials.material import isotropic_membrane
from crumple.mesh import SheetMesh, rectangle
from crumple.recording import Recording
from crumple.solving.mixed_system import MixedSystem
from crumple.solving.system import NewtonSystem
from crumple.timing import PhaseTimer
from crumple.typing import Floats, Ints

REPEATS = 7
PLATE = 4e-4 * np.array([[1.0, 0.3, 0.0], [0.3, 1.0, 0.0], [0.0, 0.0, 1.4]])
ACTIVATION = 1e-3


def cpu(work: Callable[[], object]) -> float:
    """Least CPU time of several runs [ms]."""
    times = []
    for _ in range(REPEATS):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return 1e3 * min(times)


def contacts(mesh: SheetMesh, x: Floats) -> list[tuple[Ints, Floats]]:
    """The barrier of a sheet with itself at x, as a term."""
    surface = make_surface(mesh.face_nodes, mesh.node_rest, dynamic_count=mesh.node_count,
                           obstacle_faces=None, node_part=np.zeros(mesh.node_count, np.int32), part_thickness=0.0,
                           friction=0.0, face_area=mesh.face_area, dhat=ACTIVATION)  # fmt: skip
    barrier = active_pairs(surface, find_candidates(surface, x, x, surface.reach), x, 1e3)
    return [(barrier.stencil, barrier.gradient_hessian(x, True)[1])] if len(barrier.stencil) else []


def measure(name: str, mesh: SheetMesh, x: Floats) -> None:
    """Print one row per element."""
    membrane = make_membrane_stvk(mesh.u[mesh.faces], mesh.face_nodes, isotropic_membrane(4e5, 0.3))
    touching = contacts(mesh, x)
    nodes = np.arange(mesh.node_count, dtype=np.int32).reshape(-1, 1)
    mass = (nodes, np.tile(1.0 * np.eye(3), (mesh.node_count, 1, 1, 1)))
    stretch = (mesh.face_nodes, membrane.gradient_hessian(x, True)[1])
    found = sum(len(stencil) for stencil, _ in touching)
    print(f"{name}: {mesh.face_count} faces, {found} contacts; hessian, assembly, analysis, factorisation, solution")
    hinges = BendingHinge(mesh.hinges.nodes, np.full(len(mesh.hinges.nodes), 4e-4), np.zeros(len(mesh.hinges.nodes)))
    system = NewtonSystem(mesh.node_count, [nodes, mesh.face_nodes, hinges.stencil], make_solver(), PhaseTimer())
    terms = [mass, stretch, (hinges.stencil, hinges.gradient_hessian(x, True)[1]), *touching]
    right = np.ones((mesh.node_count, 3))
    report("hinge", cpu(lambda: hinges.gradient_hessian(x, True)), system, lambda: system.assemble(terms), right)
    links = edge_links(mesh)
    still = np.zeros(links.edge_count)
    bending = make_bending_midedge(mesh, links, PLATE)
    mixed = MixedSystem(mesh.node_count, mesh.edges, [nodes, mesh.face_nodes], [(bending.stencil, bending.edges)],
                        make_solver(), PhaseTimer())  # fmt: skip
    parts = bending.gradient_hessian(x, still)
    terms = [mass, stretch, (bending.stencil, parts.blocks), *touching]
    edge_terms = [(bending, parts)]
    report("mid-edge", cpu(lambda: bending.gradient_hessian(x, still)), mixed,
           lambda: mixed.assemble_mixed(terms, edge_terms), np.ones(mixed.coupling.size))  # fmt: skip


def report(name: str, hessian: float, system: NewtonSystem, assemble: Callable[[], object], right: Floats) -> None:
    """Print what the parts of a direction cost."""
    matrix = assemble()
    assembly = cpu(assemble)

    def analyse() -> None:
        system._solver.analyse(system.pattern)

    analysis = cpu(analyse)
    assert system.factorise(matrix)  # type: ignore[arg-type]
    factorisation = cpu(lambda: system._solver.factorise(matrix))  # type: ignore[arg-type]
    solution = cpu(lambda: system._solver.solve(right))
    print(f"  {name:10s}" + "".join(f"{t:9.1f}" for t in (hessian, assembly, analysis, factorisation, solution)))


def main(arguments: Sequence[str]) -> None:
    for divisions in (30, 60, 110):
        mesh, x = rectangle(0.2, 0.2, divisions=(divisions, divisions), kind="delaunay")
        measure(f"flat {divisions}", mesh, x + 1e-4 * np.random.default_rng(0).standard_normal(x.shape))
    for folder, frame in zip(arguments[::2], arguments[1::2], strict=True):
        state = Recording(folder).load(int(frame))
        measure(f"{folder} {frame}", state.mesh, state.x)


if __name__ == "__main__":
    main(sys.argv[1:])
