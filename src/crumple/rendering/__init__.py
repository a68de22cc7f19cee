"""Pictures and films without a screen (needs `pip install 'crumple[render]'`)."""

from crumple.rendering.film import render_film, render_frame

__all__ = ["render_film", "render_frame"]
