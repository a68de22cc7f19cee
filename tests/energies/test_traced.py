"""Traced energies: agreement with kernels by hand, projection, damping, and errors that name file and line."""

from __future__ import annotations

import linecache
from dataclasses import replace

import numpy as np
import pytest

import crumple
from crumple.contract import Stage
from crumple.energies.bending_hinge import BendingHinge
from crumple.energies.examples import PATCH, patch_poses
from crumple.energies.membrane_stvk import make_membrane_stvk
from crumple.energies.traced import dihedral, dot, generated, log, norm
from crumple.energies.traced.examples import traced_hinge, traced_magnet, traced_spring, traced_stvk
from crumple.geometry.triangle import shape_gradients
from crumple.runtime.errors import InputError, SimulationError
from crumple.state import initial_state

POSES = patch_poses(np.random.default_rng(2))


def close(found, wanted):
    """Equal to twelve digits of the largest number."""
    np.testing.assert_allclose(found, wanted, rtol=0.0, atol=1e-12 * np.abs(wanted).max())


@pytest.mark.parametrize("pose", [pose for pose in POSES if pose != "nearly degenerate"])
def test_the_traced_hinge_is_the_one_by_hand(pose):
    rng = np.random.default_rng(4)
    count = len(PATCH.hinges.nodes)
    stiffness, rest = rng.uniform(1e-4, 1e-3, count), rng.uniform(-0.5, 0.5, count)
    hand = BendingHinge(PATCH.hinges.nodes, stiffness, rest)
    traced = traced_hinge.on(PATCH, {"stiffness": stiffness, "rest": rest})
    x = POSES[pose]
    close(traced.value(x), hand.value(x))
    close(traced.gradient(x), hand.gradient(x))
    close(traced.hessian(x, False), hand.hessian(x, False))


@pytest.mark.parametrize("pose", POSES)
def test_the_traced_membrane_is_the_one_by_hand(pose):
    corners, c = PATCH.u[PATCH.faces], np.array([1e3, 3e2, 5e2, 4e2])
    hand = make_membrane_stvk(corners, PATCH.face_nodes, c)
    traced = traced_stvk.on(PATCH, {"gradients": shape_gradients(corners), "area": hand.area, "c": c})
    x = POSES[pose]
    scale = np.abs(hand.value(POSES["random"])).max()  # the value is rounding at rest
    np.testing.assert_allclose(traced.value(x), hand.value(x), rtol=1e-12, atol=1e-12 * scale)
    np.testing.assert_allclose(traced.gradient(x), hand.gradient(x), rtol=0.0, atol=1e-12 * 1e3)
    close(traced.hessian(x, False), hand.hessian(x, False))


def test_projection_takes_away_what_is_negative_and_nothing_else():
    """Of a magnet: eigenvalues of each 3×3 matrix, clamped by numpy."""
    magnet = traced_magnet.on(PATCH, {"strength": 1e-3, "place": [0.1, 0.0, 0.0]})
    x = POSES["random"]
    exact, projected = magnet.hessian(x, False)[:, 0], magnet.hessian(x, True)[:, 0]
    values, vectors = np.linalg.eigh(exact)
    assert values.min() < 0.0 < values.max()
    close(projected, (vectors * np.maximum(values, 0.0)[:, None, :]) @ vectors.transpose(0, 2, 1))


def test_residuals_are_projected_by_gauss_and_newton():
    spring = traced_spring.on(PATCH, {"stiffness": 50.0, "length": 0.05})
    x = POSES["random"]
    slope, step = np.empty((len(spring.stencil), 2, 3)), 1e-7
    for node in range(2):
        for axis in range(3):
            found = []
            for sign in (1.0, -1.0):
                moved = x[spring.stencil].copy()
                moved[:, node, axis] += sign * step
                own = replace(spring, stencil=np.arange(2 * len(moved), dtype=np.int32).reshape(-1, 2))
                found.append(own.deformation(np.ascontiguousarray(moved.reshape(-1, 3)))[:, 0])
            slope[:, node, axis] = (found[0] - found[1]) / (2.0 * step)
    pairs = [(0, 0), (0, 1), (1, 1)]
    wanted = np.stack([np.einsum("ni,nj->nij", slope[:, a], slope[:, b]) for a, b in pairs], axis=1)
    np.testing.assert_allclose(spring.hessian(x, True), wanted, atol=1e-6 * np.abs(wanted).max())


def test_damping_is_the_potential_of_the_rates():
    """½ w C² + β/(2 dt) (C − C₀)² but for a constant, on top of what was damped before."""
    spring = traced_spring.on(PATCH, {"stiffness": 50.0, "length": 0.05})
    x, before = POSES["random"], POSES["stretched"]
    ratio = np.linspace(0.1, 2.0, len(spring.stencil))
    (damped,) = spring.damped(spring.deformation(before), ratio)
    c, c0 = spring.deformation(x)[:, 0], spring.deformation(before)[:, 0]
    constant = damped.value(before) - 0.5 * c0**2
    close(damped.value(x) - constant, 0.5 * c**2 + 0.5 * ratio * (c - c0) ** 2)
    np.testing.assert_array_equal(damped.deformation(x), spring.deformation(x))


def test_kernels_are_kept_by_the_hash_of_their_source(tmp_path, monkeypatch):
    monkeypatch.setattr(generated, "cache_folder", lambda name: tmp_path)
    text = "def evaluate():\n    return 1\n"
    first = generated._load("law", text)
    (path,) = tmp_path.glob("law_*.py")
    assert path.read_text() == text
    assert generated._load("law", text) is first
    monkeypatch.delitem(generated.sys.modules, first.__name__)
    path.write_text("raise SystemExit")  # whatever is there is not run unless it is what was made
    assert generated._load("law", text).evaluate() == 1
    assert generated._load("law", text + "\n") is not first


def test_time_is_a_parameter_of_its_own():
    @crumple.energy(elements="nodes", parameters={"weight": ()})
    def lift(x, weight, time):
        return -weight * time * x[2]

    energy = lift.on(PATCH, {"weight": 2.0})
    assert np.all(energy.gradient(POSES["flat"]) == 0.0)
    np.testing.assert_allclose(energy.at(3.0).gradient(POSES["flat"])[:, 0, 2], -6.0)
    assert lift.term({"weight": 2.0}).mount(_state()).stored(_state(), 3.0)[0].gradient(POSES["flat"])[0, 0, 2] == -6.0


def _state():
    return initial_state(PATCH, POSES["flat"].copy())


def refused(function, told, elements="hinges", **given):
    """The message of a function that cannot be traced, which must name this file and the line with `# here`."""
    with pytest.raises(InputError) as caught:
        crumple.energy(elements=elements, **given)(function)
    message = str(caught.value)
    assert told in message, message
    file, number = message.split(": ")[0].rsplit(":", 1)
    assert file == __file__
    assert "\n" not in message
    line = linecache.getline(file, int(number))
    assert "# here" in line or "def " in line, line
    return message


def test_errors_name_file_and_line():
    def branch(x0, x1, x2, x3):
        angle = dihedral(x0, x1, x2, x3)
        if angle > 0.0:  # here
            return angle
        return -angle

    def of_numpy(x0, x1, x2, x3):
        edge = x1 - x0
        return np.sqrt(dot(edge, edge))  # here

    def of_vectors(x0, x1, x2, x3):
        return np.cross(x1 - x0, x2 - x0)[0]  # here

    def misspelt(x0, x1, x2, x3):
        return x0.lenght  # here

    assert "where" in refused(branch, "traced once")
    assert "crumple.energies.traced" in refused(of_numpy, "ufunc")
    refused(of_vectors, "numpy")
    refused(misspelt, "lenght")
    refused(lambda x0, x1, x2, x3: x0, "must return one number")  # here
    refused(lambda x0: 1.0, "must take the positions of 4 nodes")  # here
    refused(lambda x0, k: k, "and then stiffness", elements="nodes", parameters={"stiffness": ()})  # here
    refused(lambda x0, k: k, "like (), (3,)", elements="nodes", parameters={"k": 3})  # here
    refused(lambda x0: 1.0, "nodes, edges, faces, hinges", elements="corners")  # here
    refused(lambda x0: (), "at least one number", elements="nodes", residuals=True)  # here
    alike = {"k": (2,), "k_0": ()}
    refused(lambda x0, k, k_0: k_0, "too much alike", elements="nodes", parameters=alike)  # here
    with pytest.raises(InputError, match="written in Python"):
        crumple.energy(elements="nodes")(np.sum)


def test_wrong_parameters_are_told():
    count = len(PATCH.hinges.nodes)
    for given, told in [
        ({"stiffness": 1.0}, "lacks rest"),
        ({"stiffness": 1.0, "rest": 0.0, "colour": 1.0}, "unknown colour"),
        ({"stiffness": np.ones(count + 1), "rest": 0.0}, rf"has the shape \({count + 1},\), must have \(\)"),
        ({"stiffness": np.nan, "rest": 0.0}, "must be finite"),
        ({"stiffness": "soft", "rest": 0.0}, "must be numbers"),
    ]:
        with pytest.raises(InputError, match=told):
            traced_hinge.on(PATCH, given)
    with pytest.raises(InputError, match="residuals=True"):
        traced_hinge.term({"stiffness": 1.0, "rest": 0.0}, damping=0.1)
    with pytest.raises(InputError, match="return a dictionary"):
        traced_hinge.term(lambda mesh: [1.0]).mount(_state())


def test_what_is_not_finite_is_told_with_its_line():
    @crumple.energy(elements="edges", parameters={"length": ()})
    def barrier(x0, x1, length):
        room = length - norm(x1 - x0)
        return -log(room)  # here

    @crumple.energy(elements="nodes", parameters={"place": (3,)})
    def tether(x, place):
        return norm(x - place)  # here

    state = _state()
    with pytest.raises(SimulationError, match=r"test_traced.py:\d+: barrier: `return -log\(room\)") as caught:
        barrier.term({"length": 0.03}).mount(state).begin(state, 0.01)
    assert "its value is not finite in element" in str(caught.value)
    assert "length = 0.03" in str(caught.value)
    with pytest.raises(SimulationError, match=r"tether: .*its gradient is not finite in element 2 of the nodes"):
        tether.term({"place": state.x[2]}).mount(state).begin(state, 0.01)
    assert barrier.term({"length": 0.5}).mount(state).begin(state, 0.01) is state


def test_damping_of_a_term_acts_by_the_rates_of_the_stage():
    term = traced_spring.term({"stiffness": 50.0, "length": 0.05}, damping=0.2).mount(_state())
    still = np.zeros_like(POSES["flat"])
    stage = Stage(_state(), 0.0, 0.1, POSES["flat"], still, POSES["flat"], still, 0.1, ((1.0, POSES["flat"]),))
    (damped,), (free,) = term.over(stage), term.stored(stage.state, 0.1)
    rate = free.deformation(POSES["random"]) - free.deformation(POSES["flat"])
    extra = damped.value(POSES["random"]) - damped.value(POSES["flat"])
    extra -= free.value(POSES["random"]) - free.value(POSES["flat"])
    close(extra, 0.5 * 0.2 / 0.1 * rate[:, 0] ** 2)
    assert term.over(replace(stage, is_static=True))[0] is free or np.array_equal(
        term.over(replace(stage, is_static=True))[0].parameters, free.parameters
    )
