"""The model beside the frames: stored to the bit, refused when it is not what crumple wrote."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from recording_samples import make_recording, sample_model, sample_state

from crumple.boundary.attachments import Attachment
from crumple.boundary.handles import Handle
from crumple.boundary.motions import Key, Motion, Rate, make_motion
from crumple.boundary.obstacles import make_obstacle
from crumple.contract import EnergyTerm
from crumple.materials.material import Material
from crumple.model.model import Model
from crumple.options.contact import ContactOptions
from crumple.options.remeshing import RemeshingOptions
from crumple.options.sizing import SizingOptions
from crumple.options.solver import SolverOptions
from crumple.recording import Recording, create_recording, state_digest
from crumple.recording.codec import digest, flatten
from crumple.recording.mark import mark_folder
from crumple.recording.model_file import MODEL, bare_model, decode_model, encode_model
from crumple.recording.verify import verify_recording
from crumple.recording.vtkhdf import DamagedFile, HdfImage, open_hdf
from crumple.runtime.errors import InputError
from crumple.scenes import build, builtin_scenes
from crumple.session.simulation import Simulation
from crumple.shapes.sheets import rectangle
from crumple.state import initial_state


def stored(tmp_path: Path, model: Model, scene: str = ""):
    path = tmp_path / MODEL
    path.write_bytes(encode_model(model, scene))
    return decode_model(path)


def paper() -> Material:
    return Material.isotropic("paper", young=2e9, poisson=0.3, thickness=1e-4, density=0.08, yield_curvature=200.0)


def rich_model() -> Model:
    """Something in every place of a model."""
    outer = make_motion("outer", [Key(0.0), Key(1.0, translate=(0.0, 0.0, 0.1))])
    inner = make_motion("inner", rate=Rate((0.1, 0.0, 0.0), (0.0, 0.0, 1.0), 0.1), center=(1.0, 2.0, 3.0), parent=outer)
    corners = np.array([[0.0, 0.0, 0.0], [0.1, 0.0, 0.0], [0.0, 0.1, 0.0], [0.0, 0.0, 0.1]])
    faces = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    shrinking = make_obstacle("block", faces, [corners, 0.5 * corners], times=(0.0, 1.0), motion=inner)
    measured = Material("measured", 1e-4, 0.1, np.tile([30.0, 1.0, 20.0, 5.0], (6, 1)), np.full((3, 5), 1e-5))
    return Model(
        materials=(paper(), measured),
        sheet_names=("a", "", "sheet ü\0"),
        handles=(Handle("still"), Handle("moved", inner, end=2.0, grips=False)),
        attachments=(Attachment("glue", stiffness=12.5),),
        obstacles=(shrinking, replace(shrinking, name="other", friction=0.3, end=3.0)),
        gravity=(0.0, 0.1, -1.0),
        contact=ContactOptions(sheet_thickness=(0.0, 1e-4, 2e-4), friction=np.full((5, 5), 0.2)),
        solver=SolverOptions(mode="static", fixed_step=1e-3 / 3),
        remeshing=RemeshingOptions(sheet_sizing=(SizingOptions(), SizingOptions(size_min=1e-3), SizingOptions())),
        duration=1 / 3,
    )


def test_a_model_with_everything_comes_back_to_the_bit(tmp_path: Path) -> None:
    model = rich_model()
    found = stored(tmp_path, model)
    assert found.model is not None
    assert not found.lacking
    assert digest(flatten(found.model)) == digest(flatten(model))
    assert found.model.sheet_names == model.sheet_names
    assert found.model.handles[0] == model.handles[0]
    assert found.model.solver == model.solver
    assert found.model.remeshing == model.remeshing
    parent = found.model.handles[1].motion.parent
    assert parent.name == "outer"
    np.testing.assert_array_equal(found.model.obstacle_positions(0.37), model.obstacle_positions(0.37))
    assert [term.name for term in found.model.terms] == [term.name for term in model.terms]


@pytest.mark.parametrize("name", [name for name in builtin_scenes() if name != "tshirt"])
def test_the_models_of_built_in_scenes_come_back_to_the_bit(name: str, tmp_path: Path) -> None:
    model, _, _ = build(name, quick=True)
    found = stored(tmp_path, model).model
    assert found is not None
    assert digest(flatten(found)) == digest(flatten(model))


def test_the_same_model_gives_the_same_bytes() -> None:
    assert encode_model(rich_model(), "x") == encode_model(rich_model(), "x")
    assert encode_model(rich_model(), "x") != encode_model(rich_model(), "y")


def test_own_terms_and_criteria_are_named(tmp_path: Path) -> None:
    def fine(state):
        return np.full(state.mesh.face_count, np.inf)

    model = replace(rich_model(), remeshing=RemeshingOptions(criteria=(fine,)))
    found = stored(tmp_path, model.with_term(EnergyTerm("magnet", lambda state: None)))
    assert found.terms == ("magnet",)
    assert found.criteria == ("fine",)
    assert found.lacking == "term 'magnet', sizing criterion 'fine'"
    assert digest(flatten(found.model)) == digest(flatten(bare_model(model)))


def test_a_subclass_of_ones_own_is_named_instead_of_stored(tmp_path: Path) -> None:
    @dataclass(frozen=True)
    class Trembling(Motion):
        pass

    motion = make_motion("m", [Key(0.0)])
    own = Trembling(**{name: getattr(motion, name) for name in vars(motion)})
    found = stored(tmp_path, replace(rich_model(), handles=(Handle("h", own),)))
    assert found.model is None
    assert "handles[0].motion" in found.lacking


def test_damage_is_noticed(tmp_path: Path) -> None:
    content = bytearray(encode_model(rich_model()))
    for place in range(len(content) // 2, len(content), len(content) // 9):
        broken = content.copy()
        broken[place] ^= 0x10
        (tmp_path / MODEL).write_bytes(broken)
        try:
            found = decode_model(tmp_path / MODEL)
        except DamagedFile:
            continue
        assert digest(flatten(found.model)) == digest(flatten(rich_model()))  # a byte that nothing uses


def crafted(path: Path, change) -> None:
    """A file with a right checksum whose text and arrays were changed."""
    with open_hdf(path) as content:
        table = content.table("crumple")
    del table["digest"], table["format"]
    text = json.loads(table["text"].tobytes())
    change(text, {name: table[f"arrays/{k}"] for k, name in enumerate(text["arrays"])})
    table["text"] = np.frombuffer(json.dumps(text).encode(), np.uint8)
    image = HdfImage()
    image.group("crumple").attrs["format"] = 1
    image.group("crumple").attrs["digest"] = np.bytes_(digest(table))
    for name, array in table.items():
        image.put(f"crumple/{name}", array)
    path.write_bytes(image.close())


@pytest.mark.parametrize(
    "change",
    [
        lambda text, arrays: arrays["obstacles/0/faces"].__setitem__((0, 0), 99),
        lambda text, arrays: arrays["obstacles/0/shapes"].__setitem__((0, 0, 0), np.nan),
        lambda text, arrays: arrays["handles/1/motion/parent/poses"].__setitem__((0, 0), np.inf),
        lambda text, arrays: text["values"].__setitem__("gravity/0", "up"),
        lambda text, arrays: text["values"].__setitem__("gravity/length", 2),
        lambda text, arrays: text["values"].__setitem__("handles/length", 10**9),
        lambda text, arrays: text["values"].__setitem__("materials/0/thickness", -1.0),
        lambda text, arrays: text["values"].__setitem__("solver/max_iterations", [1]),
        lambda text, arrays: text["values"].pop("materials/length"),
        lambda text, arrays: text["arrays"].reverse(),
    ],
)
def test_crafted_models_are_refused(change, tmp_path: Path) -> None:
    path = tmp_path / MODEL
    path.write_bytes(encode_model(rich_model()))
    crafted(path, change)
    with pytest.raises(InputError):
        decode_model(path)


def test_a_newer_model_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crumple.recording.model_file.FORMAT", 2)
    (tmp_path / MODEL).write_bytes(encode_model(rich_model()))
    monkeypatch.undo()
    with pytest.raises(InputError, match="newer"):
        decode_model(tmp_path / MODEL)


def test_a_model_serves_as_long_as_its_scene_is_the_same(recorded: Path) -> None:
    recording = Recording(recorded)
    assert digest(flatten(recording.model())) == digest(flatten(sample_model()))
    recording.scene_path.write_text("name = 'other'\n")
    assert recording.present_model() is None
    with pytest.raises(InputError, match="edited"):
        recording.model()
    mark_folder(recorded, "name = 'other'\n")  # a kill after this, before the model is written
    assert recording.present_model() is None


def test_recordings_without_a_model_tell_so(recorded: Path) -> None:
    (recorded / MODEL).unlink()
    assert Recording(recorded).present_model() is None
    with pytest.raises(InputError, match=r"no model\.h5"):
        Recording(recorded).model()


def test_verify_tells_of_a_damaged_and_of_a_foreign_model(recorded: Path) -> None:
    def problems() -> tuple[str, ...]:
        return verify_recording(Recording(recorded)).problems

    assert not any(MODEL in problem for problem in problems())
    (recorded / MODEL).write_bytes(encode_model(replace(sample_model(), materials=()), "name = 'sample'\n"))
    assert "has 0 materials, but frame 4 has 2" in problems()[0]
    (recorded / MODEL).write_bytes(b"nonsense")
    assert "delete this file" in problems()[0]


def test_a_new_recording_in_the_same_folder_forgets_the_model(recorded: Path) -> None:
    create_recording(recorded, None, force=True).close()
    assert not (recorded / MODEL).exists()
    assert not (recorded / "scene.toml").exists()
    make_recording(recorded)


def falling_sheet() -> tuple[Model, object]:
    """A sheet of 16 faces held at a corner, built by hand; no contact, so that it is quick."""
    mesh, x = rectangle(0.1, 0.1, 0.035)
    model = Model(
        materials=(paper(),),
        sheet_names=("my paper",),
        contact=ContactOptions(enabled=False),
        solver=SolverOptions(fixed_step=0.01),
        frame_time=0.02,
        duration=0.08,
    )
    return model, initial_state(mesh, x, v=np.cross(x, [0.0, 3.0, 1.0]))


def test_a_model_built_by_hand_is_resumed_to_the_bit(tmp_path: Path) -> None:
    model, state = falling_sheet()
    whole = Simulation(model=model, state=state).run()
    sim = Simulation(model=model, state=state)
    sim.record(tmp_path / "run")
    sim.run(2)
    sim.close()
    with Simulation.resume(tmp_path / "run") as again:
        assert again.state.frame == 2
        again.run()
    recording = Recording(tmp_path / "run")
    assert recording.frames == [0, 1, 2, 3, 4]
    assert state_digest(recording.load()) == state_digest(whole)
    assert verify_recording(recording).passed
    assert "energy_contact" in recording.table()


def test_resuming_asks_for_the_terms_that_the_run_was_made_with(tmp_path: Path) -> None:
    model, state = falling_sheet()
    term = EnergyTerm("push", lambda state: [])
    Simulation(model=model.with_term(term), state=state).save(tmp_path / "run")
    with pytest.raises(InputError, match="made with push"):
        Simulation.resume(tmp_path / "run")
    with Simulation.resume(tmp_path / "run", terms=[term]) as sim:
        assert sim.model.own_terms == (term,)
    with pytest.raises(InputError, match="has 0 materials"):
        Simulation.resume(tmp_path / "run", model=replace(model, materials=()))


def test_a_handle_moved_by_hand_is_where_it_was(tmp_path: Path) -> None:
    from crumple.state import Pins

    model, state = falling_sheet()
    pins = Pins(np.array([0], np.int32), np.array([0], np.int32), state.x[:1].copy())
    sim = Simulation(model=replace(model, handles=(Handle("grip"),)), state=state.replaced(pins=pins))
    sim.record(tmp_path / "run")
    sim.move_handle("grip", (0.0, 0.0, 0.005))
    sim.advance_frame()
    where = sim.handle_position("grip")
    sim.close()
    with Simulation.resume(tmp_path / "run") as again:
        np.testing.assert_array_equal(again.handle_position("grip"), where)
        assert again.model.handles[0].grips == sim.model.handles[0].grips


def test_texture_coordinates_are_recorded(tmp_path: Path) -> None:
    state = sample_state()
    texture = np.random.default_rng(0).uniform(size=(state.mesh.vertex_count, 2))
    with create_recording(tmp_path / "run") as recorder:
        recorder.on_start(sample_model(), state.replaced(texture=texture))
    np.testing.assert_array_equal(Recording(tmp_path / "run").load().texture, texture)
