"""The twist scene with a chosen mesh and number of steps: python benchmarks/twist_steps.py QUADS [STEPS]."""

from __future__ import annotations

import sys

from crumple.studies.benchmarking.twist import measure_twist

if __name__ == "__main__":
    quads = int(sys.argv[1]) if len(sys.argv) > 1 else 32
    steps = int(sys.argv[2]) if len(sys.argv) > 2 else None
    for record in measure_twist((quads,), steps).records:
        for name, value in record.items():
            print(f"{name:20s} {value if isinstance(value, str) else f'{value:.4g}'}")
