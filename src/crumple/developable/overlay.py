"""The structure of a developable sheet to be drawn over it: rulings, regions, singular points, junctions, held
vertices."""

from __future__ import annotations

import numpy as np

from crumple.developable import structure as kinds
from crumple.developable.shading import Shading
from crumple.developable.structure import NOBODY, Structure
from crumple.developable.view_mesh import ViewMesh
from crumple.simulation.surface_view import HELD, JUNCTION, SINGULAR, Overlay


def make_overlay(view: ViewMesh, shading: Shading) -> Overlay:
    """The overlay of a view; regions are numbered in the order of the structure's."""
    structure = view.layout.structure
    vertex = np.full(view.mesh.node_count, -1, np.int32)
    vertex[shading.node] = np.arange(len(shading.node))
    number = {key: place for place, key in enumerate(structure.curves, 1)} | {NOBODY: 0}
    lines, region = [], []
    for key, curve in structure.curves.items():
        lines += [(vertex[view.node(a)], vertex[view.node(b)]) for a, b in curve.rulings]
        region += [number[key]] * len(curve.rulings)
    lines += [(vertex[view.node(a)], vertex[view.node(b)]) for a, b in structure.creases]
    region += [0] * len(structure.creases)
    points = [(vertex[view.node(key)], kind) for key, kind in marked(structure)]
    return Overlay(
        lines=np.array(lines, np.int32).reshape(-1, 2),
        line_region=np.array(region, np.int32),
        points=np.array([point for point, _ in points], np.int32),
        kinds=np.array([kind for _, kind in points], np.int32),
        region=np.array([number[key] for key in view.region.tolist()], np.int32),
    )


def marked(structure: Structure) -> list[tuple[int, int]]:
    """The vertices that are marked, each with its kind: singular points, junctions, held vertices."""
    ends = {
        key
        for curve in structure.curves.values()
        for ruling in (curve.rulings[0], curve.rulings[-1])
        for key in ruling
        if structure.vertices[key].kind == kinds.BOUNDARY
    }
    held = {key for key, vertex in structure.vertices.items() if vertex.is_held}
    return [
        *((key, SINGULAR) for key in structure.singular),
        *((key, JUNCTION) for key in sorted(ends - held)),
        *((key, HELD) for key in sorted(held)),
    ]
