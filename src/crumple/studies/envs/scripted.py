"""Policies that need no learning: one script for each environment, and chance, to compare with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from crumple.runtime.typing import Floats
from crumple.studies.envs.sheet_env import MOVE, SIDE
from crumple.studies.envs.stuff import DEPTH, HOLDS

GATHERING, LOWERING = 9, 7
"""Steps in which the bag of `stuff_policy` is gathered and lowered."""
TAUT = 1.15
"""How far apart `flatten_policy` pulls the corners, over the sheet's size."""

Policy = Callable[[Mapping[str, np.ndarray], int], Floats]
"""The action for an observation in step number 0, 1, …"""


def fold_policy(seen: Mapping[str, np.ndarray], step: int) -> Floats:
    """Carry the corner in an arc over the sheet and lay it on the other one."""
    start, gripper, goal = seen["points"][0], seen["grippers"][0], seen["points"][0]
    far = float(np.linalg.norm(gripper[:2] - start[:2]))
    height = 0.003 + 0.35 * min(far, np.sqrt(2.0) * SIDE - far + 0.02)
    # never rise faster than one goes forward, or the middle of the sheet would leave the table at once
    way = np.array([*(goal[:2] - gripper[:2]), 0.0])
    move = _towards(gripper, gripper + way, 0.8)
    move[2] = np.clip((height - gripper[2]) / MOVE, -1.0, 1.0)
    return move[None]


def flatten_policy(seen: Mapping[str, np.ndarray], step: int) -> Floats:
    """Pull the corners apart and down, a little farther than the sheet is wide, which draws its creases straight."""
    grippers = seen["grippers"]
    middle = grippers[:, :2].mean(axis=0)
    goal = np.zeros_like(grippers)
    goal[:, :2] = middle + TAUT * _square(grippers[:, :2] - middle)
    goal[:, 2] = 0.02 if step < 6 else 0.004
    return np.array([_towards(one, there) for one, there in zip(grippers, goal, strict=True)])


def stuff_policy(seen: Mapping[str, np.ndarray], step: int) -> Floats:
    """Gather the corners above the middle like a bag, lower the bag into the box, and push the corners after it."""
    grippers = seen["grippers"]
    goal = np.zeros_like(grippers)
    outward = grippers[1:, :2] / np.maximum(np.linalg.norm(grippers[1:, :2], axis=1, keepdims=True), 1e-9)
    goal[1:, :2] = 0.01 * outward
    if step < GATHERING:
        goal[0, 2], goal[1:, 2] = DEPTH, DEPTH + 0.055
    elif step < GATHERING + LOWERING:
        goal[0, 2], goal[1:, 2] = 0.006, grippers[0, 2] + 0.045
    else:
        goal[0, 2], goal[1:, 2] = 0.006, 0.012
    return np.array([_towards(one, there) for one, there in zip(grippers, goal, strict=True)])


SCRIPTED: dict[str, Policy] = {
    "crumple/Fold-v0": fold_policy,
    "crumple/Flatten-v0": flatten_policy,
    "crumple/Stuff-v0": stuff_policy,
}
"""The script of each environment."""


def random_policy(shape: tuple[int, ...], seed: int) -> Policy:
    """Every move by chance, evenly in −1 … 1."""
    rng = np.random.default_rng(seed)
    return lambda seen, step: rng.uniform(-1.0, 1.0, shape)


def play_episode(env: Any, policy: Policy, *, seed: int, options: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The last `info` of an episode, with the number of its `steps` and the sum of its rewards, `return`."""
    seen, info = env.reset(seed=seed, options=options)
    is_over, step, total = False, 0, 0.0
    while not is_over:
        seen, reward, terminated, truncated, info = env.step(policy(seen, step).astype(np.float32))
        is_over, step, total = terminated or truncated, step + 1, total + float(reward)
    return dict(info) | {"steps": step, "return": total}


def _towards(here: Floats, there: Floats, speed: float = 1.0) -> Floats:
    """The move towards a place, at most `speed` long."""
    way = (np.asarray(there, np.float64) - here) / MOVE
    return way * min(1.0, speed / max(float(np.linalg.norm(way)), 1e-9))


def _square(places: Floats) -> Floats:
    """The corners of the flat sheet, either side up, turned so that they are nearest to `places` (4, 2) [m]."""
    fits = []
    for side in (1.0, -1.0):
        corners = 0.5 * SIDE * HOLDS[1:] * np.array([side, 1.0])
        along = float((corners * places).sum())
        across = float(corners[:, 0] @ places[:, 1] - corners[:, 1] @ places[:, 0])
        turn = np.arctan2(across, along)
        turned = corners @ np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
        fits.append((np.hypot(along, across), turned))
    return max(fits, key=lambda fit: fit[0])[1]
