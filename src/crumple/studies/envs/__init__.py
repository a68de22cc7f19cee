"""Environments for reinforcement learning, after the interface of Gymnasium (needs `pip install 'crumple[learn]'`).

Importing this package registers them:

>>> import gymnasium, crumple.studies.envs                    # doctest: +SKIP
>>> env = gymnasium.make("crumple/Fold-v0")           # doctest: +SKIP
>>> observation, info = env.reset(seed=1)             # doctest: +SKIP
"""

from __future__ import annotations

from crumple.runtime.packages import load_package

try:
    import gymnasium
except ImportError:
    load_package("gymnasium", "crumple.studies.envs")  # says how to install it

from crumple.studies.envs.flatten import FlattenEnv
from crumple.studies.envs.fold import FoldEnv
from crumple.studies.envs.scripted import SCRIPTED, play_episode, random_policy
from crumple.studies.envs.sheet_env import SheetEnv, gripper_table
from crumple.studies.envs.stuff import StuffEnv

__all__ = [
    "ENVIRONMENTS",
    "SCRIPTED",
    "FlattenEnv",
    "FoldEnv",
    "SheetEnv",
    "StuffEnv",
    "gripper_table",
    "play_episode",
    "random_policy",
]

ENVIRONMENTS = {
    "crumple/Fold-v0": ("crumple.studies.envs.fold:FoldEnv", 40),
    "crumple/Flatten-v0": ("crumple.studies.envs.flatten:FlattenEnv", 40),
    "crumple/Stuff-v0": ("crumple.studies.envs.stuff:StuffEnv", 40),
}
"""Where each environment is, and after how many steps an episode ends."""

for _name, (_place, _steps) in ENVIRONMENTS.items():
    if _name not in gymnasium.registry:
        gymnasium.register(_name, entry_point=_place, max_episode_steps=_steps)
