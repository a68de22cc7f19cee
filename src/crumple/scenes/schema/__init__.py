"""The tables of a scene file, as types."""
