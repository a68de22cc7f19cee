"""Criterion: resolve the wrinkles that a compressed sheet is about to form ([Narain2013] §4.1 and appendix A).

    M = 1/(2c²) ( -ε + √( ε² - q/4 (R S Rᵀ)² ) )⁺                      (eq. 9 and 7)

with ε the Green strain, S the bending strain, R a quarter turn, q = k_b/k_s [m²] the ratio of bending to
membrane stiffness, and all functions taken on eigenvalues. Where the discriminant is negative no wrinkle pays and
√D is replaced by -√-D, which suppresses refinement. The term -ε is positive under compression.

**What c means.** Appendix A finds the smallest wrinkle as m = 1/ℓ² = k_s/(2 k_b) (…): eq. 9 is the bracket without
the factor, so c² stands for k_b/k_s and c is a *length*; √(B/Y) in our symbols (k_b/k_s = B/Y: both energies of
appendix A lack the same ½). For S = 0 an edge along the compression ε may be c/√ε long. A user who takes c > √(B/Y)
asks for coarser wrinkles than the sheet would form.

q is the physical ratio of the material in eq. 9. Appendix A may also be read as q = c² ("c_max corresponds to
√(k_b/k_s)"): then ribs would stiffen the coarser, resolved wrinkles accordingly.
Without rib-stiffening (q = 0) the term is the older compression term.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numba import njit

from crumple.geometry.metric import scalar_positive_part, scalar_signed_root, scalar_square
from crumple.runtime.typing import Floats
from crumple.state import State


@dataclass(frozen=True)
class Buckling:
    """Eq. 9 over c² for each face: `refine_compression` c [m];  `strain`, `curvature`: Green strain ε and
    bending strain S of a state, (face_count, 3) each [1], [1/m];  `ratio` q = B/Y of each face [m²], (face_count,)."""

    refine_compression: float
    strain: Callable[[State], Floats]
    curvature: Callable[[State], Floats]
    ratio: Floats

    def __call__(self, state: State) -> Floats:
        """The tensors of the faces, (face_count, 3) [1/m²]."""
        strain = self.strain(state)
        sizing = np.empty_like(strain)
        _buckling(strain, self.curvature(state), self.ratio, 1.0 / self.refine_compression**2, sizing)
        return sizing


@njit(cache=True)
def _buckling(strain, curvature, ratio, scale, out):
    """out = scale/2 (-ε + signed root of (ε² - ratio/4 (R S Rᵀ)²))⁺."""
    for f in range(len(strain)):
        xx, yy, xy = strain[f, 0], strain[f, 1], strain[f, 2]
        square_xx, square_yy, square_xy = scalar_square(xx, yy, xy)
        # R S Rᵀ swaps the diagonal of S and turns the sign of xy
        rib_xx, rib_yy, rib_xy = scalar_square(curvature[f, 1], curvature[f, 0], -curvature[f, 2])
        q = 0.25 * ratio[f]
        root_xx, root_yy, root_xy = scalar_signed_root(
            square_xx - q * rib_xx, square_yy - q * rib_yy, square_xy - q * rib_xy
        )
        m_xx, m_yy, m_xy = scalar_positive_part(root_xx - xx, root_yy - yy, root_xy - xy)
        out[f, 0], out[f, 1], out[f, 2] = 0.5 * scale * m_xx, 0.5 * scale * m_yy, 0.5 * scale * m_xy
