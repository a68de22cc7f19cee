"""One exception family: the library raises these, never prints, never exits."""

from __future__ import annotations


class CrumpleError(Exception):
    """Base of every error that crumple raises on purpose; the message is one line."""


class InputError(CrumpleError):
    """Bad input: names the place (file, key path), the value and the remedy. Exit code 2.

    >>> str(InputError("scene.toml: sheets[0].density", "must be > 0, in kg/m²", -3))
    'scene.toml: sheets[0].density = -3 (must be > 0, in kg/m²)'
    """

    _no_value = object()

    def __init__(self, place: str, remedy: str, value: object = _no_value) -> None:
        self.place, self.remedy = place, remedy
        self.values: tuple[object, ...] = () if value is self._no_value else (value,)
        shown = "" if value is self._no_value else f" = {_shorten(value)}"
        super().__init__(f"{place}{shown} ({remedy})" if shown else f"{place}: {remedy}")


class SimulationError(CrumpleError):
    """A run that cannot go on; says why and when. The last good state is intact. Exit code 1."""


def _shorten(value: object, limit: int = 80) -> str:
    """`repr(value)` on one line, cut to `limit` characters."""
    text = " ".join(repr(value).split())
    return text if len(text) <= limit else text[: limit - 1] + "…"
