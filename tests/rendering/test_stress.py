"""The colours of tension: what it is where the sheet is taut, and bounds that leave colours for the rest."""

import numpy as np
import pytest

from crumple.analysis.fields import SLACK, tension
from crumple.materials.material import Material
from crumple.model.model import Model
from crumple.shapes import rectangle
from crumple.state import initial_state

YOUNG = 2e9


@pytest.mark.parametrize(("stretch", "wanted"), [(5e-3, 10.0), (0.0, 1e-6 * SLACK * YOUNG), (-0.01, None), (0.1, 30.0)])
def test_tension_lies_between_that_of_a_slack_sheet_and_the_strength(stretch, wanted):
    material = Material.isotropic(
        "film", young=YOUNG, poisson=0.0, thickness=1e-4, density=0.1, tear_energy=(1e3, 1e3), tensile_strength=30e6
    )
    mesh, x = rectangle(0.1, 0.1, 0.05)
    state = initial_state(mesh, x * [1.0 + stretch, 1.0, 1.0])
    found = tension(Model((material,)), state)
    assert np.all(found > 0.0), "colours follow the logarithm"
    assert found == pytest.approx(1e-6 * SLACK * YOUNG if wanted is None else wanted, rel=0.01)
