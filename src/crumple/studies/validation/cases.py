"""The cases by name, and how they are run."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from crumple.runtime.errors import InputError
from crumple.studies.validation.bend_modulus import validate_bend_modulus
from crumple.studies.validation.blunt_tool import validate_blunt_tool
from crumple.studies.validation.box_clamp import validate_box_clamp
from crumple.studies.validation.buckled_strip import validate_buckled_strip
from crumple.studies.validation.cantilever import validate_cantilever
from crumple.studies.validation.capstan import validate_capstan
from crumple.studies.validation.crease_limits import validate_spinal_break, validate_spring_back
from crumple.studies.validation.crease_spring import validate_crease_spring
from crumple.studies.validation.crumpling_laws import validate_crumpling_laws
from crumple.studies.validation.cylinder import validate_cylinder
from crumple.studies.validation.d_cone import validate_d_cone
from crumple.studies.validation.early_yield import validate_early_yield
from crumple.studies.validation.end_moment import validate_end_moment
from crumple.studies.validation.end_shear import validate_end_shear
from crumple.studies.validation.figures import save_figure
from crumple.studies.validation.flying import validate_flapping, validate_free_fall, validate_moved_copy, validate_spin
from crumple.studies.validation.foil_ball import validate_foil_ball
from crumple.studies.validation.folded_strip import validate_folded_strip
from crumple.studies.validation.impacts import (
    validate_collision,
    validate_oblique_impact,
    validate_restitution,
    validate_slide_stop,
)
from crumple.studies.validation.incline import validate_incline
from crumple.studies.validation.inclined_slit import validate_inclined_slit
from crumple.studies.validation.kresling import validate_kresling
from crumple.studies.validation.ledger import validate_ledger
from crumple.studies.validation.locking import validate_locking
from crumple.studies.validation.miura import validate_miura
from crumple.studies.validation.notch import validate_notch
from crumple.studies.validation.plastic_round_trip import validate_plastic_round_trip
from crumple.studies.validation.plate import validate_adaptive_plate, validate_plate
from crumple.studies.validation.plate_poisson import validate_grain, validate_plate_poisson
from crumple.studies.validation.result import CaseResult
from crumple.studies.validation.ridge import validate_ridge
from crumple.studies.validation.scaled_copy import validate_scaled_copy
from crumple.studies.validation.schreck import validate_schreck
from crumple.studies.validation.stick_slip import validate_stick_slip
from crumple.studies.validation.supports import validate_static_support
from crumple.studies.validation.tear_grain import validate_tear_grain
from crumple.studies.validation.trouser import validate_perforation, validate_trouser
from crumple.studies.validation.two_point import validate_two_point
from crumple.studies.validation.u_bend import validate_u_bend
from crumple.studies.validation.waterbomb import validate_waterbomb

CASES: dict[str, Callable[[], CaseResult]] = {
    "bend-modulus": validate_bend_modulus,
    "plate": validate_plate,
    "plate-poisson": validate_plate_poisson,
    "grain": validate_grain,
    "early-yield": validate_early_yield,
    "cantilever": validate_cantilever,
    "box-clamp": validate_box_clamp,
    "buckled-strip": validate_buckled_strip,
    "u-bend": validate_u_bend,
    "stick-slip": validate_stick_slip,
    "end-shear": validate_end_shear,
    "end-moment": validate_end_moment,
    "plastic-round-trip": validate_plastic_round_trip,
    "crease-spring": validate_crease_spring,
    "spring-back": validate_spring_back,
    "folded-strip": validate_folded_strip,
    "spinal-break": validate_spinal_break,
    "miura": validate_miura,
    "kresling": validate_kresling,
    "waterbomb": validate_waterbomb,
    "d-cone": validate_d_cone,
    "cylinder": validate_cylinder,
    "ridge": validate_ridge,
    "locking": validate_locking,
    "free-fall": validate_free_fall,
    "spin": validate_spin,
    "moved-copy": validate_moved_copy,
    "scaled-copy": validate_scaled_copy,
    "flapping": validate_flapping,
    "incline": validate_incline,
    "oblique-impact": validate_oblique_impact,
    "slide-stop": validate_slide_stop,
    "capstan": validate_capstan,
    "collision": validate_collision,
    "restitution": validate_restitution,
    "static-support": validate_static_support,
    "ledger": validate_ledger,
    "trouser": validate_trouser,
    "perforation": validate_perforation,
    "two-point": validate_two_point,
    "tear-grain": validate_tear_grain,
    "notch": validate_notch,
    "inclined-slit": validate_inclined_slit,
    "schreck": validate_schreck,
}
"""The cases that run by themselves."""


@dataclass(frozen=True)
class RecordedCase:
    """A case that works on recordings of long runs, in folders that are called like the built-in scenes they are of.

    `validate` gets the folder they are in;  `needs` must be there, `uses` may.
    """

    validate: Callable[[Path], CaseResult]
    needs: tuple[str, ...]
    uses: tuple[str, ...] = ()

    def missing(self, recordings: Path | None) -> list[str]:
        """The scenes of which a recording is needed and not there."""
        return [name for name in self.needs if recordings is None or not (recordings / name).is_dir()]


RECORDED = {
    "foil-ball": RecordedCase(validate_foil_ball, ("foil-ball",), ("foil-ball-dense",)),
    "crumpling-laws": RecordedCase(validate_crumpling_laws, ("recrumple", "sizes"), ("foil-ball",)),
    "plate-adaptive": RecordedCase(validate_adaptive_plate, ("crumple",), ("fold",)),
    "blunt-tool": RecordedCase(validate_blunt_tool, ("tear-tool",)),  # and of other tools, see there
}
"""The cases that need recordings."""


def run_cases(
    names: Sequence[str] = (), *, recordings: Path | None = None, figures: Path | None = None
) -> Iterator[CaseResult]:
    """The results of the named cases, one by one as they are finished.

    Without `names`: all that run by themselves, and those whose recordings are in the folder `recordings`.
    `figures`: folder for a PNG of each case against its reference, if matplotlib is installed.
    Raises InputError for an unknown name and for a missing recording, before anything is run.
    """
    chosen = list(names) or [*CASES, *_ready(recordings)]
    for name in chosen:
        if name not in CASES and name not in RECORDED:
            raise InputError("case", f"must be one of {', '.join([*CASES, *RECORDED])}", name)
        if name in RECORDED and (missing := RECORDED[name].missing(recordings)):
            raise InputError("case", _remedy(missing, recordings), name)
    return (_run_case(name, recordings, figures) for name in chosen)


def _ready(recordings: Path | None) -> list[str]:
    """The cases whose recordings are there; `InputError` when a folder was given and there are none."""
    ready = [name for name, case in RECORDED.items() if not case.missing(recordings)]
    if recordings is not None and not ready:
        needs = ", ".join(name for case in RECORDED.values() for name in case.needs)
        raise InputError(str(recordings), f"holds no recordings to validate (folders {needs})")
    return ready


def _remedy(missing: Sequence[str], recordings: Path | None) -> str:
    """What to type for the recordings that are missing."""
    folder = Path("out") if recordings is None else recordings
    runs = " and ".join(f"`crumple run {name} --out {folder / name}`" for name in missing)
    return f"needs recordings of long runs: {runs}, then --recordings {folder}"


def _run_case(name: str, recordings: Path | None, figures: Path | None) -> CaseResult:
    begin = time.perf_counter()
    if name in CASES:
        result = CASES[name]()
    else:
        assert recordings is not None  # run_cases has seen to it
        result = RECORDED[name].validate(recordings)
    result = replace(result, seconds=time.perf_counter() - begin)
    if figures is None or not result.figure:
        return result
    return replace(result, picture=save_figure(result.figure, name, figures / f"{name}.png"))
