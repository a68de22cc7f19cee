"""Quantities that colour a sheet."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from crumple.errors import InputError
from crumple.simulation.state import State
from crumple.typing import Floats


@dataclass(frozen=True)
class ColorField:
    """A scalar per face or per node (`on` = "cells" or "points"), its title with unit, and a colour map."""

    title: str
    on: str
    values: Callable[[State], Floats]
    colormap: str = "viridis"


def _plastic_curvature(state: State) -> Floats:
    """Frobenius norm of S_p = [[xx, xy], [xy, yy]] [1/m], (face_count,)."""
    xx, yy, xy = state.plastic_curvature.T
    return np.sqrt(xx**2 + yy**2 + 2 * xy**2)


def _stretch(state: State) -> Floats:
    """World area over material area of each face, (face_count,)."""
    a, b, c = (state.x[state.mesh.face_nodes[:, k]] for k in range(3))
    return 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1) / state.mesh.face_area


FIELDS = {
    "damage": ColorField("damage", "cells", lambda state: state.damage, "YlOrRd"),
    "plastic_curvature": ColorField("plastic curvature [1/m]", "cells", _plastic_curvature, "YlOrRd"),
    "speed": ColorField("speed [m/s]", "points", lambda state: np.linalg.norm(state.v, axis=1)),
    "stretch": ColorField("area ratio", "cells", _stretch, "coolwarm"),
    "sheet": ColorField("sheet", "cells", lambda state: state.mesh.face_sheet.astype(float), "tab10"),
    "material": ColorField("material", "cells", lambda state: state.mesh.face_material.astype(float), "tab10"),
}


def color_field(name: str) -> ColorField:
    """The field called `name`; `InputError` listing the known ones."""
    if name not in FIELDS:
        raise InputError("render --color-by", f"must be one of {', '.join(FIELDS)}", name)
    return FIELDS[name]
