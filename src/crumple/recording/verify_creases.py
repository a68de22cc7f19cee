"""Rechecks that no sheet of a recording is bent for good by more than it has been worked.

Every change of S_p by yielding counts in the damage, ‖ΔS_p‖ ≤ κ_y Δδ (eq. 3 of [Narain2013]), and a new mesh takes over
both together. So the turn that was never worked, Σ A max(0, ‖S_p‖ − κ_y δ) over the faces, is what creases were given
at the start, and does not grow.
"""

from __future__ import annotations

import numpy as np

from crumple.geometry.metric import tensor_norm
from crumple.materials.material import Material
from crumple.recording.files import StorageError
from crumple.recording.model_file import fit_problem
from crumple.recording.recording import Recording
from crumple.runtime.errors import InputError
from crumple.state import State

TOLERANCE = 1e-6
"""By which the unworked turn may grow, as a fraction of all that was worked: rounding."""


def verify_creases(recording: Recording) -> list[str]:
    """A line for the first frame with more plastic curvature than was worked since the first one; else nothing.

    Where S_p changes by other rules (rest angles, terms of the user's own) there is nothing to check.
    """
    try:
        stored = recording.stored_model()
    except (InputError, StorageError):
        return []  # which is told with the model
    if stored is None or stored.model is None or stored.terms or stored.model.plasticity.rule != "curvature":
        return []
    least = np.inf
    for frame in recording.frames:
        try:
            state = recording.load(frame)
        except (InputError, StorageError):
            continue  # which is told with the frame
        if fit_problem(stored.model, state):
            return []  # which is told with the model
        unworked, worked = unworked_turn(state, stored.model.materials)
        if unworked > least + TOLERANCE * (worked + unworked):
            return [f"frame {frame}: {unworked - least:.3g} m rad of creases have come from nowhere"]
        least = min(least, unworked)
    return []


def unworked_turn(state: State, materials: tuple[Material, ...]) -> tuple[float, float]:
    """Σ A max(0, ‖S_p‖ − κ_y δ) over the faces that can yield, and Σ A κ_y δ [m rad]."""
    limit = np.array([material.yield_curvature for material in materials], np.float64)[state.mesh.face_material]
    area = np.where(np.isfinite(limit), np.abs(state.mesh.face_area), 0.0)
    worked = np.where(np.isfinite(limit), limit, 0.0) * state.damage
    return float(area @ np.maximum(0.0, tensor_norm(state.plastic_curvature) - worked)), float(area @ worked)
