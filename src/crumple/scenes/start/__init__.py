"""Where a run starts from: sheets at rest, relaxed, or thrown."""
