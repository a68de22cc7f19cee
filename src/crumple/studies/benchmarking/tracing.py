"""energies: what traced energies cost beside kernels that were written by hand, on the same elements in one run."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from crumple.contract import Energy
from crumple.energies.bending_hinge import BendingHinge
from crumple.energies.membrane_stvk import make_membrane_stvk
from crumple.energies.traced.examples import traced_hinge, traced_stvk
from crumple.geometry.triangle import shape_gradients
from crumple.shapes import rectangle
from crumple.studies.benchmarking.report import Record, Report

REPEATS, CALLS = 25, 4
"""Rounds of which the fastest counts, and evaluations in each; the two kernels take turns, so that both see the same
machine."""


def pairs(size: float = 4.4e-3) -> dict[str, tuple[Energy, Energy]]:
    """Name → the energy by hand and the traced one, on a square of 0.3 m meshed at `size` [m]."""
    mesh, _ = rectangle(0.3, 0.3, size, kind="delaunay")
    rng = np.random.default_rng(3)
    nodes = mesh.hinges.nodes
    stiffness, rest = rng.uniform(1e-4, 1e-3, len(nodes)), rng.uniform(-0.5, 0.5, len(nodes))
    c = np.array([1e3, 3e2, 5e2, 4e2])
    corners = mesh.u[mesh.faces]
    by_hand = make_membrane_stvk(corners, mesh.face_nodes, c)
    given = {"gradients": shape_gradients(corners), "area": by_hand.area, "c": c}
    return {
        "hinge": (
            BendingHinge(nodes, stiffness, rest),
            traced_hinge.on(mesh, {"stiffness": stiffness, "rest": rest}),
        ),
        "membrane": (by_hand, traced_stvk.on(mesh, given)),
    }


def measure_traced(size: float = 4.4e-3) -> Report:
    """Microseconds per element for gradient and exact Hessian, and for the value alone."""
    _, flat = rectangle(0.3, 0.3, size, kind="delaunay")
    x = flat + 0.2 * size * np.random.default_rng(5).standard_normal(flat.shape)
    records: list[Record] = []
    for name, (hand, traced) in pairs(size).items():
        count = len(hand.stencil)
        begin = time.perf_counter()
        found = traced.gradient_hessian(x, False)
        compiled = time.perf_counter() - begin
        worst = max(
            float(np.abs(a - b).max() / np.abs(b).max())
            for a, b in zip(found, hand.gradient_hessian(x, False), strict=True)
        )
        for what in ("Hessian", "value"):
            mine, theirs = _fastest(_call(hand, x, what), _call(traced, x, what))
            record: Record = {
                "energy": name,
                "asked for": what,
                "elements": count,
                "by hand [µs]": 1e6 * mine / count,
                "traced [µs]": 1e6 * theirs / count,
                "ratio": theirs / mine,
                "first call [s]": compiled,
                "difference": worst,
            }
            records.append(record)
    return Report("traced energies", tuple(records), ("energy", "asked for"), ("by hand [µs]", "traced [µs]"))


def _call(one: Energy, x: np.ndarray, what: str) -> Callable[[], None]:
    """An evaluation into arrays that are there already."""
    n, k = one.stencil.shape
    value, gradient, hessian = np.empty(n), np.empty((n, k, 3)), np.empty((n, k * (k + 1) // 2, 3, 3))
    order = 2 if what == "Hessian" else 0
    return lambda: one.evaluate(x, order, False, value, gradient, hessian)


def _fastest(first: Callable[[], None], second: Callable[[], None]) -> tuple[float, float]:
    """The shortest processor times of two functions that are called in turns [s]."""
    for function in (first, second):
        function()  # compiles
    best = [np.inf, np.inf]
    for _ in range(REPEATS):
        for k, function in enumerate((first, second)):
            begin = time.process_time()
            for _ in range(CALLS):
                function()
            best[k] = min(best[k], (time.process_time() - begin) / CALLS)
    return best[0], best[1]
