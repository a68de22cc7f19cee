"""Scene files: the TOML format, built-in scenes, overrides, checks, and building a Model and a State."""

from crumple.scenes.build import build
from crumple.scenes.check import Report, check_scene
from crumple.scenes.messages import SceneError
from crumple.scenes.schema import Scene
from crumple.scenes.toml import builtin_scenes, dump_scene, load_scene, scene_from_tables

__all__ = [
    "Report",
    "Scene",
    "SceneError",
    "build",
    "builtin_scenes",
    "check_scene",
    "dump_scene",
    "load_scene",
    "scene_from_tables",
]
