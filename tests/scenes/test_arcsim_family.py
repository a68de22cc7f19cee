"""Scenes with the keys of public files of that family, on tiny meshes: they load, build, and every key is known."""

import copy
from typing import Any

import numpy as np
import pytest
from arcsim_files import WEDGE, write

from crumple.scenes import build, load_scene

SIZING = {
    "refine_angle": 0.3,
    "refine_compression": 0.01,
    "refine_velocity": 0.5,
    "size": [0.01, 0.2],
    "aspect_min": 0.2,
}
MAGIC = {"repulsion_thickness": 5e-3, "collision_stiffness": 1e6}


def cloth(**changes: Any) -> dict[str, Any]:
    material = {"data": "materials/cloth.json", "strain_limits": [0.95, 1.05], "thicken": 2}
    return {"mesh": "meshes/square.obj", "materials": [material], "remeshing": SIZING} | changes


def keys(*poses: tuple[float, dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"time": time} | ({"transform": pose} if pose else {}) for time, pose in poses]


def lifted(height: float) -> dict[str, Any]:
    return {"transform": {"translate": [0, 0, height]}}


COMMON = {"frame_time": 0.04, "frame_steps": 8, "end_time": 0.4, "gravity": [0, 0, -9.8], "magic": MAGIC}
FAMILY: dict[str, dict[str, Any]] = {
    "layers on a body": COMMON
    | {
        "cloths": [cloth(**lifted(1)), cloth(**lifted(2)), cloth(**lifted(3))],
        "handles": [{"cloth": 1, "nodes": [0, 1], "motion": 1, "start_time": 0.08}],
        "obstacles": "meshes/body%04d.obj",
        "motions": {
            "motfile": "meshes/dance.mot",
            "fps": 120,
            "transform": {"translate": [3, 0, -0.7], "rotate": [180, 0, 0, 1]},
        },
        "disable": ["popfilter"],
    },
    "sleeve": COMMON
    | {
        "cloths": [cloth(**lifted(2))],
        "motions": [keys((1, {"rotate": [0, 0, 1, 0]}), (3, {"rotate": [-10, 0, 1, 0]})), keys((0, {}))],
        "obstacles": [
            {"mesh": "meshes/wedge.obj", "transform": {"scale": 0.12}, "motion": 0},
            {"mesh": "meshes/wedge.obj", "transform": {"scale": 0.12, "rotate": [180, 0, 1, 0]}, "motion": 1},
        ],
    },
    "shirt in a box": COMMON
    | {
        "cloths": [cloth(**lifted(2))],
        "motions": [
            keys((0.1, {}), (0.2, {"translate": [-0.2, 0, 0.8], "scale": 0})),
            [
                {"time": 0.1, "transform": {"translate": [0, 0, 0]}},
                {"time": 0.2, "transform": {"translate": [0, 0.9, 0]}, "velocity": {"translate": [0, 0, 0]}},
            ],
        ],
        "handles": [{"nodes": [0, 2], "end_time": 0.1}, {"nodes": [0], "motion": 0, "start_time": 0.1}],
        "obstacles": [{"mesh": "meshes/wedge.obj", "motion": 1, "start_time": 0.15, "end_time": 0.3}],
    },
    "flag": COMMON
    | {
        "cloths": [cloth(transform={"rotate": [120, 1, 1, 1]})],
        "handles": [{"nodes": [0, 3]}],
        "wind": {"velocity": [10, 0, 0], "density": 1, "drag": 0.1},
    },
    "glass": {
        "timestep": 5e-5,
        "remeshing_frames": 1,
        "save_every": 10,
        "duration": 0.01,
        "passive_time": 0.1,
        "cloths": [
            {
                "reference": "sphere",
                "mesh": "meshes/square.obj",
                "velocity": {"linear": [2, -6, 0]},
                "transform": {"translate": [0, 2, 0], "scale": 0.3},
                "materials": [
                    {
                        "damping": 1e-5,
                        "thickness": 6e-3,
                        "density": 2600,
                        "elastic_modulus": 50e9,
                        "poisson_ratio": 0,
                        "bending_mult": 100,
                        "toughness": 2e7,
                        "fracture_bending_mult": 0.8,
                    }
                ],
                "remeshing": SIZING | {"refine_fracture": 0.3},
            }
        ],
        "motions": [],
        "obstacles": [{"mesh": "meshes/wedge.obj", "proxy": "floor", "transform": {"rotate": [-90, 1, 0, 0]}}],
        "handles": [],
        "gravity": [0, -9.8, 0],
        "disable": ["plasticity", "strainlimiting", ""],
        "magic": MAGIC | {"projection_thickness": 1e-5, "max_cracks": 400, "enable_localopt": False},
    },
    "derived": COMMON
    | {
        "hylc": {"enabled": True, "material": "x.json"},
        "implicit": True,
        "cloths": [
            cloth(
                materials={"data": "materials/cloth.json", "thicken": 2, "damping": 1e-2},
                handles=[{"nodes": [2, 3], "end_time": 7}],
                remeshing=SIZING | {"boundary_detail_mult": 0.5},
            )
        ],
        "wind": {"density": 0},
        "magic": MAGIC | {"relax_initial_state": True, "fixed_high_res_mesh": True, "handle_stiffness": 1e5},
    },
}


@pytest.mark.parametrize("name", FAMILY)
def test_every_key_is_known(tmp_path, name):
    path = write(tmp_path, copy.deepcopy(FAMILY[name]))
    for k in range(2):
        (tmp_path / f"meshes/body{k:04d}.obj").write_text(WEDGE)
    rows = "0 0 0 \n" * 3, "1 0 0 0 \n" * 3
    bodies = [f"body[{k}] position\n{rows[0]}\nbody[{k}] orientation\n{rows[1]}\n" for k in range(2)]
    (tmp_path / "meshes/dance.mot").write_text("NumFrames: 3\n" + "".join(bodies))
    scene = load_scene(path)
    assert not [note for note in scene.notes if "unknown" in note]
    assert len({note.split(":")[0] for note in scene.notes}) == len(scene.notes)
    model, state, _ = build(scene)
    assert np.isfinite(state.x).all()
    if name == "layers on a body":
        assert [obstacle.motion.name for obstacle in model.obstacles] == ["motion0", "motion1"]
    if name == "shirt in a box":
        end = model.handles[1].target(0.2, state.pins.anchor[-1:])
        assert np.allclose(end, [[-0.2, 0, 0.8]], atol=1e-5)  # lifted to one point
    if name == "glass":
        assert model.frame_time == pytest.approx(5e-4)
        assert state.v[0].tolist() == [2, -6, 0]
    if name == "derived":
        assert len(state.pins.node) == 2


def test_toughness_becomes_energy_and_strength(tmp_path):
    """G_c = τ² ℓ/(2.3 E), σ_t = factor τ/2; the smallest edges are asked for at the same tension."""
    record = copy.deepcopy(FAMILY["glass"])
    record["cloths"][0]["materials"][0] |= {"toughness": 9e7, "initiation_factor": 2.0, "elastic_modulus": 4e9}
    record["cloths"][0]["remeshing"] |= {"size": [0.002, 0.02], "refine_fracture": 0.4}
    scene = load_scene(write(tmp_path, record))
    material = scene.sheets[0].material
    assert material.tear_energy == pytest.approx((1760.87, 1760.87), rel=1e-5)
    assert material.tensile_strength == pytest.approx(9e7)
    assert scene.tearing.refine_fracture == pytest.approx(0.2)
    assert 2.0 * scene.tearing.refine_fracture * material.tensile_strength == pytest.approx(0.4 * 9e7)
    record["disable"] = [*record["disable"], "fracture"]
    off = load_scene(write(tmp_path, record))
    assert off.tearing is None
    assert off.sheets[0].material.tear_energy is None
