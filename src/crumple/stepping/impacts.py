"""Impacts: steps in which contact is sudden, and the angular momentum that a step loses.

A scheme of second order takes forces for smooth. Where a contact begins within a step, the trapezoidal rule makes a
velocity out of the place where the contact stops the sheet: x₁ = x₀ + s (v₀ + v₁), so that v₁ is anything between −v₀
and v₀, by the accident of when in the step the surfaces meet. Implicit Euler goes there, and stays.

A step of a Runge–Kutta method with the matrix A and the weights b changes the angular momentum of internal forces by

    ΔL = h² Σ_ij (b_i b_j − b_i A_ij − b_j A_ji) Σ_n m v_i × a_j

beyond their torque, which for those of elasticity and contact is 0. In smooth motion that is small, in an impact, where
h a is a velocity, it is of the order of h v over the size of the sheets.
"""

from __future__ import annotations

import numpy as np

from crumple.model.model import Model
from crumple.options.solver import TR_BDF2
from crumple.runtime.typing import Floats
from crumple.solving.outcome import Ending
from crumple.state import State
from crumple.stepping.integration import StepPath
from crumple.stepping.schemes import GAMMA, SPAN, WEIGHT
from crumple.stepping.tuning import TUNING

SUDDEN = TUNING.sudden_change.value
TURNING = TUNING.turning_sheets.value
PRESSED = TUNING.pressed_sheets.value
IMPACT_WAY = TUNING.impact_way.value

_WEIGHTS = np.array((WEIGHT, WEIGHT, SPAN))
_ROWS = np.array([np.zeros(3), SPAN * np.array((True, True, False)), _WEIGHTS])
_TABLEAU = _WEIGHTS[:, None] * _ROWS
DEFECT = np.outer(_WEIGHTS, _WEIGHTS) - _TABLEAU - _TABLEAU.T
"""b_i b_j − b_i A_ij − b_j A_ji of TR-BDF2; that of implicit Euler is −1."""


def is_impact(model: Model, step_path: StepPath, step: float, mass: Floats) -> bool:
    """Whether contact is sudden in a step of `step` [s]: its forces change so much that velocities do by more than a
    fraction of themselves, and by more than the rebound speed, beyond which contact is inelastic."""
    if step_path.outcome.ending is not Ending.CONVERGED or model.solver.integrator != TR_BDF2:
        return False
    first, *others = step_path.instants
    speed = max(root_mean(mass, one.v) for one in step_path.instants)
    change = max(root_mean(mass, one.v - first.v) for one in others)
    return min(jolt(step_path, step, mass), change) > max(model.contact.rebound_speed, SUDDEN * speed)


def jolt(step_path: StepPath, step: float, mass: Floats) -> float:
    """What the change of contact forces since the start of a step does to the velocity of the sheets at most [m/s]: the
    sum of the sizes of its impulses over the mass (node_count,) [kg]."""
    start, *others = step_path.contact_forces
    if not len(start):
        return 0.0
    return step * max(float(np.linalg.norm(one - start, axis=1).sum()) for one in others) / float(mass.sum())


def meeting(step_path: StepPath) -> float:
    """The fraction of a step of TR-BDF2 after which surfaces meet."""
    first, second = step_path.free
    return GAMMA * first if first < 1.0 else GAMMA + (1.0 - GAMMA) * second


def impact_step(step_path: StepPath, mass: Floats, size: float) -> float:
    """The longest step of an impact [s]: in it the sheets move by a fraction of their `size` [m] beside each other."""
    speed = max(root_mean(mass, one.v - mass @ one.v / mass.sum()) for one in step_path.instants)
    return IMPACT_WAY * size / speed if speed > 0.0 else np.inf


def is_moving_freely(state: State, step_path: StepPath, step: float, mass: Floats, size: float) -> bool:
    """Whether a step [s] from `state` on is one of sheets whose angular momentum is to be kept, which steps of first
    order would not do: they turn fast beside the step, or they meet each other and nothing else holds them.

    `size` of the sheets [m].
    """
    return _euler_defect(step_path, step, mass, size) > TURNING or _is_free_collision(state, step_path, step, mass)


def _is_free_collision(state: State, step_path: StepPath, step: float, mass: Floats) -> bool:
    """Whether no handle, no obstacle and no pressure acts on the sheets in a step [s].

    Where sheets are pressed together, as in a ball of paper in flight, the impulse of contact is many times the
    momentum that it changes.
    """
    if len(state.pins.node) or np.any(step_path.outcome.obstacle_force):
        return False
    gained = float(mass @ np.linalg.norm(step_path.instants[-1].v - step_path.instants[0].v, axis=1))
    impulse = step * float(np.linalg.norm(step_path.contact_forces[-1], axis=1).sum())
    return impulse < PRESSED * gained


def root_mean(mass: Floats, vectors: Floats) -> float:
    """Root mean square of vectors (n, 3), weighted by the mass (n,)."""
    return float(np.sqrt(np.sum(mass * np.einsum("ni,ni->n", vectors, vectors)) / np.sum(mass)))


def angular_defect(step_path: StepPath, step: float, mass: Floats, size: float) -> float:
    """The angular momentum that a step loses or gains by its finite length, over that of the sheets' motion if all of
    it went around at half their `size` [m]; their motion as a whole is left out."""
    if step_path.scheme != TR_BDF2:
        return _euler_defect(step_path, step, mass, size)
    v = [one.v - mass @ one.v / mass.sum() for one in step_path.instants]
    a = [one.a - mass @ one.a / mass.sum() for one in step_path.instants]
    change = sum(DEFECT[i, j] * (mass @ np.cross(v[i], a[j])) for i in range(3) for j in range(3))
    return _relative(change, v, step, mass, size)


def _euler_defect(step_path: StepPath, step: float, mass: Floats, size: float) -> float:
    """The same of implicit Euler, in a motion as at the end of the step."""
    last = step_path.instants[-1]
    a = last.a - mass @ last.a / mass.sum()
    v = [one.v - mass @ one.v / mass.sum() for one in step_path.instants]
    return _relative(-(mass @ np.cross(v[-1], a)), v, step, mass, size)


def _relative(change: Floats, v: list[Floats], step: float, mass: Floats, size: float) -> float:
    """A `change` Σ m v × a (3,) over the angular momentum of the motion v (n, 3) at half the `size` [m]."""
    scale = 0.5 * size * float(mass.sum()) * max(root_mean(mass, one) for one in v)
    return step**2 * float(np.linalg.norm(change)) / scale if scale > 0.0 else 0.0
