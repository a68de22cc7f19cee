"""The validation cases pass, and could fail."""

from __future__ import annotations

import numpy as np
import pytest

from crumple.runtime.errors import InputError
from crumple.shapes import rectangle
from crumple.studies.validation import (
    CASES,
    box_clamp,
    capstan,
    flying,
    impacts,
    ledger,
    run_cases,
    scaled_copy,
    stick_slip,
    supports,
)
from crumple.studies.validation.bend_modulus import bend_moduli
from crumple.studies.validation.cantilever import hang_strip, validate_cantilever
from crumple.studies.validation.elastica import (
    U_BEND_CURVATURE,
    U_BEND_FORCE,
    buckled_strip,
    heavy_cantilever,
    tip_force_ratio,
)
from crumple.studies.validation.result import CaseResult, Check, range_check, relative_check
from crumple.studies.validation.strip import make_strip

QUICK = (
    "bend-modulus",
    "buckled-strip",
    "end-shear",
    "plastic-round-trip",
    "crease-spring",
    "spring-back",
    "kresling",
    "d-cone",
    "incline",
)
SMALLER = {
    "box-clamp": (box_clamp, {"STYLES": box_clamp.STYLES[:1], "ADAPTIVE": box_clamp.ADAPTIVE[:1]}),
    "oblique-impact": (impacts, {"MESHES": impacts.MESHES[:1]}),
    "slide-stop": (impacts, {"MESHES": impacts.MESHES[:1]}),
    "collision": (impacts, {"MESHES": impacts.MESHES[:1]}),
    "static-support": (supports, {"MESHES": supports.MESHES[:1]}),
    "scaled-copy": (scaled_copy, {"SIZES": scaled_copy.SIZES[:1], "SCALES": scaled_copy.SCALES[:1], "FRAMES": 15}),
    "spin": (flying, {"SPINS": ((3.0, 1.0, (0.0, 0.0, 1.0), 0.99), (2.0, 0.5, (1.0, 2.0, 2.0), 0.99))}),
    "capstan": (capstan, {"FRICTIONS": (0.3,), "ROWS": (48,)}),
    "ledger": (ledger, {"MESHES": ledger.MESHES[:1]}),
    "stick-slip": (stick_slip, {"SLIPPING": (0.1,)}),
}
"""Cases that do the same several times, or for long, with what they do here: on one mesh, or in a shorter time with the
bound that belongs to it."""
LONG = ("cylinder", "ridge", "tear-grain", "schreck", "folded-strip", *SMALLER)
"""Cases that take long, whose checks others make on a smaller scale (those of cylinder, ridge and tear-grain in
`test_shell_cases` and `test_tear_cases`, of schreck in `tests/developable`); `pytest -m long` runs them."""


def failures(result: CaseResult) -> list[Check]:
    return [check for check in result.checks if not check.passed]


@pytest.mark.parametrize("name", QUICK)
def test_quick_case_passes(name, tmp_path):
    (result,) = run_cases([name], figures=tmp_path)
    assert len(result.checks) > 2
    assert not failures(result)
    assert result.case == name


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.long if name in LONG else ()) for name in CASES if name not in QUICK]
)
def test_slow_case_passes(name):
    (result,) = run_cases([name])
    assert not failures(result)


@pytest.mark.slow
@pytest.mark.parametrize("name", SMALLER)
def test_smaller_case_passes(name, monkeypatch):
    module, smaller = SMALLER[name]
    for constant, value in smaller.items():
        monkeypatch.setattr(module, constant, value)
    (result,) = run_cases([name])
    assert result.checks
    assert not failures(result)


def test_a_light_cantilever_passes():
    result = validate_cantilever(((24, 0.5, (2.0, 10.0, 50.0)),))
    assert not failures(result)
    assert len(result.checks) == 4


def test_error_of_the_cantilever_falls_with_the_square_of_the_mesh_size():
    """A strip held by a wrong clamp, or with a wrong stiffness, would not converge, or not so fast."""
    exact = heavy_cantilever(np.array([200.0]))[0]
    errors = [abs(hang_strip(make_strip(0.2, 0.03, rows), (20.0, 200.0))[200.0] / exact - 1.0) for rows in (10, 20)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.5)


def test_hinges_on_right_triangles_are_too_stiff_and_do_not_improve_with_refinement():
    coarse, fine = (
        bend_moduli(rectangle(1.0, 1.0, size, kind="right")[0], np.array([np.pi / 4]), element="hinge")
        for size in (0.1, 0.05)
    )
    assert coarse == pytest.approx(3.0, rel=1e-3)
    assert fine == pytest.approx(coarse, rel=1e-3)


def test_references_agree_with_small_deflections():
    assert heavy_cantilever(np.array([1e-3]))[0] == pytest.approx(1e-3 / 8.0, rel=1e-4)
    assert buckled_strip(1e-4).force == pytest.approx(1.0, rel=1e-3)
    assert buckled_strip(1e-4).rise == pytest.approx(2.0 / np.pi * 1e-2, rel=1e-3)
    assert pytest.approx(2.396, abs=5e-4) == U_BEND_CURVATURE
    assert pytest.approx(2.871, abs=5e-4) == U_BEND_FORCE
    ratio = tip_force_ratio(np.array([1e-3, 4e-3]))
    assert ratio[1] / ratio[0] == pytest.approx(2.0, rel=0.01)


def test_unknown_case_is_refused_before_anything_runs():
    with pytest.raises(InputError, match="bend-modulus"):
        run_cases(["bend-modulus", "no-such-case"])


def test_figure_is_saved(tmp_path):
    pytest.importorskip("matplotlib")
    (result,) = run_cases(["bend-modulus"], figures=tmp_path)
    assert result.picture == tmp_path / "bend-modulus.png"
    assert result.picture.stat().st_size > 10_000


def test_checks_can_fail():
    assert relative_check("q", 2.0, 2.03, 0.02).passed
    assert not relative_check("q", 2.0, 2.05, 0.02).passed
    assert not relative_check("q", 2.0, float("nan"), 0.02).passed
    assert range_check("q", (1.0, 2.0), 1.9).passed
    assert not range_check("q", (1.0, 2.0), 2.1).passed
    assert not CaseResult("c", (Check("q", 0.0, 0.0, 0.0), Check("q", 0.0, 1.0, 0.5))).passed
