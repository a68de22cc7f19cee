"""Fields that colour sheets: a finite number per element, defined and documented, one's own among them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from recording_samples import grid_mesh, make_recording, sample_model, sample_state

from crumple.analysis.fields import FIELDS, FIELDS_OF_MODEL, principal_stretch, recording_field, sheet_fields
from crumple.recording.recording import Recording
from crumple.runtime.errors import InputError
from crumple.state.state import initial_state

DOCS = Path(__file__).parents[2] / "docs" / "rendering.md"


def test_every_field_of_the_state_colours_including_ones_own():
    state = sample_state().with_field("flow", np.ones((sample_state().mesh.node_count, 3)), where="node", rule="copy")
    fields = sheet_fields(state)
    assert {*FIELDS, "dye", "flow"} <= set(fields)
    count = {"node": state.mesh.node_count, "vertex": state.mesh.vertex_count, "face": state.mesh.face_count}
    for name, field in fields.items():
        values = field.values(state)
        assert values.shape == (count[field.where],), name
        assert np.isfinite(values).all(), name
        assert field.corners(state).shape == (state.mesh.face_count, 3), name
    np.testing.assert_allclose(fields["flow"].values(state), np.sqrt(3.0))
    np.testing.assert_array_equal(fields["dye"].values(state), state.own["dye"].values)


def test_unknown_names_list_the_known_ones(tmp_path):
    recording = Recording(make_recording(tmp_path / "run"))
    with pytest.raises(InputError, match=r"--color-by = 'dmage' .*damage, plastic_curvature.*dye.*sizing"):
        recording_field("dmage", recording, "--color-by")
    assert recording_field("dye", recording, "--color-by").where == sheet_fields(recording.load(-1))["dye"].where


def test_stretches_and_area_of_a_stretched_and_turned_sheet():
    mesh = grid_mesh(3, 3)
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    state = initial_state(mesh, (mesh.node_rest * [1.02, 0.97, 1.0]) @ turn.T)
    np.testing.assert_allclose(principal_stretch(state), np.tile([1.02, 0.97], (mesh.face_count, 1)), atol=1e-12)
    for name, expected in {"stretch": 1.02, "strain": 2.0, "compression": -3.0, "area": 1.02 * 0.97}.items():
        np.testing.assert_allclose(FIELDS[name].values(state), expected, atol=1e-12)


@pytest.mark.parametrize("name", [*FIELDS, *FIELDS_OF_MODEL])
def test_fields_are_defined_and_documented(name):
    field = FIELDS[name] if name in FIELDS else FIELDS_OF_MODEL[name](sample_model())
    assert field.definition.endswith(".")
    row = next(line for line in DOCS.read_text(encoding="utf-8").splitlines() if line.startswith(f"| `{name}` |"))
    assert field.title in row
    assert field.definition.rstrip(".") in row
