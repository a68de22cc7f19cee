"""Pictures of the statistics beside their reference bands; without matplotlib there are none."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from crumple.analysis.analyze import Analysis
from crumple.analysis.fits import Fit, PowerLaw, fit_density
from crumple.analysis.foil_ball import plateau
from crumple.analysis.reference import EVEN, FIRST_RADIUS, INNER, MASS_SIZE, ORIENTATION, OUTER
from crumple.analysis.tear_figures import save_tears
from crumple.recording.files import write_output
from crumple.runtime.typing import Floats

BLUE, RED, BAND, INK = "#1f5fa8", "#c0392b", "#f2d7a0", "#222222"
FITTED_BINS = 24


def save_figures(analysis: Analysis, folder: Path, kind: str = "png") -> list[Path]:
    """One file of the `kind` per statistic, and an overview with all; an empty list when matplotlib is not
    installed."""
    overview = new_canvas((13.0, 12.6))
    if overview is None:
        return []
    grid = overview.subplots(3, 3).ravel()
    paths = []
    for axes, (name, draw) in zip(grid, DRAWINGS.items(), strict=False):
        draw(analysis, axes)
        single = new_canvas((5.6, 4.6))
        draw(analysis, single.add_subplot())
        paths.append(save_canvas(single, folder / f"{name}.{kind}"))
    for axes in grid[len(DRAWINGS) :]:
        axes.set_axis_off()
    overview.suptitle(
        y=0.995,
        t=f"frame {analysis.frame}, t = {analysis.time:.3g} s, φ = {100 * analysis.shape.volume_fraction:.2f} %, "
        f"{analysis.shape.mesh.face_count} faces",
    )
    if analysis.tears is not None and analysis.crease_tensor is not None:
        paths += save_tears(analysis.tears, analysis.shape.mesh, analysis.crease_tensor, folder, new_canvas, kind)
    return [save_canvas(overview, folder / f"overview.{kind}"), *paths]


def save_mass_size(analyses: Sequence[Analysis], law: PowerLaw | None, path: Path) -> Path | None:
    """Outer radius over mass of several balls with the law through them."""
    canvas = new_canvas((5.6, 4.6))
    if canvas is None:
        return None
    axes = canvas.add_subplot()
    mass = np.array([a.shape.mass.sum() for a in analyses])
    radius = np.array([a.shape.ball.radius for a in analyses])
    axes.loglog(1e3 * mass, 1e3 * radius, "o", color=BLUE, label="recordings")
    if law is not None:
        span = np.geomspace(mass.min(), mass.max(), 20)
        axes.plot(1e3 * span, 1e3 * law.factor * span**law.exponent, color=BLUE, label=f"M^{law.exponent:.2f}")
        known = radius[0] * (span / mass[0]) ** MASS_SIZE
        axes.plot(1e3 * span, 1e3 * known, "--", color=RED, label=f"M^{MASS_SIZE}")
    finish_axes(axes, "mass [g]", "outer radius [mm]", "size of balls")
    return save_canvas(canvas, path)


def draw_section(analysis: Analysis, axes: Any) -> None:
    """The cut through the ball."""
    from matplotlib.collections import LineCollection
    from matplotlib.patches import Circle

    radius = 1e3 * analysis.shape.ball.radius
    lines = LineCollection(list(1e3 * analysis.section.segments), colors=INK, linewidths=0.8, capstyle="round")
    axes.add_collection(lines)
    axes.add_patch(Circle((0.0, 0.0), radius, fill=False, edgecolor=RED, linewidth=0.6, linestyle=":"))
    axes.set_xlim(-1.05 * radius, 1.05 * radius)
    axes.set_ylim(-1.05 * radius, 1.05 * radius)
    axes.set_aspect("equal")
    title = f"cross-section, φ = {100 * analysis.shape.volume_fraction:.2g} %"
    finish_axes(axes, "mm", "mm", title, legend=False, grid=False)


def draw_density(analysis: Analysis, axes: Any) -> None:
    """Density over the distance from the centre of mass."""
    profile = analysis.density
    mean = plateau(profile)
    if mean > 0.0 and analysis.is_foil:
        axes.fill_between([0.0, OUTER], mean * (1 - EVEN), mean * (1 + EVEN), color=BAND, label=f"mean ± {EVEN:.0%}")
        axes.plot([INNER, OUTER], [mean, mean], color=RED, linewidth=0.8)
    axes.stairs(profile.histogram.density, profile.histogram.edges, color=BLUE, label="measured")
    finish_axes(axes, "r / R", "density / mean of the ball", "(a) mass density")


def draw_orientation(analysis: Analysis, axes: Any) -> None:
    """Histogram of |n·r|."""
    histogram = analysis.orientation.histogram
    if analysis.is_foil:
        axes.axvspan(*ORIENTATION, color=BAND, label="mean, reference")
    axes.axhline(1.0, color=INK, linewidth=0.6, linestyle=":", label="isotropic")
    axes.stairs(histogram.density, histogram.edges, color=BLUE, label="measured")
    axes.axvline(analysis.orientation.mean, color=BLUE, linestyle="--", label=f"mean {analysis.orientation.mean:.3f}")
    axes.set_xlim(0, 1)
    finish_axes(axes, "|n·r|", "probability density", "(b) orientation")


def draw_radii(analysis: Analysis, axes: Any) -> None:
    """Histograms of the radii of principal curvature."""
    radii = analysis.radii
    if analysis.is_foil:
        axes.axvspan(*FIRST_RADIUS, color=BAND, label="peak of R1, reference")
    axes.stairs(radii.first.density, radii.first.edges, color=BLUE, label="R1")
    axes.stairs(radii.second.density, radii.second.edges, color=RED, label="R2")
    if radii.first_peak is not None:
        axes.axvline(radii.first_peak, color=BLUE, linestyle="--", label=f"peak {radii.first_peak:.1f} t")
    finish_axes(axes, "radius / thickness", "probability density", "(c) radii of curvature")


def draw_network(analysis: Analysis, axes: Any) -> None:
    """Facets and ridges on the pattern."""
    from matplotlib.collections import LineCollection

    mesh, ridges = analysis.shape.mesh, analysis.ridges
    u, corner = 1e3 * mesh.u, mesh.hinges.corners[ridges.edge_hinge, 0]
    # neighbouring numbers get different shades
    shade = np.where(ridges.face_facet >= 0, (ridges.face_facet * 0.618) % 1.0, 0.5)
    axes.tripcolor(u[:, 0], u[:, 1], mesh.faces, shade, cmap="Pastel1", vmin=0.0, vmax=1.0)
    flat = mesh.faces.ravel()
    following = flat[corner - corner % 3 + (corner + 1) % 3]
    lines = np.stack([u[flat[corner]], u[following]], axis=1)
    axes.add_collection(LineCollection(list(lines), colors=INK, linewidths=0.7))
    axes.set_aspect("equal")
    count = f"{len(ridges.all_lengths)} ridges, {len(ridges.facet_area)} facets"
    finish_axes(axes, "mm", "mm", f"ridge network: {count}", legend=False, grid=False)


def draw_ridge_lengths(analysis: Analysis, axes: Any) -> None:
    """Ridge lengths and the laws fitted to them."""
    _draw_fitted(axes, 1e3, analysis.ridges.all_lengths, analysis.ridge_fits)
    title = f"ridge lengths, φ = {100 * analysis.shape.volume_fraction:.2g} %"
    finish_axes(axes, "ridge length [mm]", "probability density [1/mm]", title)


def draw_facet_areas(analysis: Analysis, axes: Any) -> None:
    """Facet areas and the laws fitted to them."""
    _draw_fitted(axes, 1e6, analysis.ridges.facet_area, analysis.facet_fits)
    finish_axes(axes, "facet area [mm²]", "probability density [1/mm²]", "facet areas")


def draw_energies(analysis: Analysis, axes: Any) -> None:
    """Energy by kind."""
    names, values = list(analysis.energies), [1e3 * value for value in analysis.energies.values()]
    axes.bar(names, values, color=BLUE)
    axes.tick_params(axis="x", labelsize=8)
    finish_axes(axes, "", "energy [mJ]", "energy split", legend=False)


def draw_creases(analysis: Analysis, axes: Any) -> None:
    """The plastic curvature on the pattern, with the mileage."""
    mesh, creases = analysis.shape.mesh, analysis.creases
    title = "creases: none" if creases.is_empty else f"creases: mileage {creases.mileage:.3g} m"
    trace = np.abs(analysis.shape.plastic_curvature[:, 0] + analysis.shape.plastic_curvature[:, 1])
    top = float(np.quantile(trace, 0.98)) or 1.0
    u = 1e3 * mesh.u
    axes.tripcolor(u[:, 0], u[:, 1], mesh.faces, trace, cmap="Greys", vmin=0.0, vmax=top)
    axes.set_aspect("equal")
    finish_axes(axes, "mm", "mm", title, legend=False, grid=False)


DRAWINGS: dict[str, Callable[[Analysis, Any], None]] = {
    "cross_section": draw_section,
    "density": draw_density,
    "orientation": draw_orientation,
    "curvature_radii": draw_radii,
    "ridge_network": draw_network,
    "ridges": draw_ridge_lengths,
    "facets": draw_facet_areas,
    "creases": draw_creases,
    "energies": draw_energies,
}


def _draw_fitted(axes: Any, unit: float, values: Floats, fits: Sequence[Fit]) -> None:
    """A histogram of positive `values` times `unit`, and the densities of the fits."""
    if not len(values):
        axes.text(0.5, 0.5, "none", transform=axes.transAxes, ha="center")
        return
    edges = np.linspace(0.0, max(float(np.quantile(values, 0.99)), 1e-12) * 1.05, FITTED_BINS + 1)
    share = np.histogram(values, edges)[0] / (len(values) * np.diff(edges))
    axes.stairs(share / unit, unit * edges, color=BLUE, label=f"{len(values)} measured")
    x = np.linspace(edges[-1] / 400, edges[-1], 400)
    for fit, color in zip(fits, (RED, "#2e7d32", "#8e44ad"), strict=False):
        axes.plot(unit * x, fit_density(fit, x) / unit, color=color, label=f"{fit.law}, KS {fit.distance:.3f}")
    axes.set_ylim(0.0, 1.3 * float(share.max()) / unit)


def finish_axes(axes: Any, x: str, y: str, title: str, *, legend: bool = True, grid: bool = True) -> None:
    """Label the axes; a legend if anything has a name."""
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.set_title(title)
    if grid:
        axes.grid(True, linewidth=0.3)
    if legend and axes.get_legend_handles_labels()[0]:
        axes.legend(fontsize=8)


def new_canvas(size: tuple[float, float]) -> Any:
    """An empty figure of `size` inches, None without matplotlib."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        return None
    figure = Figure(figsize=size)
    # margins in inches; matplotlib's own layouts take longer than all the drawing
    figure.subplots_adjust(
        left=0.75 / size[0],
        right=1.0 - 0.25 / size[0],
        bottom=0.6 / size[1],
        top=1.0 - 0.75 / size[1],
        wspace=0.3,
        hspace=0.32,
    )
    FigureCanvasAgg(figure)
    return figure


def save_canvas(figure: Any, path: Path) -> Path:
    """Write the figure in the format of the path's ending; gives the path."""
    content = io.BytesIO()
    figure.savefig(content, format=path.suffix[1:], dpi=110)
    write_output(path, content.getvalue())
    return path
