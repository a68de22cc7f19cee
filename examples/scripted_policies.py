"""The environments for reinforcement learning played by a script and by chance.

    python examples/scripted_policies.py [FACES] [EPISODES] [FOLDER]

Prints the score of each, a number 0 … 1: how near the corners are to each other (Fold), how much of the table the sheet
covers (Flatten), how much of it is in the box (Stuff). With a folder, the first episode of each script is recorded
there.
Needs Gymnasium: pip install 'crumple[learn]'.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from crumple.studies.envs import SCRIPTED, play_episode, random_policy


def play(name: str, faces: int, episodes: int, folder: Path | None) -> dict[str, list[dict[str, Any]]]:
    """How the episodes of each policy ended."""
    env = gymnasium.make(name, faces=faces)
    ends: dict[str, list[dict[str, Any]]] = {"script": [], "chance": []}
    for seed in range(episodes):
        wanted = folder is not None and seed == 0
        options = {"record": folder / name.split("/")[1]} if folder is not None and wanted else None
        ends["script"].append(play_episode(env, SCRIPTED[name], seed=seed, options=options))
        chance = random_policy(env.action_space.shape or (), seed)
        ends["chance"].append(play_episode(env, chance, seed=seed))
    env.close()
    return ends


def main(faces: str = "40", episodes: str = "1", folder: str | None = None) -> dict[str, tuple[float, float]]:
    """Print a table, and return the mean scores of script and chance by environment."""
    print("environment           policy   score: mean (least … most)   done    steps   return")
    scores = {}
    for name in SCRIPTED:
        ends = play(name, int(faces), int(episodes), None if folder is None else Path(folder))
        for policy, infos in ends.items():
            score = np.array([info["score"] for info in infos])
            done = sum(info["is_success"] for info in infos)
            steps, total = (np.mean([info[key] for info in infos]) for key in ("steps", "return"))
            print(
                f"{name:22s}{policy:9s}{score.mean():8.3f} ({score.min():.3f} … {score.max():.3f})"
                f"{done:8d}/{len(infos):<4d}{steps:7.1f}{total:9.3f}"
            )
        scores[name] = tuple(float(np.mean([info["score"] for info in infos])) for infos in ends.values())
    return scores  # type: ignore[return-value]


if __name__ == "__main__":
    for script, chance in main(*sys.argv[1:]).values():
        assert script > chance + 0.15, (script, chance)
