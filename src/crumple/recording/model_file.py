"""The model of a run as one file, `model.h5`: what stays constant, beside the frames that hold what varies.

`/crumple/text` holds all numbers and names by path as JSON, `/crumple/arrays` the arrays. Terms and sizing criteria of
a user's own are code, which no recording holds: the file names them, so that no run is resumed without them by mistake.
"""

from __future__ import annotations

import hashlib
import json
import types
import typing
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from crumple.boundary.motions import Motion
from crumple.boundary.obstacles import Obstacle
from crumple.model.model import Model
from crumple.recording.codec import Table, digest, flatten, item_hints, restore, without_none
from crumple.recording.vtkhdf import DamagedFile, HdfContent, HdfImage, open_hdf
from crumple.runtime.errors import InputError
from crumple.state import State

MODEL = "model.h5"
FORMAT = 1
"""Raised when an old reader would misunderstand a new file."""


@dataclass(frozen=True)
class StoredModel:
    """What a recording holds of its model.

    `model`: without what is code, or None when it has parts that cannot be stored, which `obstruction` names;
    `terms`, `criteria`: names of the user's own terms and sizing criteria;  `scene`: see `scene_digest`.
    """

    model: Model | None
    terms: tuple[str, ...] = ()
    criteria: tuple[str, ...] = ()
    obstruction: str = ""
    scene: str = ""

    @property
    def lacking(self) -> str:
        """What has to be given again to go on with the run, in words; "" for nothing."""
        parts = [f"term {name!r}" for name in self.terms] + [f"sizing criterion {name!r}" for name in self.criteria]
        return ", ".join([*parts, *([self.obstruction] if self.obstruction else [])])


def scene_digest(scene: str) -> str:
    """A fingerprint of the text of a scene: a model belongs to the scene that it was built from."""
    return hashlib.blake2b(scene.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def bare_model(model: Model) -> Model:
    """The model without the user's own terms and sizing criteria."""
    remeshing = None if model.remeshing is None else replace(model.remeshing, criteria=())
    return replace(model, own_terms=(), remeshing=remeshing)


def encode_model(model: Model, scene: str = "") -> bytes:
    """The content of the file for `model`, which was built from the text `scene` ("": built by hand).

    The same model gives the same bytes.
    """
    bare = bare_model(model)
    strange = next(iter(_misfits(bare, Model, "")), "")
    table = {} if strange else flatten(bare)
    arrays = {path: value for path, value in table.items() if isinstance(value, np.ndarray)}
    text = {
        "values": {path: value for path, value in table.items() if path not in arrays},
        "arrays": list(arrays),
        "terms": [term.name for term in model.own_terms],
        "criteria": [_criterion_name(one) for one in (model.remeshing.criteria if model.remeshing else ())],
        "obstruction": strange,
        "scene": scene_digest(scene),
    }
    stored = {"text": np.frombuffer(json.dumps(text).encode(), np.uint8)}
    stored |= {f"arrays/{k}": array for k, array in enumerate(arrays.values())}
    image = HdfImage()
    root = image.group("crumple")
    root.attrs["format"] = FORMAT
    root.attrs["digest"] = np.bytes_(digest(stored))
    for path, array in stored.items():
        image.put(f"crumple/{path}", array)
    return image.close()


def decode_model(path: Path) -> StoredModel:
    """What the file at `path` holds; errors as with `decode_frame`."""
    try:
        with open_hdf(path) as content:
            return _decoded(path, content)
    except DamagedFile as error:
        remedy = "if there is a scene.toml, delete this file, and the model is built from that"
        raise DamagedFile(str(path), f"{error.remedy}; {remedy}") from None


def _decoded(path: Path, content: HdfContent) -> StoredModel:
    version = int(content.attribute("crumple", "format"))
    if version > FORMAT:
        raise InputError(str(path), "written by a newer crumple; upgrade to read it", version)
    stored = content.table("crumple")
    expected = stored.pop("digest").decode()
    del stored["format"]
    if digest(stored) != expected:
        raise ValueError("checksum does not match")
    text = json.loads(stored["text"].tobytes().decode())
    table: Table = {str(name): value for name, value in text["values"].items()}
    if not all(isinstance(value, int | float | str) for value in table.values()):
        raise ValueError("a value is neither a number nor a name")
    table |= {str(name): stored[f"arrays/{k}"] for k, name in enumerate(text["arrays"])}
    obstruction = str(text["obstruction"])
    return StoredModel(
        model=None if obstruction else _checked(restore(Model, table)),
        terms=tuple(map(str, text["terms"])),
        criteria=tuple(map(str, text["criteria"])),
        obstruction=obstruction,
        scene=str(text["scene"]),
    )


def fit_problem(model: Model, state: State) -> str:
    """Why `state` is none of the model's, "" when it is: as many sheets, materials, obstacles, handles, attachments."""
    mesh = state.mesh
    pairs = {
        "sheets": (len(model.sheet_names), _count(mesh.face_sheet), True),
        "materials": (len(model.materials), _count(mesh.face_material), False),
        "obstacles": (len(model.obstacles), len(state.obstacle_lag), True),
        "obstacle nodes": (model.obstacle_nodes, len(state.obstacle_x), True),
        "handles": (len(model.handles), _count(state.pins.handle), False),
        "attachments": (len(model.attachments), _count(state.bonds.attachment), False),
    }
    for name, (wanted, found, exact) in pairs.items():
        if found > wanted or (exact and found != wanted):
            return f"has {wanted} {name}, but frame {state.frame} has {found}"
    return ""


def _checked(model: Model) -> Model:
    """The model, whose parts must fit each other; ValueError otherwise, because kernels do not look again."""
    for problem in _misfits(model, Model, ""):
        raise ValueError(problem)
    for obstacle in model.obstacles:
        _check_obstacle(obstacle)
    for motion in [*(handle.motion for handle in model.handles), *(obstacle.motion for obstacle in model.obstacles)]:
        _check_motion(motion)
    friction, parts = model.contact.friction, len(model.part_names)
    if friction.size and friction.shape != (parts, parts):
        raise ValueError(f"contact.friction has the shape {friction.shape} for {parts} parts")
    sizings = () if model.remeshing is None else model.remeshing.sheet_sizing
    for name, given in (("contact.sheet_thickness", model.contact.sheet_thickness), ("sheet_sizing", sizings)):
        if given and len(given) != len(model.sheet_names):
            raise ValueError(f"{name} has {len(given)} values for {len(model.sheet_names)} sheets")
    return model


def _check_obstacle(obstacle: Obstacle) -> None:
    """Shapes, finite places, ascending times and corners that are nodes."""
    faces, shapes, times = obstacle.faces, obstacle.shapes, obstacle.times
    is_shaped = (
        (faces.ndim, shapes.ndim, times.ndim) == (2, 3, 1)
        and (faces.shape[1], shapes.shape[2]) == (3, 3)
        and len(shapes) == len(times) > 0
    )
    if not is_shaped or (faces.size and (faces.min() < 0 or faces.max() >= shapes.shape[1])):
        raise ValueError(f"obstacle {obstacle.name!r}: faces, shapes and times do not fit each other")
    if not (np.isfinite(shapes).all() and np.isfinite(times).all() and (np.diff(times) > 0.0).all()):
        raise ValueError(f"obstacle {obstacle.name!r}: places are not finite, or times do not ascend")


def _check_motion(motion: Motion | None) -> None:
    """Shapes and finite numbers, of the motion that it is relative to as well."""
    if motion is None:
        return
    _check_motion(motion.parent)
    keys = len(motion.times)
    shapes = (motion.times.shape, motion.poses.shape, motion.tangents.shape, motion.rate.shape, motion.center.shape)
    if not keys or shapes != ((keys,), (keys, 9), (keys, 9), (9,), (3,)):
        raise ValueError(f"motion {motion.name!r}: keys do not fit each other")
    if not all(np.isfinite(part).all() for part in (motion.times, motion.poses, motion.tangents, motion.rate)):
        raise ValueError(f"motion {motion.name!r}: numbers are not finite")


def _misfits(value: Any, hint: Any, path: str) -> typing.Iterator[str]:
    """Where a value is not of the annotated type, exactly: a subclass of a user's own has code that is not stored."""
    kind = without_none(hint)
    if value is None and kind is not hint:
        return
    if is_dataclass(kind) and type(value) is kind:
        hints = typing.get_type_hints(kind)
        for field in fields(kind):
            yield from _misfits(getattr(value, field.name), hints[field.name], f"{path}{field.name}.")
    elif typing.get_origin(kind) is tuple and isinstance(value, tuple | list | np.ndarray):
        try:
            items = item_hints(kind, len(value))
        except ValueError:
            yield f"{path[:-1]} of {len(value)} items"
            return
        for k, (item, one) in enumerate(zip(value, items, strict=True)):
            yield from _misfits(item, one, f"{path[:-1]}[{k}].")
    elif not _is_plain(value, kind):
        yield f"{path[:-1]} of the type {type(value).__name__}"


def _is_plain(value: Any, kind: Any) -> bool:
    """Whether a value is a number, a name or an array as `kind` says."""
    if kind is bool:
        return isinstance(value, bool | np.bool_)
    if kind in (int, float):
        wanted = (int, np.integer) if kind is int else (int, float, np.number)
        return isinstance(value, wanted) and not isinstance(value, bool)
    if kind is str:
        return isinstance(value, str)
    if typing.get_origin(kind) is typing.Literal:
        return value in typing.get_args(kind)
    if typing.get_origin(kind) is np.ndarray:
        wanted = np.dtype(typing.get_args(typing.get_args(kind)[1])[0])
        return type(value) is np.ndarray and value.dtype.kind == wanted.kind
    return False


def _criterion_name(criterion: Any) -> str:
    """What a sizing criterion is called: a function by its name, any other callable by its class."""
    is_function = isinstance(criterion, types.FunctionType)
    return str(criterion.__name__) if is_function else type(criterion).__name__


def _count(index: np.ndarray) -> int:
    """One more than the largest of an array of indices."""
    return int(index.max()) + 1 if index.size else 0
