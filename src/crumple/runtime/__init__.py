"""Errors, types, timing, threads and compilation: what everything else stands on."""
