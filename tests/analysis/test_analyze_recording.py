"""`crumple analyze` and the Python names behind it, on recordings."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from crumple.analysis import analyze_recording, check_foil_ball
from crumple.analysis.analyze import load_frame, most_confined
from crumple.analysis.columns import TABLES
from crumple.analysis.mileage import repeated_curve, save_mileage
from crumple.analysis.reference import Band
from crumple.analysis.repeated import Crumple, find_crumples, mass_size, mileage_curve
from crumple.cli.app import app
from crumple.geometry.curvature import curvature_stencil, shape_curvature
from crumple.recording import Recording, create_recording
from crumple.recording.files import write_atomically
from crumple.recording.frame import encode_frame
from crumple.runtime.errors import InputError
from crumple.scenes import build, dump_scene, load_scene, scene_from_tables
from crumple.state import State

SIZES = (1.0, 0.6, 0.3, 0.8)
"""Of the sheet in the frames of a recording."""


def fold(state: State, height: float, pleats: int = 6) -> State:
    """The sheet in pleats by 1 rad, with creases that have gone through that once."""
    s = state.mesh.node_rest[:, 0] * pleats / 0.06
    saw = np.abs((s + 1e-9) % 2 - 1) * (0.06 / pleats)
    x = np.stack([np.cos(0.5) * state.mesh.node_rest[:, 0], state.mesh.node_rest[:, 1], np.sin(0.5) * saw], axis=1)
    strain = shape_curvature(state.mesh, x, curvature_stencil(state.mesh))
    norm = np.sqrt(strain[:, 0] ** 2 + strain[:, 1] ** 2 + 2 * strain[:, 2] ** 2)
    return state.replaced(
        x=np.ascontiguousarray(x + np.array([0, 0, height])), plastic_curvature=strain, damage=norm / 100.0
    )


@pytest.fixture(scope="module")
def scene() -> dict:
    material = {"young": 1e9, "thickness": 1e-4, "density": 0.1, "yield_curvature": 100.0}
    shape = {"kind": "rectangle", "width": 0.06, "height": 0.04, "size": 2e-3}
    return {"sheets": [{"shape": shape, "material": material}], "run": {"frame_time": 0.1}}


def record(folder: Path, scene: dict, *, sizes: tuple[float, ...] = SIZES, folded: bool = True) -> Path:
    """A recording whose frames show the folded (or flat) sheet shrunk by factors."""
    made = scene_from_tables(scene)
    model, state, _ = build(made)
    with create_recording(folder, dump_scene(made)) as recorder:
        recorder.on_start(model, state)
    state = fold(state, 0.01) if folded else state
    for frame, size in enumerate(sizes, 1):
        shown = state.replaced(frame=frame, time=0.1 * frame, x=size * state.x)
        write_atomically(Recording(folder).frame_path(frame), encode_frame(shown))
    return folder


def rows(path: Path) -> list[dict[str, str]]:
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_most_confined_frame_is_the_default(tmp_path, scene):
    recording = Recording(record(tmp_path / "r", scene))
    assert most_confined(recording) == 3
    assert load_frame(recording).frame == 3
    assert load_frame(recording, -1).frame == 4
    assert load_frame(recording, 0).frame == 0
    record(tmp_path / "still", scene, sizes=(0.5, 0.5, 0.5))
    assert most_confined(Recording(tmp_path / "still")) == 3


def test_files_and_numbers(tmp_path, scene):
    folder = record(tmp_path / "r", scene)
    result = CliRunner().invoke(app, ["analyze", str(folder), "--frame", "1", "--json"])
    assert result.exit_code == 0, result.output
    summary = json.loads(result.stdout)
    out = tmp_path / "r-analysis"
    assert json.loads((out / "summary.json").read_text()) == summary
    assert summary["frame"] == 1
    assert summary["area"] == pytest.approx(0.0024)
    assert summary["mass"] == pytest.approx(0.00024)
    assert summary["area_ratio"] == pytest.approx(1.0, abs=0.05)
    assert summary["mileage"] == pytest.approx(5 * 0.04 * 1.0, rel=0.35)  # the folds are off the edges of the mesh
    assert summary["energies"]["kinetic"] == 0.0
    assert summary["energies"]["gravity"] > 0.0
    assert summary["energies"]["bending"] == pytest.approx(0.0, abs=1e-4)
    assert {path.stem for path in out.glob("*.csv")} == {
        "density", "orientation", "curvature_radii", "cross_section", "ridges", "facets", "creases", "crease_lines",
        "energies", "fits", "ledger", "columns",
    }  # fmt: skip
    assert (out / "overview.png").stat().st_size > 10_000
    assert sum(float(row["mass_share"]) for row in rows(out / "density.csv")) == pytest.approx(1.0)
    assert sum(float(row["density"]) for row in rows(out / "orientation.csv")) == pytest.approx(20.0)
    assert len(rows(out / "ridges.csv")) == summary["ridges"] > 0
    length = sum(np.hypot(float(r["x1_m"]) - float(r["x0_m"]), float(r["y1_m"]) - float(r["y0_m"]))
                 for r in rows(out / "cross_section.csv"))  # fmt: skip
    assert length == pytest.approx(summary["section_length"])


def test_flat_sheet_says_none_and_never_nan(tmp_path, scene):
    folder = record(tmp_path / "flat", scene, folded=False)
    result = CliRunner().invoke(app, ["analyze", str(folder), "--frame", "0", "--out", str(tmp_path / "a")])
    assert result.exit_code == 0, result.output
    assert "nan" not in result.stdout.lower()
    summary = json.loads((tmp_path / "a" / "summary.json").read_text(), parse_constant=pytest.fail)
    for name in ("mileage", "ridge_length_mean", "ridge_law", "facet_area_mean", "first_radius_peak"):
        assert summary[name] is None
    assert summary["ridges"] == summary["facets"] == 0
    text = (tmp_path / "a" / "summary.txt").read_text()
    assert "mileage: none" in text
    assert "nan" not in text.lower()
    assert rows(tmp_path / "a" / "creases.csv") == [{"quantity": "creases", "value": "none"}]
    assert rows(tmp_path / "a" / "ridges.csv") == []


def test_several_recordings_give_the_mass_size_law(tmp_path, scene):
    folders = []
    for k, thick in enumerate((1.0, 2.0, 4.0)):
        heavy = json.loads(json.dumps(scene))
        heavy["sheets"][0]["material"]["density"] *= thick
        folders.append(record(tmp_path / f"ball{k}", heavy, sizes=(0.5 * thick**0.4,)))
    analyses = [analyze_recording(Recording(folder), 1) for folder in folders]
    law = mass_size(analyses)
    assert law is not None
    assert law.exponent == pytest.approx(0.4, abs=1e-6)
    out = tmp_path / "all"
    result = CliRunner().invoke(app, ["analyze", *map(str, folders), "--frame", "1", "--out", str(out)])
    assert result.exit_code == 0, result.output
    assert float(rows(out / "mass_size.csv")[-1]["mass_kg"]) == pytest.approx(0.4, abs=1e-6)
    assert (out / "mass_size.png").exists()
    assert (out / "ball2" / "summary.json").exists()


def test_several_recordings_are_compared_in_one_table_and_one_figure(tmp_path, scene):
    """A row per recording in the file, a column per recording on the terminal; values are those of each alone."""
    imageio = pytest.importorskip("imageio.v2")
    thick = json.loads(json.dumps(scene))
    thick["sheets"][0]["material"]["thickness"] *= 3
    folders = {
        "thin": record(tmp_path / "thin", scene, sizes=(0.9,)),
        "thick": record(tmp_path / "thick", thick, sizes=(0.5,)),
        "flat": record(tmp_path / "flat", scene, sizes=(1.0,), folded=False),
    }
    out = tmp_path / "all"
    arguments = ["analyze", *map(str, folders.values()), "--frame", "1", "--out", str(out)]
    result = CliRunner().invoke(app, arguments, env={"COLUMNS": "160"})
    assert result.exit_code == 0, result.output
    table = rows(out / "comparison.csv")
    assert [row["recording"] for row in table] == list(folders)
    for row, name in zip(table, folders, strict=True):
        summary = json.loads((out / name / "summary.json").read_text())
        assert float(row["thickness"]) == pytest.approx(3e-4 if name == "thick" else 1e-4)
        assert float(row["radius"]) == pytest.approx(summary["radius"])
        assert float(row["energy_membrane"]) == pytest.approx(summary["energies"]["membrane"])
    assert table[2]["mileage"] == ""
    head = next(line for line in result.stdout.splitlines() if "thin" in line)
    assert head.index("thin") < head.index("thick") < head.index("flat")
    thickness = next(line for line in result.stdout.splitlines() if "thickness [m]" in line)
    assert [cell.strip() for cell in thickness.strip("│ ").split("│")[1:]] == ["0.0001", "0.0003", "0.0001"]
    image = imageio.imread(out / "comparison.png")[..., :3].reshape(-1, 3).astype(int)
    for color in ((0x1F, 0x5F, 0xA8), (0xC0, 0x39, 0x2B), (0x2E, 0x7D, 0x32)):
        assert (np.abs(image - color).max(axis=1) < 40).sum() > 100  # a curve for each


def test_equal_masses_give_no_law(tmp_path, scene):
    folders = [str(record(tmp_path / name, scene, sizes=(0.5,))) for name in ("a", "b")]
    result = CliRunner().invoke(app, ["analyze", *folders, "--json", "--out", str(tmp_path / "out")])
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["mass_size_exponent"] is None


def test_ball_is_checked_with_verdicts(tmp_path, scene):
    bands = check_foil_ball(Recording(record(tmp_path / "r", scene)), 1)
    verdict = {band.quantity: band.passed for band in bands}
    assert verdict["intersections"]
    assert not verdict["volume fraction"]
    squeezed = check_foil_ball(Recording(tmp_path / "r"), 3)[1]
    assert squeezed.measured == pytest.approx(0.3**2, rel=0.05)
    assert not squeezed.passed
    assert len(bands) == 7
    assert not Band("nothing", 0.0, 1.0, None).passed


PRESSING = {
    "obstacles": [{"shape": {"kind": "sphere", "radius": 0.05, "size": 0.03, "inside": True}, "motion": "press"}],
    "motions": {
        "press": {"keys": [{"time": 0.1 * k, "scale": s} for k, s in enumerate((1, 0.5, 0.5, 1, 0.4, 0.9, 0.3))]}
    },
}
"""A sphere that closes three times, rests once while it is small, and is not opened at the end."""


def test_crumples_are_found_by_their_container(tmp_path, scene):
    pressed = Recording(record(tmp_path / "pressed", scene | PRESSING, sizes=(1.0,) * 6))
    assert find_crumples(pressed) == (Crumple(1, 3), Crumple(4, 5))
    free = Recording(record(tmp_path / "free", scene))
    with pytest.raises(InputError, match="no obstacles"):
        find_crumples(free)


def test_mileage_of_repeated_crumples(tmp_path, scene):
    recording = Recording(record(tmp_path / "r", scene))
    for frame in (1, 2, 3, 4):
        state = recording.load(frame)
        write_atomically(recording.frame_path(frame), encode_frame(state.replaced(damage=frame * state.damage)))
    curve = mileage_curve(recording, [Crumple(3, 1), Crumple(2, 2), Crumple(3, 3), Crumple(4, 4)])
    assert curve.worked == pytest.approx(curve.worked[0] * np.arange(1, 5))
    assert curve.mileage == pytest.approx(np.full(4, curve.mileage[0]))
    assert curve.worked[0] == pytest.approx(curve.mileage[0])
    assert curve.length == pytest.approx(np.full(4, curve.length[0]))
    assert curve.mileage[0] == pytest.approx(5 * 0.04 / np.sqrt(0.0024), rel=0.35)  # as in test_files_and_numbers
    assert curve.length[0] > curve.mileage[0]  # every row of hinges of a fold off the edges of the mesh
    assert curve.delta[1:] / curve.delta[3] == pytest.approx(np.array(SIZES[1:]) / SIZES[3])
    assert curve.delta[0] == curve.delta[2]
    assert curve.law is not None
    table, figure = save_mileage(curve, tmp_path, "pdf")
    assert table.read_text().splitlines()[0] == ",".join(TABLES["mileage"])
    assert len(table.read_text().splitlines()) == 5
    assert figure.read_bytes().startswith(b"%PDF")
    assert repeated_curve(recording) is None, "nothing closes in on this sheet"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--frame", "99"], "has frames 0 to 4"),
        (["--frame", "-9"], "has frames 0 to 4"),
        (["--plane", "up"], "must be x, y, z"),
        (["--plane", "0,0,0"], "plane"),
        (["--ridge-curvature", "-1"], "must be > 0"),
    ],
)
def test_bad_requests_are_one_line(tmp_path, scene, arguments, said):
    folder = record(tmp_path / "r", scene)
    result = CliRunner().invoke(app, ["analyze", str(folder), *arguments, "--out", str(tmp_path / "a")])
    assert result.exit_code == 2
    assert said in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_bad_recordings_are_refused(tmp_path, scene):
    with pytest.raises(InputError, match="no such recording"):
        Recording(tmp_path / "nowhere")
    folder = record(tmp_path / "r", scene)
    recording = Recording(folder)
    state = recording.load(1)
    write_atomically(recording.frame_path(5), encode_frame(state.replaced(frame=5, x=np.nan * state.x)))
    with pytest.raises(InputError, match="not finite"):
        analyze_recording(recording, 5)
    recording.scene_path.unlink()
    recording.model_path.unlink()
    with pytest.raises(InputError, match=r"neither model\.h5 nor scene\.toml"):
        analyze_recording(recording, 1)
    for frame in recording.frames:
        recording.frame_path(frame).unlink()
    with pytest.raises(InputError, match="no finished frame"):
        analyze_recording(recording)


@pytest.mark.parametrize(("name", "fraction"), [("foil-ball", 0.065), ("foil-ball-dense", 0.22)])
def test_scene_closes_to_its_volume_fraction(name, fraction):
    """The container at the end leaves the fraction that the scene is named for."""
    scene = load_scene(name)
    model, state, _ = build(scene)
    material = model.materials[0]
    final = model.obstacle_positions(scene.run.duration)
    radius = np.linalg.norm(final, axis=1).max()
    volume = np.pi * 0.05**2 * material.thickness
    assert volume / (4 / 3 * np.pi * radius**3) == pytest.approx(fraction, rel=0.02)
    assert model.contact.activation + material.thickness < material.thickness / fraction
    assert material.yield_curvature == pytest.approx(1 / (250 * 25.4e-6), rel=0.01)
    assert np.abs(state.mesh.face_area).sum() == pytest.approx(np.pi * 0.05**2, rel=0.02)
