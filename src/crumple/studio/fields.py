"""Numbers that colour a sheet: every field of a state that lives on nodes, vertices or faces, and some made from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from crumple.errors import InputError
from crumple.geometry.curvature import shape_curvature
from crumple.geometry.metric import tensor_eigen, tensor_norm
from crumple.geometry.triangle import face_areas, shape_gradients
from crumple.state import State, attached_values
from crumple.typing import Floats

PLACES = ("node", "vertex", "face")


@dataclass(frozen=True)
class ShownField:
    """A number per element of the kind `where`, its title with unit, and a colour map that the page knows."""

    title: str
    where: str
    values: Callable[[State], Floats]
    colormap: str = "viridis"

    def describe(self, name: str) -> dict[str, str]:
        """What the page needs to offer it."""
        return {"name": name, "title": self.title, "where": self.where, "colormap": self.colormap}


def principal_strain(state: State) -> Floats:
    """Principal engineering strains of each face, λ − 1 with λ² the eigenvalues of FᵀF, largest first, (face_count, 2).

    An inverted or degenerate pattern gives NaN, which is drawn as "no value".
    """
    mesh = state.mesh
    with np.errstate(divide="ignore", invalid="ignore"):
        f = np.einsum("fki,fkj->fij", state.x[mesh.face_nodes], shape_gradients(mesh.u[mesh.faces]))
        c = np.einsum("fki,fkj->fij", f, f)
        eigenvalues, _ = tensor_eigen(np.stack([c[:, 0, 0], c[:, 1, 1], c[:, 0, 1]], axis=-1))
        return np.sqrt(np.maximum(eigenvalues, 0.0)) - 1.0


def _area_ratio(state: State) -> Floats:
    """World area over material area of each face, (face_count,)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return face_areas(state.x, state.mesh.face_nodes) / state.mesh.face_area


DERIVED = {
    "damage": ShownField("damage", "face", lambda state: state.damage, "YlOrRd"),
    "plastic_curvature": ShownField(
        "plastic curvature [1/m]", "face", lambda state: tensor_norm(state.plastic_curvature), "YlOrRd"
    ),
    "curvature": ShownField(
        "curvature [1/m]", "face", lambda state: tensor_norm(shape_curvature(state.mesh, state.x)), "YlOrRd"
    ),
    "strain": ShownField("largest principal strain", "face", lambda state: principal_strain(state)[:, 0]),
    "compression": ShownField("smallest principal strain", "face", lambda state: principal_strain(state)[:, 1]),
    "area_ratio": ShownField("area ratio", "face", _area_ratio, "coolwarm"),
    "plastic_strain": ShownField("plastic strain", "face", lambda state: tensor_norm(state.plastic_strain), "YlOrRd"),
    "speed": ShownField("speed [m/s]", "node", lambda state: np.linalg.norm(state.v, axis=1)),
    "acceleration": ShownField("acceleration [m/s²]", "node", lambda state: np.linalg.norm(state.a, axis=1)),
    "height": ShownField("height z [m]", "node", lambda state: state.x[:, 2]),
    "sheet": ShownField("sheet", "face", lambda state: state.mesh.face_sheet.astype(float), "tab10"),
    "material": ShownField("material", "face", lambda state: state.mesh.face_material.astype(float), "tab10"),
}
RAW = {"x", "v", "a", "y", "damage", "plastic_curvature", "plastic_strain"}
"""Fields of a state that are shown above, or that are places and no quantities."""


def shown_fields(state: State) -> dict[str, ShownField]:
    """Everything that can colour this state, by name: what is derived, then the other fields, one's own included.

    Vectors and tensors are shown by their Euclidean norm.
    """
    fields = dict(DERIVED)
    for field, values in attached_values(state):
        if field.name not in RAW and field.where in PLACES and values.dtype.kind in "fiub":
            fields.setdefault(field.name, ShownField(_title(field.name), field.where, _reader(field.name)))
    return fields


def field_values(state: State, name: str) -> tuple[ShownField, Floats]:
    """The field called `name` and its values; `InputError` that lists the known ones."""
    fields = shown_fields(state)
    if name not in fields:
        raise InputError("field", f"this recording has {', '.join(fields)}", name)
    return fields[name], fields[name].values(state)


def describe_face(state: State, face: int) -> dict[str, Any]:
    """Where a face is and the value of every field there; of fields on nodes and vertices the mean of its corners."""
    mesh = state.mesh
    if not 0 <= face < mesh.face_count:
        raise InputError("face", f"this frame has faces 0 to {mesh.face_count - 1}", face)
    nodes, vertices = mesh.face_nodes[face], mesh.faces[face]
    corners = {"node": nodes, "vertex": vertices, "face": np.array([face])}
    values = [
        {"name": name, "title": field.title, "value": float(np.mean(field.values(state)[corners[field.where]]))}
        for name, field in shown_fields(state).items()
    ]
    return {
        "face": face,
        "nodes": nodes,
        "vertices": vertices,
        "x": state.x[nodes].mean(axis=0),
        "u": mesh.u[vertices].mean(axis=0),
        "area": mesh.face_area[face],
        "values": values,
    }


def _title(name: str) -> str:
    return name.replace("_", " ")


def _reader(name: str) -> Callable[[State], Floats]:
    """Reads the field `name` of a state as one number per element."""

    def read(state: State) -> Floats:
        values = np.asarray(state.field(name), np.float64)
        return values if values.ndim == 1 else np.linalg.norm(values.reshape(len(values), -1), axis=1)

    return read
