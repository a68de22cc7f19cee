"""What a value must be: a bounded finite number with a unit, or a whole number, with the remedy that errors name.

They stand in annotations, `Annotated[float, Quantity("s", above=0, most=1e6)]`, where options and the tables of scene
files find them.
"""

from __future__ import annotations

import math
import os
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from crumple.runtime.errors import InputError


@dataclass(frozen=True)
class Requirement(ABC):
    """An annotation that says what a value must be."""

    @property
    @abstractmethod
    def remedy(self) -> str:
        """What a value must be, for messages."""

    @abstractmethod
    def check(self, value: Any, folder: str) -> Any:
        """The value, converted; ValueError with the remedy. Files are looked up in `folder`."""

    def require(self, place: str, value: Any) -> None:
        """Refuse a value with an InputError that names its `place`."""
        try:
            self.check(plain(value), ".")
        except ValueError as error:
            raise InputError(place, str(error), value) from None

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        """How pydantic validates a key of a scene's table: by `check` and nothing else."""
        from pydantic_core import PydanticCustomError, core_schema

        def check(value: Any, info: Any) -> Any:
            try:
                return self.check(plain(value), (info.context or {}).get("folder", "."))
            except ValueError as error:
                raise PydanticCustomError("refused", "{remedy}", {"remedy": str(error)}) from None

        return core_schema.with_info_plain_validator_function(check)

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> dict[str, Any]:
        return {"description": self.remedy}


def plain(value: Any) -> Any:
    """Numbers and arrays of NumPy as numbers and lists, paths as texts; everything else as it is."""
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    return value.tolist() if hasattr(value, "tolist") else value


@dataclass(frozen=True)
class Quantity(Requirement):
    """A finite number in `unit`, within [least, most], or (above, below) where the border is excluded.

    `or_infinite`: options made in Python may be `math.inf`, which turns a bound off; in a file the key is left out.
    """

    unit: str = ""
    above: float | None = None
    least: float | None = None
    below: float | None = None
    most: float | None = None
    or_infinite: bool = False

    @property
    def remedy(self) -> str:
        return self._text([("> ", self.above), ("≥ ", self.least), ("< ", self.below), ("≤ ", self.most)])

    def require(self, place: str, value: Any) -> None:
        if not (self.or_infinite and value == math.inf):
            super().require(place, value)

    def check(self, value: Any, folder: str = ".") -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError(f"{self.remedy}; this is not a number")
        number = _as_float(value)
        if math.isnan(number):
            raise ValueError(self.remedy)
        if not (self.above is None or number > self.above) or not (self.least is None or number >= self.least):
            raise ValueError(self._text([("> ", self.above), ("≥ ", self.least)]))
        if not (self.below is None or number < self.below) or not (self.most is None or number <= self.most):
            raise ValueError(self._text([("< ", self.below), ("≤ ", self.most)]))
        if math.isinf(number):
            raise ValueError(self.remedy)
        return number

    def _text(self, bounds: list[tuple[str, float | None]]) -> str:
        shown = [f"{sign}{bound:g}" for sign, bound in bounds if bound is not None]
        text = "must be " + (" and ".join(shown) if shown else "a finite number")
        return f"{text}, in {self.unit}" if self.unit else text


def _as_float(value: float) -> float:
    """`value` as a float, infinite when a whole number is too large for one."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


@dataclass(frozen=True)
class Whole(Requirement):
    """A whole number within [least, most]."""

    least: int
    most: int

    @property
    def remedy(self) -> str:
        return f"must be a whole number within {self.least}…{self.most}"

    def check(self, value: Any, folder: str = ".") -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not self.least <= value <= self.most:
            raise ValueError(self.remedy)
        return value
