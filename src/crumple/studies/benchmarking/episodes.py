"""episodes: steps per second of the environment `crumple/Fold-v0` by script and by chance, for two sizes of mesh."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from crumple.runtime.errors import InputError
from crumple.studies.benchmarking.report import Record, Report

NAME = "crumple/Fold-v0"
FACES = (150, 600)
EPISODES = 3
LONGEST = 20
"""Steps of an episode at most."""


def measure_episodes(faces: Sequence[int] = FACES, episodes: int = EPISODES) -> Report:
    """Steps per second of wall time, one environment in one process; what compiles and warms up is not counted.

    The processor's time includes the resets, and counts all threads.
    """
    title, names, costs = f"{NAME}: steps of 0.05 s", ("faces", "policy"), ("ms/step", "CPU ms/step")
    try:
        from crumple.studies.envs import SCRIPTED, FoldEnv, random_policy
    except InputError as error:
        return Report(title, ({"faces": "", "policy": "not measured", "why": str(error)},), names, costs)
    records: list[Record] = []
    for count in faces:
        env = FoldEnv(faces=count)
        _time_steps(env, SCRIPTED[NAME], 0)
        for name in ("script", "chance"):
            spent: list[float] = []
            begin = time.process_time()
            for seed in range(1, 1 + episodes):
                spent += _time_steps(env, SCRIPTED[NAME] if name == "script" else random_policy((1, 3), seed), seed)
            busy = time.process_time() - begin
            record: Record = {
                "faces": env.simulation.state.mesh.face_count,
                "policy": name,
                "steps": len(spent),
                "steps/s": len(spent) / sum(spent),
                "ms/step": 1e3 * sum(spent) / len(spent),
                "CPU ms/step": 1e3 * busy / len(spent),
                "ms/step at most": 1e3 * max(spent),
            }
            records.append(record)
    return Report(title, tuple(records), names, costs)


def _time_steps(env: Any, policy: Any, seed: int) -> list[float]:
    """Seconds of each step of an episode."""
    seen, _ = env.reset(seed=seed)
    spent: list[float] = []
    is_over = False
    while not is_over and len(spent) < LONGEST:
        action = policy(seen, len(spent)).astype(np.float32)
        begin = time.perf_counter()
        seen, _, terminated, truncated, _ = env.step(action)
        spent.append(time.perf_counter() - begin)
        is_over = terminated or truncated
    return spent
