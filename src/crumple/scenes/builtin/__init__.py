"""Scenes that come with the package, as TOML files; see `crumple.scenes.builtin_scenes`."""
