"""foil-ball: a disk of foil crumpled into a ball in a shrinking sphere [Narain2013] §5.1, [Cambou2011].

Works on the recording `foil-ball` (`crumple run foil-ball`, a long run) and also on `foil-ball-dense` when it is there.
The most confined frame is compared with tomograms of real balls: the volume fraction is that of the ball of the paper;
the mass is spread evenly from 0.3 R to 0.8 R and ends sharply; layers lie around the centre rather than across; the
smaller radius of curvature is most often near 10 thicknesses. The sheet must be one that bent, not one whose mesh was
squeezed, and must not pass through itself. `crumple verify` rechecks all frames.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from crumple.analysis.analyze import analyze_recording
from crumple.analysis.figures import draw_density, draw_orientation, draw_radii, draw_section
from crumple.analysis.foil_ball import check_foil_ball
from crumple.analysis.reference import DENSE_FRACTION, FOIL_FRACTION
from crumple.recording.recording import Recording
from crumple.studies.validation.result import CaseResult, Check, Drawing, band_check

FRACTIONS = {"foil-ball": FOIL_FRACTION, "foil-ball-dense": DENSE_FRACTION}
"""Volume fraction of each ball."""


def validate_foil_ball(recordings: Path) -> CaseResult:
    """The bands of `check_foil_ball` for the balls in `recordings`."""
    checks: list[Check] = []
    figure: tuple[Drawing, ...] = ()
    for name, fraction in FRACTIONS.items():
        if not (recordings / name).is_dir():
            continue
        recording = Recording(recordings / name)
        analysis = analyze_recording(recording)
        bands = check_foil_ball(recording, analysis.frame, fraction=fraction)
        checks += [band_check(f"{name}: {band.quantity}", band) for band in bands]
        figure += tuple(partial(draw, analysis) for draw in (draw_section, draw_density, draw_orientation, draw_radii))
    return CaseResult("foil-ball", tuple(checks), figure=figure)
