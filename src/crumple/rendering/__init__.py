"""Pictures and films without a screen (needs `pip install 'crumple[render]'`)."""

from crumple.rendering.camera import View
from crumple.rendering.film import render_film, render_frame
from crumple.rendering.style import Style

__all__ = ["Style", "View", "render_film", "render_frame"]
