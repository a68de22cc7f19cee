"""How long a scene runs: its own duration, or what the options --frames and --until ask for."""

from __future__ import annotations

from collections.abc import Sequence

from crumple.runtime.errors import InputError
from crumple.scenes.schema.scene import Scene
from crumple.scenes.toml import load_scene

LONGEST_RUN = 1e6
"""As the scene format bounds it [s]."""


def load_with_length(
    source: Scene | str, frames: int | None, until: float | None, *, overrides: Sequence[str] = (), quick: bool = False
) -> Scene:
    """The scene with its duration changed to `frames` frames or `until` [s], if given."""
    return with_length(load_scene(source, overrides, quick=quick), frames, until)


def with_length(scene: Scene, frames: int | None, until: float | None) -> Scene:
    """`scene` with its duration changed to `frames` frames or `until` [s], if given."""
    duration = new_length(frames, until, scene.run.frame_time)
    if duration is None:
        return scene
    return scene.model_copy(update={"run": scene.run.model_copy(update={"duration": duration})})


def new_length(frames: int | None, until: float | None, frame_time: float) -> float | None:
    """The duration [s] that the options `frames` or `until` [s] ask for, None if they do not."""
    if frames is not None and until is not None:
        raise InputError("--frames, --until", "give only one of them")
    if until is not None and not 0.0 < until <= LONGEST_RUN:
        raise InputError("--until", f"must be > 0 and at most {LONGEST_RUN:g} s", until)
    if frames is not None and frames * frame_time > LONGEST_RUN:
        raise InputError("--frames", f"must not last longer than {LONGEST_RUN:g} s in all", frames)
    return frames * frame_time if frames is not None else until
