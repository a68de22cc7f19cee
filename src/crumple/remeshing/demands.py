"""What others ask of a remeshing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from crumple.options.remeshing import Criterion
from crumple.runtime.typing import Ints
from crumple.state import State


@dataclass(frozen=True)
class Demands:
    """What a phase of the frame asks of the mesh, beside what the options of remeshing say.

    `criteria`: how fine it is to be, see `RemeshingOptions`;  `protections`: each is called with the state before a
    remeshing and returns nodes that are not removed (n,);  `may_rest`: whether a large mesh may be left as it is in
    most frames while it is fine enough.
    """

    criteria: tuple[Criterion, ...] = ()
    protections: tuple[Callable[[State], Ints], ...] = ()
    may_rest: bool = True
