"""The cases by name, and how they are run."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from crumple.errors import InputError
from crumple.validation.bend_modulus import validate_bend_modulus
from crumple.validation.buckled_strip import validate_buckled_strip
from crumple.validation.cantilever import validate_cantilever
from crumple.validation.crease_spring import validate_crease_spring
from crumple.validation.cylinder import validate_cylinder
from crumple.validation.d_cone import validate_d_cone
from crumple.validation.end_moment import validate_end_moment
from crumple.validation.end_shear import validate_end_shear
from crumple.validation.figures import save_figure
from crumple.validation.locking import validate_locking
from crumple.validation.plastic_round_trip import validate_plastic_round_trip
from crumple.validation.result import CaseResult
from crumple.validation.ridge import validate_ridge
from crumple.validation.stick_slip import validate_stick_slip
from crumple.validation.u_bend import validate_u_bend

CASES: dict[str, Callable[[], CaseResult]] = {
    "bend-modulus": validate_bend_modulus,
    "cantilever": validate_cantilever,
    "buckled-strip": validate_buckled_strip,
    "u-bend": validate_u_bend,
    "stick-slip": validate_stick_slip,
    "end-shear": validate_end_shear,
    "end-moment": validate_end_moment,
    "plastic-round-trip": validate_plastic_round_trip,
    "crease-spring": validate_crease_spring,
    "d-cone": validate_d_cone,
    "cylinder": validate_cylinder,
    "ridge": validate_ridge,
    "locking": validate_locking,
}
"""Every case of `crumple validate`."""


def run_cases(names: Sequence[str] = (), *, figures: Path | None = None) -> Iterator[CaseResult]:
    """The results of the named cases (all without `names`), one by one as they are finished.

    `figures`: folder for a PNG of each case against its reference, if matplotlib is installed.
    Raises InputError for an unknown name, before anything is run.
    """
    for name in names:
        if name not in CASES:
            raise InputError("case", f"must be one of {', '.join(CASES)}", name)
    return (_run_case(name, figures) for name in names or CASES)


def _run_case(name: str, figures: Path | None) -> CaseResult:
    begin = time.perf_counter()
    result = CASES[name]()
    result = replace(result, seconds=time.perf_counter() - begin)
    if figures is None or result.figure is None:
        return result
    return replace(result, picture=save_figure(result.figure, name, figures / f"{name}.png"))
