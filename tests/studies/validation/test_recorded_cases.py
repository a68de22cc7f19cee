"""The cases that work on recordings: what they ask for, and that they can pass and fail."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from typer.testing import CliRunner

from crumple.analysis import fit_mileage
from crumple.analysis.fits import fit_laws
from crumple.analysis.pressure import PressureCurve
from crumple.analysis.reference import Band
from crumple.analysis.repeated import Crumple, MileageCurve
from crumple.cli.app import app
from crumple.recording import Recording, create_recording
from crumple.recording.files import write_atomically
from crumple.recording.frame import encode_frame
from crumple.runtime.errors import InputError
from crumple.scenes import build, dump_scene, load_scene, scene_from_tables
from crumple.studies.validation import RECORDED, cases, crumpling_laws, plate, run_cases
from crumple.studies.validation.crumpling_laws import ridge_checks, sheet_sizes, validate_mileage, validate_sizes
from crumple.studies.validation.result import band_check

MATERIAL = {"young": 1e9, "thickness": 1e-4, "density": 0.1, "yield_curvature": 100.0}
WIDTHS = (0.02, 0.03, 0.05)


def record(folder: Path, widths: tuple[float, ...] = (0.05,)) -> Recording:
    """A recording of flat squares beside each other, two frames of them."""
    sheets = [
        {
            "material": MATERIAL,
            "shape": {"kind": "rectangle", "width": width, "height": width, "size": 0.01},
            "transform": {"translate": [0.1 * k, 0.0, 0.0]},
        }
        for k, width in enumerate(widths)
    ]
    made = scene_from_tables({"sheets": sheets})
    model, state, _ = build(made)
    with create_recording(folder, dump_scene(made)) as recorder:
        recorder.on_start(model, state)
    recording = Recording(folder)
    write_atomically(recording.frame_path(1), encode_frame(state.replaced(frame=1, time=0.04, x=0.9 * state.x)))
    return recording


def mileages(values: np.ndarray) -> MileageCurve:
    count, delta = np.arange(1.0, len(values) + 1.0), np.full(len(values), 0.4)
    crumples = tuple(Crumple(2 * k + 1, 2 * k + 2) for k in range(len(values)))
    return MileageCurve(crumples, values, values, values, delta, fit_mileage(count, delta, values))


def failed(checks):
    return [check.quantity for check in checks if not check.passed]


def test_foil_ball_is_judged_by_its_bands(tmp_path):
    record(tmp_path / "foil-ball")
    (result,) = run_cases(["foil-ball"], recordings=tmp_path, figures=tmp_path / "figures")
    assert len(result.checks) == 7
    verdict = {check.quantity: check.passed for check in result.checks}
    assert verdict["foil-ball: intersections"]
    assert not verdict["foil-ball: volume fraction"]
    assert not verdict["foil-ball: R1, peak [t]"]  # there is none: nothing is bent
    assert len(result.figure) == 4
    pytest.importorskip("matplotlib")
    assert result.picture.stat().st_size > 10_000


def test_dense_ball_is_judged_when_it_is_there(tmp_path):
    record(tmp_path / "foil-ball")
    record(tmp_path / "foil-ball-dense")
    (result,) = run_cases(["foil-ball"], recordings=tmp_path)
    assert len(result.checks) == 14
    dense = next(check for check in result.checks if check.quantity == "foil-ball-dense: volume fraction")
    assert dense.expected == pytest.approx(0.22)


def test_missing_recording_says_what_makes_it(tmp_path):
    with pytest.raises(InputError, match="crumple run foil-ball --out out/foil-ball`, then --recordings out"):
        run_cases(["foil-ball"])
    record(tmp_path / "recrumple")
    with pytest.raises(InputError, match="crumple run sizes --out") as error:
        run_cases(["crumpling-laws"], recordings=tmp_path)
    assert "crumple run recrumple" not in str(error.value)


def test_all_cases_take_the_recordings_that_are_there(tmp_path, monkeypatch):
    monkeypatch.setattr(cases, "CASES", {})
    assert list(run_cases()) == []
    with pytest.raises(InputError, match="holds no recordings"):
        run_cases(recordings=tmp_path)
    record(tmp_path / "foil-ball")
    assert [result.case for result in run_cases(recordings=tmp_path)] == ["foil-ball"]


def test_recordings_are_those_of_built_in_scenes():
    for case in RECORDED.values():
        for name in (*case.needs, *case.uses):
            assert load_scene(name).name == name


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["foil-ball"], "crumple run foil-ball --out out/foil-ball"),
        (["--recordings", "nowhere"], "holds no recordings"),
        (["crumpling-laws", "--recordings", "nowhere"], "crumple run recrumple --out nowhere/recrumple"),
        (["foil-bowl"], "crumpling-laws"),
    ],
)
def test_command_refuses_in_one_line(arguments, said):
    result = CliRunner().invoke(app, ["validate", *arguments])
    assert result.exit_code == 2
    assert said in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_command_runs_a_recorded_case(tmp_path):
    record(tmp_path / "foil-ball")
    arguments = ["foil-ball", "--recordings", str(tmp_path), "--figures", str(tmp_path / "report")]
    result = CliRunner().invoke(app, ["validate", *arguments])
    assert result.exit_code == 1
    page = (tmp_path / "report" / "index.html").read_text(encoding="utf-8")
    assert "a disk of foil crumpled into a ball" in page
    assert "Not in this run: bend-modulus" in page


def test_band_from_zero_is_written_as_zero_and_its_end():
    assert band_check("q", Band("q", 0.0, 0.2, 0.19)).expected == 0.0
    assert band_check("q", Band("q", 0.0, 0.2, 0.19)).passed
    assert not band_check("q", Band("q", 0.0, 0.2, 0.21)).passed
    assert not band_check("q", Band("q", 1.0, 2.0, 0.9)).passed
    assert not band_check("q", Band("q", 1.0, 2.0, None)).passed


def test_mileage_passes_for_a_logarithm_only(tmp_path, monkeypatch):
    recording, count = record(tmp_path / "recrumple"), np.arange(1.0, 8.0)
    growths = {"log": 30 * np.log1p(0.3 * count), "even": 3 * count, "jump": np.where(count > 3, 9.0, 1.0)}
    found = {}
    for name, values in growths.items():
        monkeypatch.setattr(crumpling_laws, "mileage_curve", lambda _, values=values: mileages(values))
        found[name] = failed(validate_mileage(recording)[0])
    assert found["log"] == []
    assert found["even"] == ["ℓ(7)/ℓ(3), 2 if it grew evenly"]
    assert "R² of the mileage ℓ/L0(n)" in found["jump"]
    monkeypatch.setattr(crumpling_laws, "mileage_curve", lambda _: mileages(growths["log"][:2]))
    assert len(failed(validate_mileage(recording)[0])) == 2  # too few, and no law


@pytest.mark.parametrize(("exponent", "fails"), [(0.4, False), (0.5, True), (1 / 3, True)])
def test_size_passes_for_the_known_exponent_only(tmp_path, monkeypatch, exponent, fails):
    recording = record(tmp_path / "sizes", WIDTHS)
    width, mass = sheet_sizes(recording)
    assert width == pytest.approx(WIDTHS)
    assert mass == pytest.approx(0.1 * width**2)
    radius = np.linspace(1.5, 0.7, 40)
    curves = [PressureCurve(0.3 * radius * m**exponent, radius**-6) for m in mass]
    monkeypatch.setattr(crumpling_laws, "pressure_curves", lambda _: tuple(curves))
    checks, drawings = validate_sizes(recording)
    assert bool(failed(checks)) == fails
    assert len(drawings) == 1
    wide = [PressureCurve(curve.radius + 1.0, curve.pressure) for curve in curves]  # never crumpled
    for unfit in (wide, curves[1:]):
        monkeypatch.setattr(crumpling_laws, "pressure_curves", lambda _, unfit=unfit: tuple(unfit))
        assert failed(validate_sizes(recording)[0])


@pytest.mark.parametrize(("law", "other"), [("lognormal", "gamma"), ("gamma", "lognormal")])
def test_ridge_lengths_pass_for_their_own_law_only(law, other):
    random = np.random.default_rng(5)
    samples = random.lognormal(-5.0, 0.7, 1200) if law == "lognormal" else random.gamma(1.8, 4e-3, 1200)
    analysis = SimpleNamespace(ridge_fits=fit_laws(samples), ridges=SimpleNamespace(all_lengths=samples))
    assert failed(ridge_checks("some", analysis, law, other)) == []
    assert any("over that from" in quantity for quantity in failed(ridge_checks("some", analysis, other, law)))


def test_ridges_of_one_length_follow_no_law():
    """Creases along the edges of a coarse mesh."""
    random = np.random.default_rng(5)
    samples = np.concatenate([random.lognormal(-5.0, 0.7, 300), random.uniform(5.0e-3, 5.2e-3, 100)])
    analysis = SimpleNamespace(ridge_fits=fit_laws(samples), ridges=SimpleNamespace(all_lengths=samples))
    assert failed(ridge_checks("some", analysis, "lognormal", "gamma"))[0].endswith("distance from lognormal")


def test_adaptive_plate_takes_frames_with_enough_faces(tmp_path, monkeypatch):
    record(tmp_path / "crumple")
    (result,) = run_cases(["plate-adaptive"], recordings=tmp_path)
    assert failed(result.checks) == ["frames with enough faces"]
    monkeypatch.setattr(plate, "LEAST", (20,))
    (result,) = run_cases(["plate-adaptive"], recordings=tmp_path)
    (check,) = result.checks
    assert check.measured == pytest.approx(1.0, abs=0.2)
