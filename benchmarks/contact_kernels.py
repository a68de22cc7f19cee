"""Milliseconds per contact kernel on a rolled-up sheet with several layers, and the same with ipctk if installed.

    python benchmarks/contact_kernels.py [faces] [threads]

Wall time and processor time of the fastest of several calls: on a busy machine the second is the one to trust.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numba
import numpy as np

from crumple.contact import (
    active_pairs,
    barrier_energy,
    find_candidates,
    has_intersections,
    make_friction,
    make_surface,
    step_limit,
)

PITCH, RADIUS, THICKNESS, DHAT, MOTION = 6e-4, 0.012, 1e-4, 6e-4, 2e-4


def make_roll(face_count: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """An A4 sheet with about `face_count` jittered faces: flat positions, faces, positions of the roll [m]."""
    rows = round(np.sqrt(face_count / 2 * 297 / 210))
    columns = round(rows * 210 / 297)
    grid = np.meshgrid(np.linspace(0, 0.21, columns + 1), np.linspace(0, 0.297, rows + 1), indexing="ij")
    u = np.stack(grid, axis=-1)
    u[1:-1, 1:-1] += np.random.default_rng(seed).uniform(-0.3, 0.3, u[1:-1, 1:-1].shape) * 0.297 / rows
    u = u.reshape(-1, 2)
    node = np.arange(len(u)).reshape(columns + 1, rows + 1)
    a, b, c, d = (n.ravel() for n in (node[:-1, :-1], node[1:, :-1], node[1:, 1:], node[:-1, 1:]))
    faces = np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)]).astype(np.int32)
    k = PITCH * max(1.0, 7000 / face_count) / (4 * np.pi)  # coarse layers need more room
    angle = (-RADIUS + np.sqrt(RADIUS**2 + 4 * k * u[:, 1])) / (2 * k)
    r = RADIUS + 2 * k * angle
    turn, _ = np.linalg.qr(np.random.default_rng(3).normal(size=(3, 3)))
    x = np.stack([u[:, 0], r * np.cos(angle), r * np.sin(angle)], axis=1) @ turn.T
    return np.pad(u, ((0, 0), (0, 1))), faces, np.ascontiguousarray(x)


def report(name: str, call: Callable[[], object], repeats: int = 15) -> None:
    """Print the least wall and processor time of `call`."""
    wall, cpu = [], []
    for _ in range(repeats):
        start, used = time.perf_counter(), time.process_time()
        call()
        wall.append(time.perf_counter() - start)
        cpu.append(time.process_time() - used)
    print(f"{name:34s} {1e3 * min(wall):8.2f} ms   processor {1e3 * min(cpu):8.2f} ms")


def run(face_count: int) -> None:
    """Time everything that one Newton iteration calls."""
    rest, faces, x = make_roll(face_count)
    y = x + MOTION * np.random.default_rng(0).normal(size=x.shape)
    surface = make_surface(faces, rest, dhat=DHAT, part_thickness=THICKNESS, friction=0.3)
    first = time.process_time()
    candidates = find_candidates(surface, x, y, surface.reach)
    barrier = active_pairs(surface, candidates, x, 1e5)
    limit = step_limit(surface, candidates, x, y)
    friction = make_friction(barrier, x, x, dt=1e-2, eps_v=1e-2)
    barrier.gradient_hessian(x, True), friction.gradient_hessian(x, True), barrier.value(x)
    assert not has_intersections(surface, x + limit.fraction * (y - x))
    print(f"first calls (compiled or loaded) {time.process_time() - first:8.2f} s of processor time")
    pairs = f"{len(candidates.point_face)} + {len(candidates.edge_edge)} candidates, {barrier.count} contacts"
    print(f"{len(faces)} faces, {pairs}, step limit {limit.fraction:.3f}")
    report("candidates", lambda: find_candidates(surface, x, y, surface.reach))
    report("active pairs", lambda: active_pairs(surface, candidates, x, 1e5))
    report("barrier energy of all candidates", lambda: barrier_energy(surface, candidates, x, 1e5))
    report("barrier gradient and Hessian", lambda: barrier.gradient_hessian(x, True))
    report("friction gradient and Hessian", lambda: friction.gradient_hessian(x, True))
    report("step limit", lambda: step_limit(surface, candidates, x, y))
    report("intersection test", lambda: has_intersections(surface, x))


def run_ipctk(face_count: int) -> None:
    """The same with ipctk."""
    import ipctk

    rest, faces, x = make_roll(face_count)
    y = x + MOTION * np.random.default_rng(0).normal(size=x.shape)
    x, y = np.asfortranarray(x), np.asfortranarray(y)
    mesh = ipctk.CollisionMesh(rest, ipctk.edges(faces), faces)
    candidates = ipctk.Candidates()
    reach = THICKNESS + DHAT
    contacts = ipctk.NormalCollisions()
    barrier = ipctk.BarrierPotential(reach, 1.0)
    project = ipctk.PSDProjectionMethod.CLAMP
    candidates.build(mesh, x, y, reach / 2, ipctk.LBVH())
    contacts.build(candidates, mesh, x, reach)
    ccd = ipctk.AdditiveCCD()
    print(
        f"ipctk: {len(candidates.fv_candidates)} + {len(candidates.ee_candidates)} candidates, {len(contacts)} contacts"
    )
    report("  candidates", lambda: candidates.build(mesh, x, y, reach / 2, ipctk.LBVH()))
    report("  active pairs", lambda: contacts.build(candidates, mesh, x, reach))
    report("  barrier gradient", lambda: barrier.gradient(contacts, mesh, x))
    report("  barrier Hessian (assembled)", lambda: barrier.hessian(contacts, mesh, x, project), 5)
    report("  step limit", lambda: candidates.compute_collision_free_stepsize(mesh, x, y, 0.0, ccd), 5)
    report("  intersection test", lambda: ipctk.has_intersections(mesh, x))


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 7000
    if len(sys.argv) > 2:
        numba.set_num_threads(int(sys.argv[2]))
    run(count)
    try:
        run_ipctk(count)
    except ImportError:
        print("ipctk is not installed")
