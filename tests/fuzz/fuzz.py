"""The fuzzer: `python tests/fuzz/fuzz.py [TARGET]... [--cases N] [--seconds S]`, and one case again with `--case N`.

Each target runs in processes of its own, so that a crash or a hang ends a process and not the search. With atheris
installed (`pip install '.[fuzz]'`), `--guided` lets it find inputs that reach new lines of our code.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path

import fuzz_cases

LONGEST = 20
"""Processor time of a case beyond which it hangs [s]."""
LARGEST = 2.0
"""Memory beyond which a case is greedy [GB]."""
BATCH = 250
"""Cases per process."""
STEPPED_LONGEST, STEPPED_BATCH = 120, 20
"""The same for scenes that are stepped."""


def main() -> int:
    """Number of findings, at most 100, as the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*", help=", ".join(fuzz_cases.TARGETS))
    parser.add_argument("--cases", type=int, default=2500, help="per target")
    parser.add_argument("--seconds", type=float, default=1e9, help="for all targets together")
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--case", type=int, help="run one case here, with its traceback, and keep its input")
    parser.add_argument("--guided", action="store_true", help="coverage-guided search with atheris")
    parser.add_argument("--batch", nargs=2, type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    targets = options.targets or list(fuzz_cases.TARGETS)
    if options.batch:
        run_batch(targets[0], *options.batch)
        return 0
    if options.case is not None:
        folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
        print(f"{targets[0]} case {options.case} in {folder}")
        fuzz_cases.run_case(targets[0], options.case, folder)
        return 0
    share = options.seconds / len(targets)
    search = search_guided if options.guided else search_numbered
    return min(100, sum(search(target, options.first, options.cases, share) for target in targets))


def search_numbered(target: str, first: int, cases: int, seconds: float) -> int:
    """Run numbered cases in batches; prints and counts the findings."""
    begin, done, findings, answers = time.monotonic(), first, 0, Counter[str]()
    while done < first + cases and time.monotonic() - begin < seconds:
        end = min(done + (STEPPED_BATCH if target in fuzz_cases.RUNS else BATCH), first + cases)
        command = [sys.executable, __file__, target, "--batch", str(done), str(end)]
        batch = subprocess.run(command, capture_output=True, text=True, timeout=BATCH * LONGEST, check=False)
        lines = batch.stdout.splitlines()
        findings += sum(line.startswith("FINDING") for line in lines)
        print(
            "\n".join(line for line in lines if not line.startswith(("case ", "answer "))), end="\n" if findings else ""
        )
        answers.update(line.split()[1].rstrip(":") for line in lines if line.startswith("answer "))
        last = max((int(line.split()[1]) for line in lines if line.startswith("case ")), default=done)
        if batch.returncode != 0:
            findings += 1
            print(f"FINDING {target} {last}: the process ended with {batch.returncode}\n{batch.stderr[-2000:]}")
            done = last + 1
        else:
            done = end
    told = "".join(f", {count} {answer}" for answer, count in answers.items())
    print(f"{target}: {done - first} cases{told}, {findings} findings, {time.monotonic() - begin:.0f} s", flush=True)
    return findings


def run_batch(target: str, first: int, end: int) -> None:
    """Run cases in this process; a case that takes too long is ended by a signal."""
    signal.signal(signal.SIGVTALRM, _raise_timeout)
    largest = 0.0
    for number in range(first, end):
        print(f"case {number}", flush=True)
        folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
        signal.setitimer(signal.ITIMER_VIRTUAL, STEPPED_LONGEST if target in fuzz_cases.RUNS else LONGEST)
        try:
            fuzz_cases.run_case(target, number, folder)
        except BaseException as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            text = " ".join(f"{type(error).__name__}: {error}".split())[:300]
            print(f"FINDING {target} {number}: {text} ({where.filename}:{where.lineno})", flush=True)
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            shutil.rmtree(folder, ignore_errors=True)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        if memory > LARGEST > largest:
            print(f"FINDING {target} {number}: takes {memory:.1f} GB", flush=True)
        largest = max(largest, memory)


def _raise_timeout(number: int, frame: object) -> None:
    raise TimeoutError(f"takes more than {LONGEST} s")


def search_guided(target: str, first: int, cases: int, seconds: float) -> int:
    """Search with atheris for `seconds`; whether it found something. New inputs stay in a temporary folder."""
    if target not in fuzz_cases.FEEDS:
        print(f"{target}: bytes of HDF5 have checksums, which guidance does not get past; numbered cases only")
        return 0
    new = Path(tempfile.mkdtemp(prefix=f"fuzz-{target}-"))
    arguments = [f"-max_total_time={int(min(seconds, 1e6))}", f"-runs={cases}", f"-timeout={LONGEST}"]
    arguments += [
        f"-rss_limit_mb={int(1000 * LARGEST)}",
        f"-seed={first + 1}",
        "-max_len=20000",
        "-print_final_stats=1",
    ]
    arguments += [f"-artifact_prefix={new}{os.sep}", str(new), str(fuzz_cases.CORPUS / target)]
    code = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("guided.py")), target, *arguments], check=False
    ).returncode
    print(f"{target}: atheris ended with {code}, inputs in {new}")
    return int(code != 0)


if __name__ == "__main__":
    sys.exit(main())
