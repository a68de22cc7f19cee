"""Shows a sheet in time so that nothing jumps when its structure changes.

The view of a new structure starts at the map u → x that was shown of the old one, and fades to its own. It shows no
intersection that is not there, but for what is too small to be seen: where it would, the old map fades at once, and if
that is not enough strips are shown less curved.
"""

from __future__ import annotations

import numpy as np

from crumple.contact import find_intersections
from crumple.developable.fading import Fade
from crumple.developable.paper import Paper
from crumple.developable.tuning import TUNING
from crumple.developable.view import Lens, SmoothView
from crumple.model.derived import contact_surface
from crumple.model.model import Model
from crumple.state import State

UNSEEN = TUNING.view_crossing.value
SHARES, CURVED = TUNING.view_shares.value, TUNING.view_curved.value


class Viewer:
    """What is shown of a sheet: `show` after every frame, `follow` when its structure has changed in it."""

    def __init__(self) -> None:
        self._lens: Lens | None = None
        self._fade: Fade | None = None

    @property
    def is_watched(self) -> bool:
        """Whether something has been shown: if not, nothing can jump."""
        return self._lens is not None

    def forget(self) -> None:
        """The sheet is elsewhere, such as after an undo: the next view has nothing to do with the last."""
        self._lens = self._fade = None

    def follow(self, before: Paper, after: Paper) -> None:
        """The structure has changed: `before` is the sheet as it would be shown now without the change."""
        seen, lens = self.show(before), Lens(after.layout)
        self._fade = Fade(seen, lens.show(after.state.x), lens, after.state.time)
        self._lens = lens

    def show(self, paper: Paper) -> SmoothView:
        """The sheet as it is shown now."""
        if self._lens is None or self._lens.plan.layout is not paper.layout:
            self._lens, self._fade = Lens(paper.layout), None
        share = 0.0 if self._fade is None else self._fade.share(paper.state.time)
        if share == 0.0:
            self._fade = None
        view = self._lens.show(paper.state.x)
        if self._fade is not None:
            for part in SHARES:
                faded = self._fade.show(view, part * share)
                if crossing_depth(paper.model, faded.state(paper.state)) <= UNSEEN:
                    return faded
        for curved in CURVED:
            view = view if curved == 1.0 else self._lens.show(paper.state.x, curved)
            if crossing_depth(paper.model, view.state(paper.state)) == 0.0:
                break
        return view


def crossing_depth(model: Model, state: State) -> float:
    """How deep something intersects in a state at most [m], 0 when nothing does: how far the nearer end of an edge is
    from the plane of a face that it passes through."""
    if not model.contact.enabled:
        return 0.0
    surface, x = contact_surface(model, state, state.time), np.concatenate([state.x, state.obstacle_x])
    pairs = find_intersections(surface, x)
    if not len(pairs):
        return 0.0
    ends, corners = x[surface.edges[pairs[:, 0]]], x[surface.faces[pairs[:, 1]]]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    size = np.maximum(np.linalg.norm(normal, axis=1), np.finfo(float).tiny)
    height = np.abs(np.einsum("nek,nk->ne", ends - corners[:, :1], normal)) / size[:, None]
    return float(height.min(axis=1).max())
