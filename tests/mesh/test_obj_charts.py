"""Surfaces in space laid flat in charts: every face once, upright, with nearly its lengths."""

from __future__ import annotations

import numpy as np
import pytest

from crumple.mesh.io.obj_charts import lay_in_charts
from crumple.mesh.io.obj_pattern import chart_faces, signed_area
from crumple.shapes.obstacles import box, cylinder_surface, sphere

SURFACES = {
    "sphere": (sphere(0.3, 2), 20, 0.05),
    "tube": (cylinder_surface(0.1, 0.4, 24, rows=4), 16, 0.01),
    "box": (box((0.2, 0.3, 0.1), 2), 6, 1e-9),
}


@pytest.mark.parametrize("name", SURFACES)
def test_charts_are_few_and_nearly_isometric(name):
    (points, faces), most_charts, most_strain = SURFACES[name]
    u, corners = lay_in_charts(points, faces)
    assert len(chart_faces(corners, len(u))) <= most_charts
    assert (signed_area(u[corners]) > 0.0).all()
    world, flat = points[faces], u[corners]
    ratio = np.linalg.norm(np.roll(flat, -1, axis=1) - flat, axis=2) / np.linalg.norm(
        np.roll(world, -1, axis=1) - world, axis=2
    )
    assert np.abs(ratio - 1.0).max() < most_strain
