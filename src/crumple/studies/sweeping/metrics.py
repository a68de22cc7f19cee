"""Numbers that sum up a run, by name: what `crumple analyze` and `crumple info` tell, at a frame.

`radius` is that of the last frame, `radius@confined` that of the frame which fits into the smallest box, `radius@20`
that of frame 20. A user's own metric is a function of the recording.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import Any

import numpy as np

from crumple.analysis.analyze import LEDGER, Analysis, analyze_state, load_frame, recording_model, state_shape
from crumple.analysis.columns import describe_column
from crumple.analysis.creases import Creases, measure_creases
from crumple.analysis.energies import energy_split, measure_ledger
from crumple.analysis.pressure import container_pressures, container_volumes
from crumple.analysis.shape import SheetShape
from crumple.model.model import Model
from crumple.recording.info import RecordingInfo, summarise_recording
from crumple.recording.recording import Recording
from crumple.runtime.errors import InputError
from crumple.scenes.messages import suggest
from crumple.state import State
from crumple.state.ledger import COLUMNS

Measure = Callable[["Measured"], Any]
OwnMetrics = Mapping[str, Callable[[Recording], float]]
DEFAULT = (
    "faces", "mass", "radius", "radius_of_gyration", "volume_fraction", "area_ratio", "mileage",
    "energy_membrane", "energy_bending", "contacts_max",
)  # fmt: skip
ENERGY = "energy_"
LAST, CONFINED = "last", "confined"
SMALLEST_VOLUME = 1e-12
"""Of a closed obstacle [m³]; a flat one has none."""


@dataclass
class Measured:
    """A frame of a recording, and what is measured on it when it is first asked for."""

    recording: Recording
    frame: int | None

    @cached_property
    def model(self) -> Model:
        return recording_model(self.recording)

    @cached_property
    def state(self) -> State:
        return load_frame(self.recording, self.frame)

    @cached_property
    def shape(self) -> SheetShape:
        return state_shape(self.model, self.state)

    @cached_property
    def creases(self) -> Creases:
        return measure_creases(self.shape)

    @cached_property
    def energies(self) -> dict[str, float]:
        return energy_split(self.model, self.state)

    @cached_property
    def ledger(self) -> dict[str, float]:
        return measure_ledger(self.model, self.state)

    @cached_property
    def analysis(self) -> Analysis:
        return analyze_state(self.model, self.state)

    @cached_property
    def info(self) -> RecordingInfo:
        return summarise_recording(self.recording, self.state if self.frame == -1 else None)


def _of_creases(name: str) -> Measure:
    return lambda m: None if m.creases.is_empty else getattr(m.creases, name)


def _of_analysis(name: str) -> Measure:
    return lambda m: m.analysis.summary()[name]


def _of_run(name: str) -> Measure:
    return lambda m: getattr(m.info, name)


def _of_ledger(name: str) -> Measure:
    return lambda m: m.ledger.get(name)


def _radius_of_gyration(measured: Measured) -> float:
    """Rg² = Σ m |r − c|² / Σ m over the faces, each with the second moment of a triangle, so that the mesh hardly
    matters [m]."""
    shape = measured.shape
    corners = shape.corners - shape.center
    middle = corners.mean(axis=1)
    # ∫ |r|² over a triangle = A (Σ |corner|² + 9 |middle|²) / 12
    square = (np.einsum("fij,fij->f", corners, corners) + 9.0 * np.einsum("fi,fi->f", middle, middle)) / 12.0
    return float(np.sqrt(shape.mass @ square / shape.mass.sum()))


def _pressure(measured: Measured) -> float | None:
    """The mean pressure on the obstacles, which must all be closed [Pa]; None when they are not, or there are none."""
    model, state = measured.model, measured.state
    if not model.obstacles or min(container_volumes(model, state)) < SMALLEST_VOLUME:
        return None
    return float(np.mean(container_pressures(model, state)))


MEASURES: dict[str, Measure] = {
    "faces": lambda m: m.state.mesh.face_count,
    "area": lambda m: float(m.shape.area.sum()),
    "area_ratio": lambda m: m.shape.area_ratio,
    "mass": lambda m: float(m.shape.mass.sum()),
    "thickness": lambda m: m.shape.mean_thickness,
    "radius": lambda m: m.shape.ball.radius,
    "radius_of_gyration": _radius_of_gyration,
    "volume_fraction": lambda m: m.shape.volume_fraction,
    "height_min": lambda m: float(m.state.x[:, 2].min()),
    "height_max": lambda m: float(m.state.x[:, 2].max()),
    "pressure": _pressure,
    "mileage": _of_creases("mileage"),
    "worked_mileage": _of_creases("worked"),
    "crease_hinge_length": _of_creases("hinge_length"),
    "crease_mean_angle": _of_creases("mean_angle"),
    "crease_area_share": _of_creases("area_share"),
    **{
        name: _of_analysis(name)
        for name in (
            "orientation_mean", "first_radius_peak", "first_radius_median", "second_radius_peak", "section_length",
            "ridge_curvature", "ridges", "ridge_length_total", "ridge_length_mean", "vertices", "facets",
            "facet_area_mean", "creases_within_1", "creases_within_5", "creases_beyond_5",
            "creases_flat", "creases_short",
        )
    },
    **{LEDGER + name: _of_ledger(name) for name in COLUMNS},
    **{name: _of_run(name) for name in ("steps", "newton_iterations", "contacts_max", "retries", "seconds_per_frame")},
}  # fmt: skip


def metric_unit(name: str) -> str:
    """The unit of a metric, "" for a plain number."""
    plain = name.partition("@")[0]
    found = describe_column(plain)
    return found.unit if found else ""


def check_metrics(names: Sequence[str], model: Model | None = None) -> None:
    """`InputError` unless all names are known and there once; with a `model`, also those of energies and frames."""
    for k, name in enumerate(names):
        plain, frame = _parts(name)
        energies = _energies(model)
        if plain not in MEASURES and (not plain.startswith(ENERGY) or (model is not None and plain not in energies)):
            raise InputError("--metric", "there is no such metric" + suggest(plain, [*MEASURES, *energies]), name)
        if name in names[:k]:
            raise InputError("--metric", "is given twice", name)
        if model is not None and frame is not None and frame > model.frame_count:
            raise InputError("--metric", f"a run has only {model.frame_count} frames", name)


def measure(recording: Recording, names: Sequence[str], own: OwnMetrics | None = None) -> dict[str, Any]:
    """The metrics of a recording by name; None where there is nothing to measure, or no finite number."""
    frames: dict[int | None, Measured] = {}
    found: dict[str, Any] = {}
    for name in names:
        plain, frame = _parts(name)
        measured = frames.setdefault(frame, Measured(recording, frame))
        if plain.startswith(ENERGY):
            found[name] = measured.energies.get(plain.removeprefix(ENERGY))
        else:
            found[name] = MEASURES[plain](measured)
    found |= {name: float(function(recording)) for name, function in (own or {}).items()}
    return {name: _finite(value) for name, value in found.items()}


def _parts(name: str) -> tuple[str, int | None]:
    """The plain name, and the frame: -1 the last, None the most confined one."""
    plain, at, frame = name.partition("@")
    if not at or frame == LAST:
        return plain, -1
    if frame == CONFINED:
        return plain, None
    if not (frame.isdecimal() and len(frame) < 10):
        raise InputError("--metric", "after the @ comes last, confined or the number of a frame", name)
    return plain, int(frame)


def _energies(model: Model | None) -> list[str]:
    names = ["membrane", "bending"] if model is None else [term.name for term in model.terms]
    return [f"{ENERGY}{name}" for name in ("kinetic", *names, "contact")]


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not isfinite(value) else value
