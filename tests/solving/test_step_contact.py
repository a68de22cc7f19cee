"""Contact during a step: how far a direction can be followed."""

import numpy as np
import pytest

import crumple.mesh as cm
import crumple.shapes as cs
from crumple.contact import make_surface
from crumple.runtime.timing import PhaseTimer
from crumple.solving.step_contact import StepContact


def two_layers() -> tuple[StepContact, np.ndarray]:
    one, x = cs.rectangle(0.1, 0.1, kind="right", divisions=(5, 5))
    mesh, _ = cm.concatenate([one, one])
    x = np.concatenate([x, x + np.array([0.003, 0.002, 0.01])])
    surface = make_surface(mesh.face_nodes, x, node_part=mesh.node_sheet, part_thickness=1e-4, dhat=1e-4)
    return StepContact(surface, 1e5, x, PhaseTimer()), x


@pytest.mark.parametrize("length", [0.011, 0.03, 0.3, 3.0])
def test_a_sweep_finds_the_same_limit_however_far_the_last_one_got(length: float) -> None:
    """After one that got nowhere, only a part of the way is looked at first."""
    rng = np.random.default_rng(5)
    fresh, x = two_layers()
    upper = x[:, 2] > 0.005
    direction = np.where(upper[:, None], np.array([0.0, 0.0, -length]), 0.0) + rng.uniform(-1e-4, 1e-4, x.shape)
    expected, parts = fresh.sweep(x, x + direction)
    assert 0.0 < expected < 1.0
    assert set(parts) == {0, 1}
    tired, _ = two_layers()
    tired.sweep(x, x + 1e3 * direction)
    found, _ = tired.sweep(x, x + direction)
    assert found == pytest.approx(expected, rel=1e-6)
    free, parts = tired.sweep(x, x + 0.01 * expected * direction)
    assert free == 1.0
    assert parts == ()
