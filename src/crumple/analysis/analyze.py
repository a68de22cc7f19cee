"""All statistics of a frame of a recording."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from crumple.analysis.crease_lines import CreaseLine, measure_crease_lines, tally_creases
from crumple.analysis.crease_stops import THICKNESS
from crumple.analysis.creases import Creases, measure_creases
from crumple.analysis.energies import energy_split, measure_ledger
from crumple.analysis.fits import Fit, fit_laws
from crumple.analysis.reference import METAL
from crumple.analysis.ridges import RidgeNetwork, find_ridges
from crumple.analysis.section import CrossSection, cross_section
from crumple.analysis.shape import SheetShape, measure_shape
from crumple.analysis.statistics import (
    CurvatureRadii,
    DensityProfile,
    Orientation,
    curvature_radii,
    density_profile,
    orientation,
)
from crumple.analysis.tears import Tears, measure_tears
from crumple.model.model import Model
from crumple.recording.recording import Recording
from crumple.runtime.errors import InputError
from crumple.runtime.typing import Floats
from crumple.scenes.build import build
from crumple.state import State

LEDGER = "ledger_"
"""What the names of the columns of the ledger of energy begin with."""


@dataclass(frozen=True)
class Analysis:
    """The statistics of one frame; `energies` and `ledger` [J] by name, the fits are sorted by likelihood (empty:
    too few).

    `is_foil`: whether it is of metal, as the reference bands are;  `tears`: None where sheets cannot tear;
    `crease_tensor` (face_count, 3), see `State`.
    """

    frame: int
    time: float
    shape: SheetShape
    density: DensityProfile
    orientation: Orientation
    radii: CurvatureRadii
    section: CrossSection
    ridges: RidgeNetwork
    ridge_fits: tuple[Fit, ...]
    facet_fits: tuple[Fit, ...]
    creases: Creases
    energies: dict[str, float]
    ledger: dict[str, float] = field(default_factory=dict)
    crease_lines: tuple[CreaseLine, ...] = ()
    is_foil: bool = False
    tears: Tears | None = None
    crease_tensor: Floats | None = None

    def summary(self) -> dict[str, Any]:
        """The main numbers by name, SI units; None where there is nothing to measure."""
        shape, ridges, creases = self.shape, self.ridges, self.creases
        lengths, areas = ridges.all_lengths, ridges.facet_area
        tally = tally_creases(self.crease_lines)
        return {
            "frame": self.frame,
            "time": self.time,
            "faces": shape.mesh.face_count,
            "area": float(shape.area.sum()),
            "area_ratio": shape.area_ratio,
            "mass": float(shape.mass.sum()),
            "thickness": shape.mean_thickness,
            "radius": shape.ball.radius,
            "volume_fraction": shape.volume_fraction,
            "orientation_mean": self.orientation.mean,
            "first_radius_peak": self.radii.first_peak,
            "first_radius_median": self.radii.first_median,
            "second_radius_peak": self.radii.second_peak,
            "section_length": self.section.length if len(self.section.segments) else None,
            "ridge_curvature": ridges.threshold,
            "ridges": len(lengths),
            "ridge_length_total": float(lengths.sum()) if len(lengths) else None,
            "ridge_length_mean": float(lengths.mean()) if len(lengths) else None,
            "ridge_law": self.ridge_fits[0].law if self.ridge_fits else None,
            "vertices": len(ridges.vertex_node),
            "facets": len(areas),
            "facet_area_mean": float(areas.mean()) if len(areas) else None,
            "facet_law": self.facet_fits[0].law if self.facet_fits else None,
            "mileage": None if creases.is_empty else creases.mileage,
            "worked_mileage": None if creases.is_empty else creases.worked,
            "crease_hinge_length": None if creases.is_empty else creases.hinge_length,
            "crease_mean_angle": creases.mean_angle or None,
            "crease_area_share": None if creases.is_empty else creases.area_share,
            "crease_lines": len(self.crease_lines) or None,
            "creases_within_1": tally.within_1 if tally.total else None,
            "creases_within_5": tally.within_5 if tally.total else None,
            "creases_beyond_5": tally.beyond if tally.total else None,
            "creases_flat": len(tally.stopped.get(THICKNESS, ())) if tally.total else None,
            "creases_short": tally.short if tally.total else None,
            "spring_back_largest": self._largest_spring_back(),
            "energies": dict(self.energies),
            **{LEDGER + name: joule for name, joule in self.ledger.items()},
        } | ({} if self.tears is None else self.tears.summary())

    def _largest_spring_back(self) -> float | None:
        """Of all crease lines [degrees]."""
        angles = [abs(line.spring_back) for line in self.crease_lines if np.isfinite(line.spring_back)]
        return max(angles) if angles else None


def analyze_recording(
    recording: Recording,
    frame: int | None = None,
    *,
    plane: tuple[float, float, float] = (0.0, 1.0, 0.0),
    ridge_curvature: float | None = None,
) -> Analysis:
    """The statistics of a frame: `frame` (negative: from the end), else the most confined one, the last if sheets tear.

    `plane`: normal of the cross-section;  `ridge_curvature` from which a face belongs to a ridge [1/m].
    """
    if frame is None and recording.frames and recording_model(recording).tearing is not None:
        frame = -1
    state, model = load_frame(recording, frame), recording_model(recording)
    analysis = analyze_state(model, state, plane=plane, ridge_curvature=ridge_curvature)
    return analysis if analysis.tears is None else replace(analysis, tears=measure_tears(model, state, recording))


def analyze_state(
    model: Model,
    state: State,
    *,
    plane: tuple[float, float, float] = (0.0, 1.0, 0.0),
    ridge_curvature: float | None = None,
) -> Analysis:
    """The statistics of a state; see `analyze_recording`."""
    shape = state_shape(model, state)
    ridges = find_ridges(shape, ridge_curvature)
    return Analysis(
        frame=state.frame,
        time=state.time,
        shape=shape,
        density=density_profile(shape),
        orientation=orientation(shape),
        radii=curvature_radii(shape),
        section=cross_section(shape, plane),
        ridges=ridges,
        ridge_fits=fit_laws(ridges.all_lengths),
        facet_fits=fit_laws(ridges.facet_area),
        creases=measure_creases(shape),
        is_foil=all(sheet.stretch_stiffness > METAL * sheet.thickness for sheet in model.materials),
        energies=energy_split(model, state),
        ledger=measure_ledger(model, state),
        crease_lines=measure_crease_lines(model, state),
        tears=measure_tears(model, state),
        crease_tensor=state.crease,
    )


def state_shape(model: Model, state: State) -> SheetShape:
    """The shape of a state; `InputError` when it holds something else than the model's sheets."""
    if state.mesh.face_count and int(state.mesh.face_material.max()) >= len(model.materials):
        raise InputError("analysis", "the frame names materials that the scene does not have")
    if not all(np.isfinite(part).all() for part in (state.x, state.plastic_curvature, state.damage)):
        raise InputError("analysis", f"frame {state.frame} holds numbers that are not finite; see `crumple verify`")
    return measure_shape(
        state.mesh, state.x, model.materials, plastic_curvature=state.plastic_curvature, damage=state.damage
    )


def load_frame(recording: Recording, frame: int | None = None) -> State:
    """The state of a frame, of the most confined one by default; `InputError` when there is none such."""
    frames = recording.frames
    if not frames:
        raise InputError(str(recording.path), "has no finished frame to analyze")
    if frame is None:
        frame = most_confined(recording)
    elif frame < -len(frames):
        raise InputError(str(recording.path), f"has only {len(frames)} frames", frame)
    return recording.load(frame)


def most_confined(recording: Recording) -> int:
    """The frame whose nodes fit into the smallest box (by its diagonal), the last of several equal ones."""
    frames = recording.frames
    sizes = np.array([_box_diagonal(recording.load(frame).x) for frame in frames])
    # the last one within rounding: a ball at rest stays as small as it is
    return frames[int(np.flatnonzero(sizes <= sizes.min() * (1.0 + 1e-6))[-1])]


def recording_model(recording: Recording) -> Model:
    """The model that a recording was made with: the stored one, or that of its scene if it was edited since."""
    model = recording.present_model()
    if model is None and not recording.scene_path.is_file():
        raise InputError(str(recording.path), "has neither model.h5 nor scene.toml, which tell the materials")
    return build(recording.scene_path, relax=False).model if model is None else model


def _box_diagonal(x: Floats) -> float:
    """Of the box around points (n, 3) [m]."""
    return float(np.linalg.norm(np.ptp(x, axis=0)))
