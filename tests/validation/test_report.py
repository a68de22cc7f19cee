"""The report page says what was found, and needs no other file."""

import re

import numpy as np
import pytest

from crumple.validation.figures import save_figure
from crumple.validation.report import RECORDED, write_report
from crumple.validation.result import CaseResult, Check, Figure, curve

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


def test_cases_from_recordings_have_their_place(tmp_path):
    first, *others = RECORDED
    text = write_report([make_result(first)], tmp_path, MACHINE).read_text(encoding="utf-8")
    assert f'id="{first}"' in text
    assert text.count("not in this run") == len(others)


def test_page_holds_its_figures(tmp_path):
    pytest.importorskip("matplotlib")
    figure = Figure("x", "y", (curve("line", list(zip(np.arange(3.0), np.arange(3.0), strict=True))),))
    picture = save_figure(figure, "figure", tmp_path / "figure.png")
    text = write_report([make_result(picture=picture)], tmp_path, MACHINE).read_text(encoding="utf-8")
    assert re.findall(r'src="([^"]{15})', text) == ["data:image/png;"]
    assert not re.search(r'(href|src)="(?!#|data:)', text)
