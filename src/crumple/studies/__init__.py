"""Many runs and what they are for: validation, benchmarks, sweeps, datasets, learning."""
