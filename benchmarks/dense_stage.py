"""The dense stage of the scene `stuff`: python benchmarks/dense_stage.py [FRAMES] [KEY=VALUE]..."""

from __future__ import annotations

import sys

from crumple.studies.benchmarking.stuffing import measure_stuffing

if __name__ == "__main__":
    frames = int(sys.argv[1]) if len(sys.argv) > 1 else None
    for record in measure_stuffing(frames, tuple(sys.argv[2:])).records:
        print(
            ", ".join(f"{key}: {value if isinstance(value, str) else f'{value:.4g}'}" for key, value in record.items())
        )
