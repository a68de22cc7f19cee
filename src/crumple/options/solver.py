"""What the user decides about time stepping and the solver."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, ClassVar, Final, Literal

from crumple.options.options import Options
from crumple.options.quantities import Quantity, Whole

EULER: Final = "implicit-euler"
TR_BDF2: Final = "tr-bdf2"
SEMI_IMPLICIT: Final = "semi-implicit"
VERLET: Final = "verlet"
Integrator = Literal["tr-bdf2", "implicit-euler", "semi-implicit", "verlet"]
"""Time integration, see `stepping.schemes`; semi-implicit is that of [Baraff1998]."""
BendingElement = Literal["midedge", "hinge"]
"""See `terms.Bending`."""


@dataclass(frozen=True)
class SolverOptions(Options):
    """Time stepping and Newton's method."""

    section: ClassVar[str] = "solver"

    mode: Annotated[Literal["dynamic", "static"], "Motion with inertia, or a sequence of equilibria."] = "dynamic"
    integrator: Annotated[
        Integrator,
        "Second order; first order, which dissipates motion; the same with one linear solve per step; explicit, for"
        " soft sheets in short steps.",
    ] = TR_BDF2
    bending: Annotated[
        BendingElement,
        "The bending element: directors at the edges of faces, right on any mesh, or hinges between faces.",
    ] = "midedge"
    motion_tolerance: Annotated[
        float,
        Quantity(above=0, most=1),
        "Error of the velocities at which Newton's method stops, over the change that forces make.",
    ] = 1e-3
    tolerance: Annotated[
        float,
        Quantity(above=0, most=1),
        "The same in dense contact and in static mode, as a fraction of the energy in play.",
    ] = 5e-3
    speed_tolerance: Annotated[
        float, Quantity("m/s", above=0, most=100), "And as the fastest correction of any node there."
    ] = 0.05
    patience: Annotated[
        int,
        Whole(1, 10**6),
        "Newton iterations of a step with contact after which `tolerance` and `speed_tolerance` are enough.",
    ] = 12
    path_error: Annotated[
        float,
        Quantity(above=0, most=1),
        "Error of a step that the step control allows, over the displacement of the sheets in it.",
    ] = 1e-3
    step_error: Annotated[
        float, Quantity(above=0, most=1), "And over the size of the sheets, where motion is too sudden for that."
    ] = 5e-3
    max_step: Annotated[float, Quantity("s", above=0, most=1e6), "Longest time step."] = 0.04
    min_step: Annotated[
        float,
        Quantity("s", above=0, most=1e6),
        "Shortest time step; a run that would need a shorter one stops.",
    ] = 1e-6
    fixed_step: (
        Annotated[float, Quantity("s", above=0, most=1e6), "A constant step instead of step control."] | None
    ) = None
    max_iterations: Annotated[int, Whole(1, 10**6), "Newton iterations after which a step is shortened."] = 60
    linear_solver: Annotated[
        Literal["auto", "pardiso", "fronts", "superlu", "cholmod"],
        'What factorises; `"auto"` is crumple\'s own solver, with an order of elimination by MKL where it exists, and'
        ' `"fronts"` the same without MKL, for sheets of any size. `"cholmod"` needs the extra of that name.',
    ] = "auto"
    angle_tolerance: Annotated[
        float,
        Quantity("degrees", above=0, most=10),
        "Within which the angles of hard and pressed creases are met after every step.",
    ] = 0.1

    def conflicts(self) -> Iterator[tuple[str, str]]:
        if self.min_step > self.max_step:
            yield "min_step", f"must be ≤ max_step = {self.max_step:g}, in s"
