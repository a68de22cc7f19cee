"""A child forked after a simulation refuses to simulate: it would wait for threads that it does not have."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

SCRIPT = """
import os, sys
from crumple.runtime.errors import SimulationError
from crumple.runtime.forking import note_threads

if sys.argv[1] == "after":
    note_threads()
child = os.fork()
if child == 0:
    try:
        note_threads()
    except SimulationError as error:
        print(error, flush=True)
        os._exit(3)
    os._exit(0)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize(("when", "code"), [("after", 3), ("before", 0)])
def test_only_a_child_of_a_process_that_has_simulated_refuses(when, code):
    done = subprocess.run([sys.executable, "-c", SCRIPT, when], capture_output=True, text=True, timeout=120)
    assert done.returncode == code, done.stderr
    assert ('get_context("spawn")' in done.stdout) == (when == "after")
