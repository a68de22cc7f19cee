"""The report page says what was found, and needs no other file."""

import re

import numpy as np
import pytest

from crumple.studies.validation import CASES, RECORDED
from crumple.studies.validation.figures import save_figure
from crumple.studies.validation.report import write_report
from crumple.studies.validation.result import CaseResult, Check, Figure, curve

MACHINE = {"processor": "abacus <2>", "crumple": "0.1"}


def make_result(case="cantilever", measured=1.0, picture=None):
    return CaseResult(case, (Check("a < b", 1.0, measured, 0.1), Check("c", 2.0, 2.0, 0.0)), 1.5, None, picture)


def test_page_tells_passed_from_failed(tmp_path):
    page = write_report([make_result(), make_result("u-bend", 3.0)], tmp_path / "new", MACHINE)
    text = page.read_text(encoding="utf-8")
    assert page == tmp_path / "new" / "index.html"
    assert text.count(">FAILED<") == 2  # in the summary and in its own table
    assert text.count(">passed<") == 4
    assert "3 of 4 checks passed" in text
    assert "a &lt; b" in text
    assert "abacus &lt;2&gt;" in text
    assert "heavy elastica" in text  # the description of the case


def test_page_names_what_was_not_run(tmp_path):
    text = write_report([make_result(name) for name in CASES], tmp_path, MACHINE).read_text(encoding="utf-8")
    assert f"Not in this run: {', '.join(RECORDED)}." in text
    everything = [make_result(name) for name in [*CASES, *RECORDED]]
    text = write_report(everything, tmp_path, MACHINE).read_text(encoding="utf-8")
    assert "Not in this run" not in text
    assert "Kolmogorov" in text  # the description of crumpling-laws


def test_page_holds_its_figures(tmp_path):
    pytest.importorskip("matplotlib")
    figure = Figure("x", "y", (curve("line", list(zip(np.arange(3.0), np.arange(3.0), strict=True))),))
    picture = save_figure(figure, "figure", tmp_path / "figure.png")
    text = write_report([make_result(picture=picture)], tmp_path, MACHINE).read_text(encoding="utf-8")
    assert re.findall(r'src="([^"]{15})', text) == ["data:image/png;"]
    assert not re.search(r'(href|src)="(?!#|data:)', text)
