"""Types of scene values: tables, vectors, names, files, and the bounded numbers that many keys share."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import PydanticCustomError

from crumple.options.quantities import Quantity, Requirement, plain
from crumple.runtime.errors import InputError
from crumple.scenes.messages import SceneError, validation_messages

LARGEST_FILE = 500_000_000
"""Mesh files above this size are refused before they are read [bytes]."""

SHORTEST = 1e-9
"""Vectors that must not be zero are longer than this: squares of much shorter ones are."""


def refuse(remedy: str) -> PydanticCustomError:
    """The pydantic error whose message is `remedy`."""
    return PydanticCustomError("refused", "{remedy}", {"remedy": remedy})


class Table(BaseModel):
    """A table of a scene file: strict types, no unknown keys, constant.

    Made in Python, `Rectangle(width=0.2, …)`, it is validated as in a file; what is wrong raises `SceneError`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    if not TYPE_CHECKING:  # for type checkers and editors the arguments are the keys of each table

        def __init__(self, /, **keys: Any) -> None:
            try:
                super().__init__(**keys)
            except ValidationError as error:
                raise SceneError(validation_messages(error, type(self).__name__, type(self))) from None

        # Tells pydantic that tables inside of others need not be made by this function, so that errors in a file
        # are still found all at once and with their whole key path.
        __init__.__pydantic_base_init__ = True

        def __setattr__(self, name: str, value: Any) -> None:
            if name in type(self).model_fields:
                raise InputError(f"{type(self).__name__}.{name}", "constant; changed() makes a copy", value)
            super().__setattr__(name, value)

    def changed(self, **keys: Any) -> Self:
        """A validated copy with other values of some keys."""
        return type(self)(**{name: getattr(self, name) for name in self.model_fields_set} | keys)


@dataclass(frozen=True)
class Vector(Requirement):
    """A list of `size` numbers, each a `component`; `nonzero` refuses the zero vector, `repeat` takes one number."""

    size: int
    component: Quantity
    nonzero: bool = False
    repeat: bool = False

    @property
    def remedy(self) -> str:
        each = self.component.remedy.removeprefix("must be ")
        single = "one number or " if self.repeat else ""
        return f"must be {single}a list of {self.size} numbers, each {each}" + (", not all 0" if self.nonzero else "")

    def check(self, value: Any, folder: str) -> tuple[float, ...]:
        if self.repeat and isinstance(value, int | float) and not isinstance(value, bool):
            value = [value] * self.size
        if not isinstance(value, list | tuple) or len(value) != self.size:
            raise ValueError(self.remedy)
        try:
            numbers = tuple(self.component.check(plain(number), folder) for number in value)
        except ValueError:
            raise ValueError(self.remedy) from None
        if self.nonzero and not math.hypot(*numbers) > SHORTEST:
            raise ValueError(self.remedy)
        return numbers


@dataclass(frozen=True)
class Name(Requirement):
    """A short name of letters, digits, '_' and '-' that messages and files can carry."""

    @property
    def remedy(self) -> str:
        return "must be a name of 1…64 letters, digits, '_' or '-'"

    def check(self, value: Any, folder: str) -> str:
        if not isinstance(value, str) or not re.fullmatch(r"[A-Za-z0-9_\-]{1,64}", value):
            raise ValueError(self.remedy)
        return value


class Title(Requirement):
    """What a part of another program's file is called: a line of text."""

    @property
    def remedy(self) -> str:
        return "must be a name or path of 1…256 characters"

    def check(self, value: Any, folder: str) -> str:
        if not isinstance(value, str) or not 1 <= len(value) <= 256 or not value.isprintable():
            raise ValueError(self.remedy)
        return value


@dataclass(frozen=True)
class ExistingFile(Requirement):
    """A readable file; relative names are looked up beside the scene (context "folder") and made absolute."""

    @property
    def remedy(self) -> str:
        return "must name a file"

    def check(self, value: Any, folder: str) -> str:
        if not isinstance(value, str) or not value or len(value) > 4000 or not value.isprintable():
            raise ValueError(self.remedy)
        path = Path(folder, value)
        try:
            path = path.resolve()
            if path.is_dir():
                raise ValueError("this is a directory, not a file")
            if not path.is_file():
                raise ValueError(f"there is no such file as {path}")
            if path.stat().st_size > LARGEST_FILE:
                raise ValueError(f"the file is larger than {LARGEST_FILE // 10**6} MB")
        except (OSError, ValueError, RuntimeError) as error:
            raise ValueError(f"the file cannot be read: {' '.join(str(error).split())}") from None
        return str(path)


@dataclass(frozen=True)
class ExistingRecording(Requirement):
    """A recording's folder or one of its frames, looked up beside the scene and made absolute; or the name of a
    crumpled sheet that comes with the package."""

    @property
    def remedy(self) -> str:
        return "must name the folder of a recording, or one of its frames"

    def check(self, value: Any, folder: str) -> str:
        if not isinstance(value, str) or not value or len(value) > 4000 or not value.isprintable():
            raise ValueError(self.remedy)
        shipped = Path(str(resources.files("crumple.scenes.builtin")), f"{value}.vtkhdf")
        try:
            path = Path(folder, value).resolve()
            is_there, is_folder = path.exists(), path.is_dir()
            is_shipped = not is_there and "/" not in value and shipped.is_file()
        except (OSError, ValueError, RuntimeError) as error:
            raise ValueError(f"the recording cannot be read: {' '.join(str(error).split())}") from None
        if is_shipped:
            return str(shipped)
        if not is_there:
            raise ValueError(f"there is no such recording as {path}; `crumple run SCENE --out {path.name}` makes one")
        if is_folder and not (path / "frames").is_dir():
            raise ValueError("is not a recording (it has no folder frames)")
        return str(path)


Vec3 = tuple[float, float, float]
Vec2 = tuple[float, float]

Length = Annotated[float, Quantity("m", above=0, most=1e4)]
Thickness = Annotated[float, Quantity("m", least=0, most=1)]
Gap = Annotated[float, Quantity("m", above=0, most=1)]
Angle = Annotated[float, Quantity("degrees", least=-1e7, most=1e7)]
Moment = Annotated[float, Quantity("s", least=0, most=1e6)]
Span = Annotated[float, Quantity("s", above=0, most=1e6)]
FrameTime = Annotated[float, Quantity("s", least=1e-9, most=1e6)]
Friction = Annotated[float, Quantity("", least=0, most=10)]
Factor = Annotated[float, Quantity("", above=0, most=1e6)]
Enlargement = Annotated[float, Quantity("", least=1e-6, most=1e6)]
Position = Annotated[Vec3, Vector(3, Quantity("m", least=-1e4, most=1e4))]
Position2 = Annotated[Vec2, Vector(2, Quantity("m", least=-1e4, most=1e4))]
Velocity = Annotated[Vec3, Vector(3, Quantity("m/s", least=-1e4, most=1e4))]
Acceleration = Annotated[Vec3, Vector(3, Quantity("m/s²", least=-1e5, most=1e5))]
Axis = Annotated[Vec3, Vector(3, Quantity("", least=-1e6, most=1e6), nonzero=True)]
Axis2 = Annotated[Vec2, Vector(2, Quantity("", least=-1e6, most=1e6), nonzero=True)]
Scale = Annotated[Vec3, Vector(3, Quantity("", above=0, most=1e6), repeat=True)]
ScaleRate = Annotated[Vec3, Vector(3, Quantity("1/s", least=-1e6, most=1e6), repeat=True)]
Size3 = Annotated[Vec3, Vector(3, Quantity("m", above=0, most=1e4))]
PartName = Annotated[str, Name()]
ObjectName = Annotated[str, Title()]
FileName = Annotated[str, ExistingFile()]
RecordingName = Annotated[str, ExistingRecording()]
