"""One time step: schemes, stages, step control, and what is reported of it."""
