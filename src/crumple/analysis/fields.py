"""Numbers on sheets, one per node, vertex or face: what pictures, films and the studio colour by.

A new field is a line in `FIELDS`, or in `FIELDS_OF_MODEL` when it takes the model as well; fields of one's own that a
state carries are found by themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from crumple.analysis.analyze import recording_model
from crumple.energies.stress import largest_tension, membrane_stress
from crumple.geometry.curvature import shape_curvature
from crumple.geometry.metric import tensor_eigen, tensor_norm
from crumple.geometry.triangle import face_areas, shape_gradients
from crumple.model.model import Model
from crumple.recording.recording import Recording
from crumple.runtime.errors import InputError
from crumple.runtime.typing import Floats
from crumple.simulation.demands import state_sizing
from crumple.state.state import State, attached_values

SLACK = 1e-4
"""Strain below which a sheet counts as slack."""


@dataclass(frozen=True)
class SheetField:
    """A number per element of the kind `where` ("node", "vertex" or "face").

    `title` with its unit;  `definition`: what it is, in a sentence;  `colormap`: one of matplotlib that the page of the
    studio knows, too;  `log`: whether colours follow the logarithm.
    """

    title: str
    definition: str
    where: str
    values: Callable[[State], Floats]
    colormap: str = "viridis"
    log: bool = False

    def corners(self, state: State) -> Floats:
        """The values at the corners of all faces, (face_count, 3)."""
        mesh, values = state.mesh, self.values(state)
        if self.where == "face":
            return np.repeat(values[:, None], 3, axis=1)
        return values[mesh.face_nodes if self.where == "node" else mesh.faces]


def principal_stretch(state: State) -> Floats:
    """Principal stretches λ of each face, λ² the eigenvalues of FᵀF, largest first, (face_count, 2).

    An inverted or degenerate pattern gives NaN, which is drawn as "no value".
    """
    mesh = state.mesh
    with np.errstate(divide="ignore", invalid="ignore"):
        f = np.einsum("fki,fkj->fij", state.x[mesh.face_nodes], shape_gradients(mesh.u[mesh.faces]))
        c = np.einsum("fki,fkj->fij", f, f)
        eigenvalues, _ = tensor_eigen(np.stack([c[:, 0, 0], c[:, 1, 1], c[:, 0, 1]], axis=-1))
        return np.sqrt(np.maximum(eigenvalues, 0.0))


def _area_ratio(state: State) -> Floats:
    """World area over material area of each face, (face_count,)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return face_areas(state.x, state.mesh.face_nodes) / state.mesh.face_area


def tension(model: Model, state: State) -> Floats:
    """Largest principal stress of each face, from that of a `SLACK` one to its tensile strength, (face_count,) [MPa].

    At the tip of a crack it has no bound but that of the mesh, which would leave no colours for the rest.
    """
    bounds = [(SLACK * m.stretch_stiffness / m.thickness, m.tensile_strength) for m in model.materials]
    least, most = np.array(bounds)[state.mesh.face_material].T
    stress = membrane_stress(state.mesh, model.materials, state.x, state.plastic_strain)
    return 1e-6 * np.clip(largest_tension(stress), least, np.maximum(most, 2.0 * least))


def bent_angle(model: Model, state: State) -> Floats:
    """κ_y h λ of each face, λ the largest eigenvalue of the crease tensor, h its width, (face_count,) [rad]."""
    limit = np.array([material.yield_curvature for material in model.materials])[state.mesh.face_material]
    width = np.sqrt(2.0 * np.abs(state.mesh.face_area))
    return np.where(np.isfinite(limit), limit, 0.0) * width * np.maximum(tensor_eigen(state.crease)[0][:, 0], 0.0)


def allowed_length(model: Model, state: State) -> Floats:
    """Geometric mean of the longest and shortest edge that the sizing field M allows, det(M)^(-1/4) [mm], of the mean
    tensor of the corners of each face, (face_count,)."""
    if model.remeshing is None:
        raise InputError("field", "this scene does not remesh: it has no sizing field", "sizing")
    xx, yy, xy = state_sizing(model, state)[state.mesh.faces].mean(axis=1).T
    return 1e3 * (xx * yy - xy**2) ** -0.25


FIELDS = {
    "damage": SheetField(
        "damage", "How much weaker the face has become by yielding.", "face", lambda state: state.damage, "YlOrRd"
    ),
    "plastic_curvature": SheetField(
        "plastic curvature [1/m]", "Frobenius norm of the curvature at rest.", "face",
        lambda state: tensor_norm(state.plastic_curvature), "YlOrRd",
    ),
    "curvature": SheetField(
        "curvature [1/m]", "Frobenius norm of the curvature.", "face",
        lambda state: tensor_norm(shape_curvature(state.mesh, state.x)), "YlOrRd",
    ),
    "stretch": SheetField(
        "largest stretch", "Largest principal stretch λ₁: length in the world over length in the pattern.", "face",
        lambda state: principal_stretch(state)[:, 0],
    ),
    "strain": SheetField(
        "largest principal strain [%]", "λ₁ − 1 in per cent, in the direction in which the face is stretched most.",
        "face", lambda state: 100.0 * (principal_stretch(state)[:, 0] - 1.0),
    ),
    "compression": SheetField(
        "smallest principal strain [%]", "λ₂ − 1 in per cent, negative where the face is compressed.", "face",
        lambda state: 100.0 * (principal_stretch(state)[:, 1] - 1.0),
    ),
    "area": SheetField(
        "area ratio", "Area in the world over area in the pattern, λ₁ λ₂.", "face", _area_ratio, "coolwarm"
    ),
    "plastic_strain": SheetField(
        "plastic strain", "Frobenius norm of the Green strain at rest.", "face",
        lambda state: tensor_norm(state.plastic_strain), "YlOrRd",
    ),
    "speed": SheetField("speed [m/s]", "Of the node.", "node", lambda state: np.linalg.norm(state.v, axis=1)),
    "acceleration": SheetField(
        "acceleration [m/s²]", "Of the node.", "node", lambda state: np.linalg.norm(state.a, axis=1)
    ),
    "height": SheetField("height z [m]", "Of the node in the world.", "node", lambda state: state.x[:, 2]),
    "sheet": SheetField(
        "sheet", "Number of the sheet.", "face", lambda state: state.mesh.face_sheet.astype(float), "tab10"
    ),
    "material": SheetField(
        "material", "Number of the material.", "face", lambda state: state.mesh.face_material.astype(float), "tab10"
    ),
}  # fmt: skip
"""Fields of a state alone."""

FIELDS_OF_MODEL: dict[str, Callable[[Model], SheetField]] = {
    "sizing": lambda model: SheetField(
        "edges [mm]", "Edge length that the next remeshing would allow.", "face",
        lambda state: allowed_length(model, state), "RdYlBu", log=True,
    ),
    # it falls off fast around a tip
    "stress": lambda model: SheetField(
        "tension [MPa]", "Largest principal stress in the plane of the face, at most its tensile strength.", "face",
        lambda state: tension(model, state), "YlOrRd", log=True,
    ),
    "crease": lambda model: SheetField(
        "bent in all [rad]", "How far the face was bent for good in all, across the line that was bent most.", "face",
        lambda state: bent_angle(model, state), "YlOrRd",
    ),
}  # fmt: skip
"""Fields that are computed anew with the model of a recording."""

RAW = {"x", "v", "a", "y", "damage", "plastic_curvature", "plastic_strain"}
"""Fields of a state that are shown above, or that are places and no quantities."""


def sheet_fields(state: State) -> dict[str, SheetField]:
    """All fields of this state by name: those of `FIELDS`, then what else it carries, one's own included.

    Vectors and tensors are shown by their Euclidean norm.
    """
    fields = dict(FIELDS)
    for field, values in attached_values(state):
        if field.name not in RAW and field.where in ("node", "vertex", "face") and values.dtype.kind in "fiub":
            title = field.name.replace("_", " ")
            fields.setdefault(field.name, SheetField(title, "As stored.", field.where, _reader(field.name)))
    return fields


def recording_field(name: str, recording: Recording, place: str) -> SheetField:
    """The field of a recording called `name`; `InputError` at `place` that lists the known ones."""
    if name in FIELDS_OF_MODEL:
        return FIELDS_OF_MODEL[name](recording_model(recording))
    fields = FIELDS if name in FIELDS else sheet_fields(recording.load(-1))
    if name not in fields:
        raise InputError(place, f"must be one of {', '.join([*fields, *FIELDS_OF_MODEL])}", name)
    return fields[name]


def _reader(name: str) -> Callable[[State], Floats]:
    """Reads the field `name` of a state as one number per element."""

    def read(state: State) -> Floats:
        values = np.asarray(state.field(name), np.float64)
        return values if values.ndim == 1 else np.linalg.norm(values.reshape(len(values), -1), axis=1)

    return read
