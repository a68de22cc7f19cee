"""Comparison with known solutions: named cases, each with its numbers and a figure."""

from crumple.studies.validation.cases import CASES, RECORDED, run_cases
from crumple.studies.validation.report import write_report
from crumple.studies.validation.result import CaseResult, Check

__all__ = ["CASES", "RECORDED", "CaseResult", "Check", "run_cases", "write_report"]
