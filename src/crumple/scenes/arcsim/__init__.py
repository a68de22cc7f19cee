"""ARCSim's scene files."""
