"""Quantities that colour a sheet."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from crumple.analysis.analyze import recording_model
from crumple.energies.stress import membrane_stress
from crumple.errors import InputError
from crumple.geometry.metric import tensor_eigen, tensor_norm
from crumple.geometry.triangle import face_areas
from crumple.recording.recording import Recording
from crumple.rendering.engine import load_matplotlib
from crumple.simulation.adapting import state_sizing
from crumple.simulation.model import Model
from crumple.state import State
from crumple.tearing.separation import largest_tension
from crumple.typing import Floats


@dataclass(frozen=True)
class ColorField:
    """A scalar per face or per node (`on` = "cells" or "points"), its title with unit, and a colour map.

    `log`: whether colours follow the logarithm.
    """

    title: str
    on: str
    values: Callable[[State], Floats]
    colormap: str = "viridis"
    log: bool = False

    def colors(self, values: Floats, limits: tuple[float, float]) -> Floats:
        """Linear red, green, blue of values between the limits, one more axis of length 3."""
        low, high = np.log(limits) if self.log else limits
        share = ((np.log(values) if self.log else values) - low) / (high - low)
        srgb = load_matplotlib().colormaps[self.colormap](np.clip(share, 0.0, 1.0))[..., :3]
        return np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)


def _plastic_curvature(state: State) -> Floats:
    """Frobenius norm of S_p = [[xx, xy], [xy, yy]] [1/m], (face_count,)."""
    return tensor_norm(state.plastic_curvature)


def _stretch(state: State) -> Floats:
    """World area over material area of each face, (face_count,)."""
    return face_areas(state.x, state.mesh.face_nodes) / state.mesh.face_area


FIELDS = {
    "damage": ColorField("damage", "cells", lambda state: state.damage, "YlOrRd"),
    "plastic_curvature": ColorField("plastic curvature [1/m]", "cells", _plastic_curvature, "YlOrRd"),
    "speed": ColorField("speed [m/s]", "points", lambda state: np.linalg.norm(state.v, axis=1)),
    "stretch": ColorField("area ratio", "cells", _stretch, "coolwarm"),
    "sheet": ColorField("sheet", "cells", lambda state: state.mesh.face_sheet.astype(float), "tab10"),
    "material": ColorField("material", "cells", lambda state: state.mesh.face_material.astype(float), "tab10"),
}


SIZING = "sizing"


def color_field(name: str, recording: Recording | None = None) -> ColorField:
    """The field called `name`; `InputError` listing the known ones. Those of `OF_MODEL` need the `recording`."""
    if name in OF_MODEL and recording is not None:
        return OF_MODEL[name](recording)
    if name not in FIELDS:
        raise InputError("render --color-by", f"must be one of {', '.join([*FIELDS, *OF_MODEL])}", name)
    return FIELDS[name]


def stress_field(recording: Recording) -> ColorField:
    """Largest tension in the plane of each face; colours follow its logarithm, as it falls off fast around a tip."""
    model = recording_model(recording)
    return ColorField("tension [MPa]", "cells", lambda state: tension(model, state), "YlOrRd", log=True)


SLACK = 1e-4
"""Strain below which a sheet counts as slack."""


def tension(model: Model, state: State) -> Floats:
    """Largest principal stress of each face, from that of a `SLACK` one to its tensile strength, (face_count,) [MPa].

    At the tip of a crack it has no bound but that of the mesh, which would leave no colours for the rest.
    """
    bounds = [(SLACK * m.stretch_stiffness / m.thickness, m.tensile_strength) for m in model.materials]
    least, most = np.array(bounds)[state.mesh.face_material].T
    stress = membrane_stress(state.mesh, model.materials, state.x, state.plastic_strain)
    return 1e-6 * np.clip(largest_tension(stress), least, np.maximum(most, 2.0 * least))


def crease_field(recording: Recording) -> ColorField:
    """By how much each face was bent for good in all, across the line that was bent most."""
    model = recording_model(recording)
    return ColorField("bent in all [rad]", "cells", lambda state: bent_angle(model, state), "YlOrRd")


def bent_angle(model: Model, state: State) -> Floats:
    """κ_y h λ of each face, λ the largest eigenvalue of the crease tensor, h its width, (face_count,) [rad]."""
    limit = np.array([material.yield_curvature for material in model.materials])[state.mesh.face_material]
    width = np.sqrt(2.0 * np.abs(state.mesh.face_area))
    return np.where(np.isfinite(limit), limit, 0.0) * width * np.maximum(tensor_eigen(state.crease)[0][:, 0], 0.0)


def sizing_field(recording: Recording) -> ColorField:
    """Edge length that the next remeshing would allow at each face, from the model of the recording."""
    model = recording_model(recording)
    if model.remeshing is None:
        raise InputError("render --color-by", "this scene does not remesh: it has no sizing field", SIZING)
    return ColorField("edges [mm]", "cells", lambda state: allowed_length(model, state), "RdYlBu", log=True)


OF_MODEL: dict[str, Callable[[Recording], ColorField]] = {
    SIZING: sizing_field,
    "stress": stress_field,
    "crease": crease_field,
}
"""Fields that are computed anew, with the model of the recording."""


def allowed_length(model: Model, state: State) -> Floats:
    """Geometric mean of the longest and shortest edge that the sizing field M allows, det(M)^(-1/4) [mm], of the mean
    tensor of the corners of each face, (face_count,)."""
    xx, yy, xy = state_sizing(model, state)[state.mesh.faces].mean(axis=1).T
    return 1e3 * (xx * yy - xy**2) ** -0.25
