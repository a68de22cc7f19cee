"""The environments keep Gymnasium's contract, repeat themselves bit by bit, and their scripts do what they are for."""

from __future__ import annotations

import subprocess
import sys
import warnings

import numpy as np
import pytest

from crumple.materials import preset
from crumple.recording import Recording
from crumple.recording.frame import state_digest
from crumple.recording.verify import verify_recording
from crumple.runtime.errors import InputError, SimulationError

gymnasium = pytest.importorskip("gymnasium", reason="Gymnasium is not installed: pip install 'crumple[learn]'")
from gymnasium.utils.env_checker import check_env  # noqa: E402

from crumple.scenes import scene_from_tables  # noqa: E402
from crumple.session.simulation import Simulation  # noqa: E402
from crumple.shapes import rectangle  # noqa: E402
from crumple.state import initial_state  # noqa: E402
from crumple.studies import envs  # noqa: E402
from crumple.studies.envs.flatten import covered_area  # noqa: E402
from crumple.studies.envs.sheet_env import MOVE, SIDE  # noqa: E402

COARSE = 40
NAMES = list(envs.ENVIRONMENTS)


def make(name, **options):
    """A coarse environment; with one crumpled start, as each takes seconds to make."""
    few = {"starts": 1} if name == "crumple/Flatten-v0" else {}
    return gymnasium.make(name, faces=COARSE, **few, **options)


@pytest.mark.parametrize("name", NAMES)
def test_gymnasium_has_nothing_to_complain_about(name):
    env = make(name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env.unwrapped, skip_render_check=name != "crumple/Fold-v0")


@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_and_moves_give_the_same_bits(name):
    digests = []
    for seed in (3, 3, 4):
        env = make(name)
        env.reset(seed=seed)
        for action in np.random.default_rng(0).uniform(-1.0, 1.0, (3, *env.action_space.shape)):
            env.step(action.astype(np.float32))
        digests.append(state_digest(env.unwrapped.simulation.state))
    assert digests[0] == digests[1] != digests[2]


def test_flat_observations_are_the_same_numbers_in_one_array():
    plain = gymnasium.make("crumple/Fold-v0", faces=COARSE, release=True)
    env = gymnasium.make("crumple/Fold-v0", faces=COARSE, release=True, flat=True)
    expected, _ = plain.reset(seed=5)
    seen, _ = env.reset(seed=5)
    assert env.observation_space.contains(seen)
    np.testing.assert_array_equal(seen, gymnasium.spaces.flatten(plain.observation_space, expected))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env.unwrapped, skip_render_check=True)


def test_paper_and_friction_vary_from_episode_to_episode():
    env = make("crumple/Fold-v0", vary={"friction": (0.1, 0.5), "bend_factor": 2.0})
    drawn = []
    for seed in (1, 1, 2):
        _, info = env.reset(seed=seed)
        model, varied = env.unwrapped.simulation.model, info["varied"]
        np.testing.assert_allclose(model.materials[0].bending, 2.0 * preset("paper80").bending)
        assert 0.1 <= varied["friction"] <= 0.5
        drawn.append(varied)
    assert drawn[0] == drawn[1] != drawn[2]
    _, info = env.reset(seed=1, options={"density_factor": (0.5, 2.0), "bend_factor": 1.0})
    assert set(info["varied"]) == {"friction", "bend_factor", "density_factor"}
    density = env.unwrapped.simulation.model.materials[0].density
    assert density == pytest.approx(info["varied"]["density_factor"] * preset("paper80").density)
    _, info = env.reset(seed=1)
    assert info["varied"] == drawn[0], "options are for one episode only"


@pytest.mark.parametrize(
    ("vary", "words"),
    [
        ({"colour": 1.0}, "vary: colour"),
        ({"friction": "much"}, "must be a number, or the two ends"),
        ({"friction": (0.1, 0.2, 0.3)}, "must be a number, or the two ends"),
        ({"bend_factor": (2.0, 0.5)}, "must lie within 0.01 to 100"),
        ({"density_factor": float("nan")}, "must be a number"),
    ],
)
def test_what_cannot_be_varied_is_named(vary, words):
    with pytest.raises(InputError, match=words):
        make("crumple/Fold-v0", vary=vary)


def test_environments_side_by_side_in_one_process():
    """Kernels are loaded once; episodes do not disturb each other."""
    envs_of = {"num_envs": 2, "vectorization_mode": "sync", "faces": COARSE, "flat": True}
    many = gymnasium.make_vec("crumple/Fold-v0", **envs_of)
    seen, _ = many.reset(seed=[3, 4])
    actions = np.tile(np.array([[-0.6, -0.6, 0.5]], np.float32), (2, 1, 1))
    seen, *_ = many.step(actions)
    alone = make("crumple/Fold-v0", flat=True)
    alone.reset(seed=4)
    np.testing.assert_array_equal(seen[1], alone.step(actions[1])[0])


def test_rewards_add_up_to_the_gain_in_score_and_grippers_move_as_told():
    env = gymnasium.make("crumple/Fold-v0", faces=COARSE)
    seen, info = env.reset(seed=1)
    first, total = info["score"], 0.0
    assert first == pytest.approx(0.0, abs=1e-3), "the corners start a diagonal apart"
    action = np.array([[-0.5, -0.5, 0.4]], np.float32)
    for _ in range(3):
        before = seen["grippers"]
        seen, reward, terminated, truncated, info = env.step(action)
        total += reward
        np.testing.assert_allclose(seen["grippers"] - before, MOVE * action, atol=3e-3)
    assert total == pytest.approx(info["score"] - first, abs=1e-12)
    assert info["distance"] == pytest.approx((1.0 - info["score"]) * np.sqrt(2.0) * SIDE)
    assert total > 0.0
    assert (terminated, truncated) == (False, False)


class TwoSheets(envs.FoldEnv):
    """The fold with a second, larger sheet beneath, which is pulled away; its pattern lies around that of the first."""

    def start(self, rng):
        sim = super().start(rng)
        tables = sim.scene.tables()
        below = {"kind": "rectangle", "width": 0.16, "height": 0.13, "size": 0.03}
        other = {"name": "below", "material": "card", "shape": below, "transform": {"translate": [0.4, 0.0, 0.02]}}
        held = [table | {"sheet": "sheet"} for table in tables["handles"]]
        return Simulation(scene_from_tables(tables | {"sheets": [*tables["sheets"], other], "handles": held}))


def test_points_of_a_sheet_are_on_that_sheet_whatever_else_is_in_the_scene():
    alone, two = envs.FoldEnv(faces=COARSE), TwoSheets(faces=COARSE)
    seen, info = two.reset(seed=5)
    expected, one_info = alone.reset(seed=5)
    np.testing.assert_array_equal(seen["points"], expected["points"])
    assert info["score"] == one_info["score"]
    assert two.points("below")[:, 0].min() > 0.3
    state = two.simulation.state
    two.simulation.state = state.replaced(x=state.x + 0.1 * (state.mesh.node_sheet == 1)[:, None])
    np.testing.assert_array_equal(two.points(), alone.points())
    assert len(two.faces()) == len(alone.faces()) < len(state.mesh.face_sheet)
    assert covered_area(state, two.faces()) == pytest.approx(SIDE**2, rel=1e-6)
    with pytest.raises(InputError, match="the scene has sheet, below"):
        two.points("upper")


def test_observed_points_are_the_same_on_any_mesh():
    """The flat sheet is observed alike whatever its mesh; with remeshing points stay on the paper."""
    found = [gymnasium.make("crumple/Fold-v0", faces=faces).reset(seed=5)[0]["points"] for faces in (40, 90)]
    np.testing.assert_allclose(found[0], found[1], atol=3e-5)
    env = gymnasium.make("crumple/Fold-v0", faces=COARSE, remeshing=True)
    seen, info = env.reset(seed=5)
    faces = {info["faces"]}
    for step in range(8):
        seen, _, _, _, info = env.step(envs.SCRIPTED["crumple/Fold-v0"](seen, step).astype(np.float32))
        faces.add(info["faces"])
    assert len(faces) > 1, "the mesh has changed"
    grid = seen["points"].reshape(7, 7, 3)
    lengths = np.linalg.norm(np.diff(grid, axis=0), axis=2)
    assert lengths.max() < 1.02 * SIDE / 6, "paper does not stretch"
    corner = env.unwrapped.simulation.state
    np.testing.assert_allclose(grid[-1, -1], corner.x[corner.pins.node[corner.pins.handle == 0][0]], atol=1e-5)


def test_a_gripper_lets_go_and_grasps_again():
    env = gymnasium.make("crumple/Fold-v0", faces=COARSE, release=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env.unwrapped, skip_render_check=True)
    seen, _ = env.reset(seed=1)
    assert seen["holding"].tolist() == [1]

    def act(*numbers):
        return env.step(np.array([numbers], np.float32))[0]

    act(0.0, 0.0, 1.0, 0.0)
    up = act(0.0, 0.0, 1.0, 0.0)["points"][-1, 2]
    assert up > 0.015, "the corner is lifted"
    seen = act(0.0, 0.0, 0.0, -1.0)
    assert seen["holding"].tolist() == [0]
    for _ in range(4):
        seen = act(0.0, 0.0, 0.0, -1.0)
    assert seen["points"][-1, 2] < 0.5 * up, "it has fallen"
    assert act(0.0, 0.0, 0.0, 1.0)["holding"].tolist() == [0], "the paper is out of reach"
    before = act(0.0, 0.0, -1.0, 0.0)["grippers"]
    seen = act(0.0, 0.0, -1.0, 0.0)
    np.testing.assert_allclose(seen["grippers"] - before, [[0.0, 0.0, -MOVE]], atol=2e-3)
    seen = act(0.0, 0.0, 0.0, 1.0)
    assert seen["holding"].tolist() == [1]
    assert act(0.0, 0.0, 1.0, 0.0)["points"][-1, 2] > seen["points"][-1, 2] + 0.005, "it is lifted again"


def test_pictures_and_recordings_of_an_episode(tmp_path):
    env = gymnasium.make("crumple/Fold-v0", faces=COARSE, image=(32, 24), render_mode="rgb_array", size=(64, 48))
    seen, _ = env.reset(seed=1, options={"record": tmp_path / "run"})
    assert env.observation_space.contains(seen)
    first = env.render()
    assert (first.shape, first.dtype) == ((48, 64, 3), np.uint8)
    assert first.std() > 5.0, "something is to be seen"
    for _ in range(2):
        seen, *_ = env.step(np.array([[-1.0, -1.0, 1.0]], np.float32))
    assert env.observation_space.contains(seen)
    assert (env.render() != first).any()
    env.close()
    recording = Recording(tmp_path / "run")
    assert recording.frames == [0, 1, 2]
    assert verify_recording(recording).passed
    assert state_digest(recording.load(2)) == state_digest(env.unwrapped.simulation.state)


def test_every_episode_gets_a_folder_of_its_own(tmp_path):
    for _ in range(2):  # as in another process
        env = gymnasium.make("crumple/Fold-v0", faces=COARSE, record=tmp_path)
        for _ in range(2):
            env.reset(seed=1)
        env.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"episode_{k:06d}" for k in range(4)]


def test_what_is_wrong_is_said():
    with pytest.raises(InputError, match="must be 20 to"):
        envs.FoldEnv(faces=3)
    with pytest.raises(InputError, match="papyrus"):
        envs.FoldEnv(material="papyrus")
    with pytest.raises(InputError, match="rgb_array"):
        envs.FoldEnv(render_mode="human")
    with pytest.raises(InputError, match="width and height"):
        envs.FoldEnv(image=(3, 3))
    env = envs.FoldEnv(faces=COARSE)
    with pytest.raises(InputError, match="reset first"):
        env.step(env.action_space.sample())
    with pytest.raises(InputError, match="reset: options: colour: can be varied are friction"):
        env.reset(options={"colour": 1})
    env.reset(seed=1)
    for wrong in (np.zeros(2), np.full((1, 3), np.nan)):
        with pytest.raises(InputError, match="finite numbers"):
            env.step(wrong)


def test_a_solver_that_gives_up_ends_the_episode(monkeypatch):
    env = gymnasium.make("crumple/Fold-v0", faces=COARSE)
    env.reset(seed=1)

    def give_up(dt):
        raise SimulationError("no step is short enough")

    monkeypatch.setattr(env.unwrapped.simulation, "step", give_up)
    _, reward, terminated, truncated, info = env.step(np.zeros((1, 3), np.float32))
    assert (reward, terminated, truncated) == (0.0, False, True)
    assert info["failure"] == "no step is short enough"
    with pytest.raises(InputError, match="the episode is over"):
        env.step(np.zeros((1, 3), np.float32))
    env.reset(seed=1)


def test_covered_area_of_a_folded_sheet():
    mesh, x = rectangle(0.1, 0.1, 0.025, kind="right")
    x = x - np.array([0.05, 0.05, 0.0])
    state = initial_state(mesh, x)
    assert covered_area(state) == pytest.approx(0.01, rel=1e-4)
    folded = x.copy()
    folded[:, 0], folded[:, 2] = np.abs(x[:, 0]), np.where(x[:, 0] < 0.0, 1e-3, 0.0)
    assert covered_area(state.replaced(x=folded)) == pytest.approx(0.005, rel=1e-9)
    upright = x.copy()
    upright[:, 0], upright[:, 2] = 0.0, x[:, 0]
    assert covered_area(state.replaced(x=upright)) == 0.0


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_script_beats_chance(name):
    """Less than docs/learning.md reports, which uses more faces and seeds."""
    env = make(name, max_episode_steps=30)
    script = envs.play_episode(env, envs.SCRIPTED[name], seed=0)
    chance = envs.play_episode(env, envs.random_policy(env.action_space.shape, 0), seed=0)
    assert "failure" not in script
    assert script["score"] > chance["score"] + 0.15


@pytest.mark.slow
def test_vector_environments_in_spawned_processes():
    several = gymnasium.make_vec(
        "crumple/Fold-v0", 2, vectorization_mode="async", vector_kwargs={"context": "spawn"}, faces=COARSE
    )
    try:
        seen, _ = several.reset(seed=[7, 8])
        actions = np.full(several.action_space.shape, -0.5, np.float32)
        seen, rewards, *_ = several.step(actions)
        for k, seed in enumerate((7, 8)):
            env = gymnasium.make("crumple/Fold-v0", faces=COARSE)
            env.reset(seed=seed)
            alone, reward, *_ = env.step(actions[k])
            np.testing.assert_array_equal(seen["points"][k], alone["points"])
            assert rewards[k] == reward
    finally:
        several.close()


OWN = """
import gymnasium
import numpy as np

import crumple
from crumple.studies.envs import FoldEnv
from crumple.energies.traced import dot


@crumple.energy(elements="nodes", parameters={"k": ()})
def pull(x, k):
    return 0.5 * k * dot(x, x)


class PulledEnv(FoldEnv):
    def start(self, rng):
        sim = super().start(rng)
        return crumple.Simulation(model=sim.model.with_energy(pull, lambda mesh: {"k": 3.0}), state=sim.state)


def make():
    return PulledEnv(faces=40)


if __name__ == "__main__":
    several = gymnasium.vector.AsyncVectorEnv([make, make], context="spawn")
    several.reset(seed=[7, 8])
    seen, *_ = several.step(np.full(several.action_space.shape, -0.5, np.float32))
    several.close()
    for kind, same in ((PulledEnv, True), (FoldEnv, False)):
        env = kind(faces=40)
        env.reset(seed=8)
        alone, *_ = env.step(np.full(env.action_space.shape, -0.5, np.float32))
        assert np.array_equal(seen["points"][1], alone["points"]) == same, kind
"""


@pytest.mark.slow
def test_energies_of_ones_own_in_a_script_go_to_spawned_environments(tmp_path):
    (tmp_path / "pulled.py").write_text(OWN)
    done = subprocess.run([sys.executable, "pulled.py"], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
