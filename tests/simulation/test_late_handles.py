"""A handle that starts late takes its nodes where they are then, not where they were at the beginning."""

from __future__ import annotations

import numpy as np
import pytest

from crumple.boundary.handles import Handle
from crumple.materials import preset
from crumple.model.model import Model
from crumple.options.contact import ContactOptions
from crumple.session.session import run
from crumple.shapes import rectangle
from crumple.state import Pins, initial_state


@pytest.mark.parametrize("grips", [True, False])
def test_a_falling_sheet_is_caught(grips):
    mesh, x = rectangle(0.04, 0.04, 0.02)
    node = np.arange(mesh.node_count, dtype=np.int32)
    handle = Handle("hand", start=0.1, stiffness=1e4, grips=grips)
    model = Model(
        (preset("paper80"),), handles=(handle,), contact=ContactOptions(enabled=False), frame_time=0.02, duration=0.3
    )
    state = initial_state(mesh, x, pins=Pins(node, np.zeros_like(node), x.copy()))
    fallen = run(model, state, frames=5)
    assert fallen.x[:, 2].max() < -0.03, "it falls freely until the handle starts"
    caught = run(model, fallen)
    expected = fallen.x if grips else x
    np.testing.assert_allclose(caught.x, expected, atol=0.02)
