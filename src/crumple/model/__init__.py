"""What stays constant during a run, and what follows from it on a mesh."""
