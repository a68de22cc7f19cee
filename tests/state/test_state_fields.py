"""A state refuses what does not fit its mesh, and carries fields of the user's."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from state_samples import RULES, every_field, jittered

from crumple.recording.frame import decode_frame, encode_frame, state_digest
from crumple.runtime.errors import InputError
from crumple.state import State, attached_values, initial_state, state_fields
from crumple.state.following import element_count

MESH = jittered()
STATE = initial_state(MESH, MESH.node_rest)


def test_every_array_on_the_mesh_is_declared():
    """A new field of `State` that lives on the mesh cannot be forgotten: its length gives it away."""
    sizes = {element_count(MESH, where) for where in RULES}
    declared = {field.name for field in state_fields()}
    for one in dataclasses.fields(State):
        value = getattr(STATE, one.name)
        if isinstance(value, np.ndarray) and len(value) in sizes:
            assert one.name in declared


@pytest.mark.parametrize("field", state_fields(), ids=lambda field: field.name)
def test_wrong_shapes_are_refused_by_name(field):
    count = element_count(MESH, field.where)
    for wrong in ((count + 1, field.width), (count, field.width + 1), (count - 1,)):
        with pytest.raises(InputError, match=rf"state\.{field.name} .*\({count},"):
            STATE.replaced(**{field.name: np.zeros(wrong)})


def test_another_mesh_needs_other_arrays():
    with pytest.raises(InputError, match=r"state\.x"):
        STATE.replaced(mesh=jittered(6, 4))


def test_what_is_left_out_is_zero():
    fields = {one.name: getattr(STATE, one.name) for one in dataclasses.fields(State) if one.name != "plastic_strain"}
    assert not State(**fields).plastic_strain.any()
    assert STATE.plastic_strain.shape == (MESH.face_count, 3)


@pytest.mark.parametrize(("where", "rule"), [(where, rule) for where, rules in RULES.items() for rule in rules])
@pytest.mark.parametrize("width", [(), (1,), (3,), (2, 2)])
def test_fields_of_every_kind_are_kept_and_recorded(where, rule, width, tmp_path):
    values = np.random.default_rng(1).random((element_count(MESH, where), *width))
    state = STATE.with_field("mine", values, where=where, rule=rule)
    np.testing.assert_array_equal(state.field("mine"), values)
    assert "mine" not in STATE.own
    assert any(field.name == "mine" for field, _ in attached_values(state))
    path = tmp_path / "frame.vtkhdf"
    path.write_bytes(encode_frame(state))
    again = decode_frame(path)
    np.testing.assert_array_equal(again.field("mine"), values)
    assert (again.own["mine"].where, again.own["mine"].rule) == (where, rule)
    assert state_digest(again) == state_digest(state) != state_digest(STATE)


@pytest.mark.parametrize(("where", "rule"), [("face", "interpolate"), ("node", "conserve"), ("edge", "interpolate")])
def test_impossible_rules_are_refused(where, rule):
    values = np.zeros(element_count(MESH, where))
    with pytest.raises(InputError, match="field 'mine'"):
        STATE.with_field("mine", values, where=where, rule=rule)


@pytest.mark.parametrize(
    ("name", "values", "where", "rule"),
    [
        ("mine", np.zeros(3), "face", "copy"),
        ("mine", np.zeros(MESH.face_count), "chain", "copy"),
        ("mine", np.zeros(MESH.face_count), "face", "custom"),
        ("damage", np.zeros(MESH.face_count), "face", "copy"),
        ("no name", np.zeros(MESH.face_count), "face", "copy"),
    ],
)
def test_bad_fields_are_refused(name, values, where, rule):
    with pytest.raises(InputError):
        STATE.with_field(name, values, where=where, rule=rule)


def test_fields_are_found_by_name():
    state = every_field(MESH)
    assert state.field("x") is state.x
    with pytest.raises(InputError, match="face_conserve"):
        state.field("colour")
    for name in ("mesh", "time", "pins"):
        with pytest.raises(InputError):
            state.field(name)
