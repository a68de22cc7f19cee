"""What cracks ask of the mesh."""

from dataclasses import replace

import numpy as np

from crumple.materials import preset
from crumple.model.model import Model
from crumple.options.remeshing import RemeshingOptions
from crumple.options.sizing import SizingOptions
from crumple.options.tearing import Tearing
from crumple.shapes import rectangle
from crumple.state import initial_state, make_tips
from crumple.tearing.sizing import crack_criteria, crack_demands, crack_nodes, length_under


def test_edges_shrink_with_the_tension_down_to_those_of_tips():
    tension = np.array([0.0, 3e6, 15e6, 30e6, 90e6, 30e6])
    strength = np.array([30e6, 30e6, 30e6, 30e6, 30e6, np.inf])
    longest = length_under(tension, strength, 0.5, 2e-3)
    np.testing.assert_allclose(longest, [np.inf, 20e-3, 4e-3, 2e-3, 2e-3, np.inf])
    np.testing.assert_allclose(length_under(tension, strength, 0.25, 2e-3)[2], 2e-3)


def test_a_sheet_with_a_tip_is_fine_around_it_and_where_it_is_pulled():
    mesh, x = rectangle(0.1, 0.1, 0.01)
    node = int(np.argmin(np.linalg.norm(mesh.u - mesh.u.mean(axis=0), axis=1)))
    tips = make_tips(np.array([node]), np.array([[1.0, 0.0]]), mesh.u[:1], np.array([0]))
    state = initial_state(mesh, x).replaced(tips=tips)
    paper = preset("paper80")
    strain = 2.0 * paper.tensile_strength * paper.thickness / paper.stretch_stiffness
    pulled = state.replaced(x=x * [1.0 + strain, 1.0, 1.0])
    model = Model(
        (paper,),
        remeshing=RemeshingOptions(SizingOptions(size_min=2e-3)),
        tearing=Tearing(initiation=False),
    )
    (near_tip,) = crack_criteria(model)
    away = np.linalg.norm(mesh.u[mesh.faces].mean(axis=1) - mesh.u[node], axis=1)
    np.testing.assert_allclose(near_tip(state), np.maximum(2e-3, away / 3.0))
    assert np.isinf(near_tip(initial_state(mesh, x))).all()
    _, under_tension = crack_criteria(replace(model, tearing=Tearing()))
    assert np.all(under_tension(state) > 1.0), "nothing pulls, up to rounding"
    np.testing.assert_allclose(under_tension(pulled), 2e-3)
    still = crack_demands(replace(model, tearing=None))
    assert still.criteria == ()
    assert still.may_rest
    assert still.protections == (crack_nodes,)
    assert set(crack_nodes(state)) == {0, node}
    assert not crack_demands(model).may_rest
