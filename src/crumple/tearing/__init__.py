"""Tearing: what pulls a sheet apart, what resists, how cracks run."""
