"""The geometric stiffness of a membrane by the stress that the step which led there predicted, not by the one it has.

A step of Newton's method that turns faces by φ stretches them by φ²/2, whatever it was meant to do: the strain after it
is that which the linear model predicted plus ½ HᵀH, H the gradient of the step. In a stiff sheet this stretch is all
the stress that there is, the next step does nothing but remove it, and the geometric stiffness that belongs to it is
far from that of the equilibrium: every second iteration is lost. With the predicted stress C (E − ½ HᵀH) in the
geometric stiffness, and the true one everywhere else, the next step removes the stretch *and* goes on (the mixed
integration points of [Magisano2017]). Where steps become short the two are the same: the convergence is as quadratic.
"""

from __future__ import annotations

from numba import njit, prange

from crumple.energies.definite import clamp_negative
from crumple.geometry.triangle import deformation, strain
from crumple.runtime.compiled import spread


@spread(2)
def add_predicted(x, before, stencil, gradients, area, coefficients, rest_strain, project, hessian):
    """Add to the upper blocks `hessian` (n, 6, 3, 3) of membranes at x (node_count, 3) what the stress that was
    predicted on the way from `before` (node_count, 3) changes of them; the other arrays are those of `MembraneStvk`."""
    for f in prange(len(stencil)):
        i, j, k = stencil[f, 0], stencil[f, 1], stencil[f, 2]
        ux, uy, uz, vx, vy, vz = deformation(x, i, j, k, gradients, f)
        d00, d11, d01 = strain(ux, uy, uz, vx, vy, vz)
        px, py, pz, qx, qy, qz = deformation(before, i, j, k, gradients, f)
        px, py, pz, qx, qy, qz = ux - px, uy - py, uz - pz, vx - qx, vy - qy, vz - qz
        d00, d11, d01 = d00 - rest_strain[f, 0], d11 - rest_strain[f, 1], d01 - rest_strain[f, 2]
        e00 = d00 - 0.5 * (px * px + py * py + pz * pz)
        e11 = d11 - 0.5 * (qx * qx + qy * qy + qz * qz)
        e01 = d01 - 0.5 * (px * qx + py * qy + pz * qz)
        s00, s11, s01 = _stress(coefficients[f], area[f], d00, d11, d01)
        t00, t11, t01 = _stress(coefficients[f], area[f], e00, e11, e01)
        if project:
            s00, s11, s01 = clamp_negative(s00, s11, s01)
            t00, t11, t01 = clamp_negative(t00, t11, t01)
        t00, t11, t01 = t00 - s00, t11 - s11, t01 - s01
        block = 0
        for p in range(3):
            g, h = gradients[f, p, 0], gradients[f, p, 1]
            for q in range(p, 3):
                m, n = gradients[f, q, 0], gradients[f, q, 1]
                change = g * (t00 * m + t01 * n) + h * (t01 * m + t11 * n)
                for axis in range(3):
                    hessian[f, block, axis, axis] += change
                block += 1


@njit(cache=True)
def _stress(coefficients, area, d00, d11, d01):
    """The stress of a face times its area, of the strain D."""
    c11, c12 = area * coefficients[0], area * coefficients[1]
    c22, c33 = area * coefficients[2], area * coefficients[3]
    return c11 * d00 + c12 * d11, c12 * d00 + c22 * d11, c33 * d01
