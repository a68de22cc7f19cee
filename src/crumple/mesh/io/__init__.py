"""Mesh files."""
