"""Strips with one crease, clamped at one end and loaded at the other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crumple.boundary.creases import Crease
from crumple.contract import EnergyTerm
from crumple.energies.nodal import make_nodal
from crumple.geometry.hinge import dihedral_angles
from crumple.scenes import build, scene_from_tables

LENGTH, CLAMPED, WIDTH = 0.05, 0.02, 0.02
"""Of the free and of the clamped part of a strip, and across it [m]."""


def strip(line, *, size=0.005, bend=2e-6, mode="static", bending="midedge", **tables):
    """A strip along x that is clamped up to x = 0 and has a labelled line; its model and state."""
    scene = {
        "run": {"frame_time": 1.0, "duration": 1.0},
        "solver": {"mode": mode, "max_step": 1.0, "bending": bending, "tolerance": 1e-6, "speed_tolerance": 1e-4},
        "environment": {"gravity": [0, 0, 0]},
        "contact": {"enabled": False},
        "plasticity": {"rule": "none"},
        "sheets": [
            {
                "material": {"bend": bend, "stretch": 2e4, "thickness": 1e-4, "density": 0.1},
                "shape": {
                    "kind": "rectangle", "width": LENGTH + CLAMPED, "height": WIDTH, "size": size, "style": "right",
                },
                "transform": {"translate": [0.5 * (LENGTH - CLAMPED), 0, 0]},
                "creases": [{"line": line, "angle": 0}],
            }
        ],
        "handles": [{"select": {"kind": "box", "low": [-1, -1, -1], "high": [1e-6, 1, 1]}, "stiffness": 1e4}],
    } | tables  # fmt: skip
    model, state, _ = build(scene_from_tables(scene, source="strip"))
    return model, state.replaced(step_size=1.0)


def with_crease(model, state, **crease):
    """The model with the line of the strip as a crease of the model."""
    labels = np.array([int(state.mesh.edge_label.max())], np.int32)
    times, angles = crease.pop("times", np.zeros(1)), crease.pop("angles", np.zeros(1))
    return replace(model, creases=(Crease("line", 0, labels, times, np.array(angles)[:, None], **crease),))


def with_load(model, nodes, force):
    """The model with a force (3,) [N] on all `nodes` together."""
    nodes = np.atleast_1d(np.asarray(nodes, np.int32))
    share = np.tile(np.asarray(force) / len(nodes), (len(nodes), 1))
    return model.with_term(
        EnergyTerm("load", lambda state: make_nodal(nodes, state.x[nodes], np.zeros(len(nodes)), share))
    )


def line_angles(state):
    """Angles of the labelled hinges [degrees]."""
    label = state.mesh.edge_label.ravel()[state.mesh.hinges.corners[:, 0]]
    return np.degrees(dihedral_angles(state.x, state.mesh.hinges.nodes[label > 0]))
