"""A short run of the fuzzer (`make fuzz` is the long one), and every input that it once found something with."""

from __future__ import annotations

import pytest
from found_numbers import FOUND_NUMBERS
from fuzz_cases import CORPUS, FEEDS, FOUND, RUNS, TARGETS, make_text, run_case

COUNT = {
    "toml": 40,
    "arcsim": 40,
    "obj": 150,
    "material": 40,
    "fold": 40,
    "svg": 40,
    "recording": 30,
    "dataset": 40,
    "sweep": 40,
    "planted": 10,
    "energy": 40,
    "stepped": 4,
    "history": 8,
    "specification": 8,
    "script": 8,
}
"""Cases per target, for a few seconds each."""


@pytest.mark.parametrize("target", TARGETS)
def test_mutated_inputs_get_an_answer(target, tmp_path):
    for number in range(COUNT[target]):
        folder = tmp_path / str(number)
        folder.mkdir()
        run_case(target, number, folder)


@pytest.mark.parametrize("target", FEEDS)
def test_seeds_get_an_answer(target, tmp_path):
    for k, seed in enumerate(sorted([*(CORPUS / target).iterdir(), *FOUND.glob(f"{target}/*")])):
        folder = tmp_path / str(k)
        folder.mkdir()
        FEEDS[target](seed.read_bytes(), folder)


def test_a_number_always_gives_the_same_case():
    assert make_text("toml", 5) == make_text("toml", 5) != make_text("toml", 6)


@pytest.mark.parametrize(
    ("target", "number"), [(name, number) for name in RUNS for number in FOUND_NUMBERS.get(name, ())]
)
def test_scenes_that_once_failed_are_done(target, number, tmp_path):
    assert RUNS[target](tmp_path, number).startswith("done")
