"""What `check_pattern` finds: flipped creases, wrong sectors, loose and crossing lines; planar graphs and holes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from pattern_measures import can_fold_flat, vertex_misfit

from crumple.patterns import check_pattern, fold_angles, kresling, miura, rigid, waterbomb
from crumple.patterns.pattern import CreasePattern, make_pattern
from crumple.patterns.planar import pattern_from_segments
from crumple.patterns.rigid import fit_angles, vertex_fans
from crumple.runtime.errors import InputError

SQUARE = [((0, 0), (1, 0)), ((1, 0), (1, 1)), ((1, 1), (0, 1)), ((0, 1), (0, 0))]


def drawn(*lines, letters="", snap=1e-6):
    """A unit square with further lines in it."""
    segments = np.array([*SQUARE, *lines], float)
    assigned = [*"BBBB", *letters]
    angle = np.array([{"M": np.pi, "V": -np.pi}.get(letter, 0.0) for letter in assigned])
    return pattern_from_segments(segments, assigned, angle, snap=snap)


def test_flipped_crease_is_named():
    good = miura(3, 3, 0.02, 0.02, np.radians(60))
    edge = int(np.flatnonzero(good.creases)[3])
    letters, angle = good.assignment.copy(), good.angle.copy()
    letters[edge], angle[edge] = "V" if letters[edge] == "M" else "M", -angle[edge]
    bad = replace(good, assignment=letters, angle=angle)
    found = check_pattern(bad)
    assert found
    assert {finding.kind for finding in found} <= {"maekawa", "sector"}
    assert all(edge in finding.edges for finding in found)
    assert found[0].text.startswith(f"creases do not fit at vertex {found[0].vertex} at (")
    assert fold_angles(bad, 0.5) is None
    assert not all(can_fold_flat(bad).values())


def test_kawasaki():
    pattern = drawn(
        ((0.5, 0.4), (0, 0)), ((0.5, 0.4), (1, 0)), ((0.5, 0.4), (1, 1)), ((0.5, 0.4), (0, 1)), letters="MMMV"
    )
    found = check_pattern(pattern)
    assert [finding.kind for finding in found] == ["kawasaki"]
    assert "not 180°" in found[0].text


def test_odd_degree_cannot_fold_flat():
    pattern = drawn(((0.5, 0.5), (0, 0)), ((0.5, 0.5), (1, 0)), ((0.5, 0.5), (0.5, 1)), letters="MMV")
    assert "odd number" in check_pattern(pattern)[0].text


def test_smallest_sector():
    """Creases beside a sector that is smaller than its neighbours must differ, even where Maekawa's count is right."""
    way = np.radians([0.0, 40.0, 130.0, 270.0])  # sectors 40, 90, 140, 90: alternate sums 180
    ends = [((0.5, 0.5), (0.5 + 0.4 * np.cos(a), 0.5 + 0.4 * np.sin(a))) for a in way]
    rim = [(ends[k][1], ends[(k + 1) % 4][1]) for k in range(4)]
    segments = np.array([*ends, *rim])

    def kinds(letters):
        angle = np.array([{"M": np.pi, "V": -np.pi, "B": 0.0}[letter] for letter in letters + "BBBB"])
        return {f.kind for f in check_pattern(pattern_from_segments(segments, [*letters, *"BBBB"], angle, snap=1e-6))}

    assert kinds("MVMM") == set()
    assert kinds("MMMV") == {"sector"}
    assert kinds("MMVV") == {"maekawa", "sector"}


def test_rigid_misfit():
    pattern = miura(2, 2, 0.02, 0.02, np.radians(60), np.pi / 2)
    angle = pattern.targets()
    assert check_pattern(pattern, angle) == []
    edge = int(np.flatnonzero(pattern.creases)[0])
    angle[edge] *= 0.7
    found = check_pattern(pattern, angle)
    assert [finding.kind for finding in found] == ["fit"]
    vertex, misfit = vertex_misfit(pattern, angle)
    assert misfit.max() > np.radians(10)
    fitted = fit_angles(pattern, angle)
    assert vertex_misfit(pattern, fitted)[1].max() < 1e-6
    assert len(vertex) == sum(len(fan.vertex) for fan in vertex_fans(pattern)) == 1


def test_cuts_that_part_the_paper_are_told():
    """A square with a crease and a cut right across: two pieces; a cut that ends inside leaves one."""
    crease, cut = ((0.2, 0), (0.2, 1)), ((0.6, 0), (0.6, 1))
    (found,) = check_pattern(drawn(crease, cut, letters="MC"))
    assert found.kind == "pieces"
    assert found.text.startswith("the pattern falls into 2 loose pieces along its cuts or at its corners; the smallest")
    assert "has a facet, at (" in found.text
    whole = check_pattern(drawn(crease, ((0.6, 0), (0.6, 0.5)), letters="MC"))
    assert "pieces" not in {finding.kind for finding in whole}
    assert check_pattern(drawn(crease, cut, letters="MV")) == []


def test_crossings_become_vertices():
    pattern = drawn(((0, 0), (1, 1)), ((0, 1), (1, 0)), letters="MV")
    assert len(pattern.vertices) == 5
    assert len(pattern.faces) == 4
    assert (pattern.assignment == "M").sum() == (pattern.assignment == "V").sum() == 2


def test_overlaps_are_merged_and_near_ends_joined():
    twice = drawn(((0.5, 0), (0.5, 1)), ((0.5, 0.25), (0.5, 0.75)), ((0, 0), (1, 0)), letters="MFM", snap=1e-3)
    assert sorted(twice.assignment.tolist()).count("M") == 3  # between 0, 0.25, 0.75 and 1; a mountain beats flat
    assert "F" not in twice.assignment
    near = drawn(((0.5, 4e-4), (0.5003, 0.9998)), letters="M", snap=1e-3)
    assert len(near.faces) == 2
    assert not near.facets.dangling.any()


def test_loose_lines_and_gaps():
    loose = drawn(((0.5, 0), (0.5, 0.5)), letters="M")
    assert [finding.kind for finding in check_pattern(loose)] == ["dangling"]
    assert len(loose.faces) == 1
    gap = make_pattern(np.array([[0, 0], [1, 0], [1, 1.0]]), np.array([[0, 1], [1, 2]]), ["B", "B"])
    assert "no facet is closed" in check_pattern(gap)[-1].text


def test_crossing_without_vertex():
    u = np.array([[0, 0], [1, 0], [1, 1], [0, 1.0]])
    edges = np.array([[0, 1], [1, 2], [2, 3], [3, 0], [0, 2], [1, 3]])
    pattern = make_pattern(u, edges, [*"BBBBMV"])
    assert "crossing" in {finding.kind for finding in check_pattern(pattern)}


def test_windows_are_no_paper():
    ring = [(0.3, 0.3), (0.7, 0.3), (0.7, 0.7), (0.3, 0.7)]
    window = [(ring[k], ring[(k + 1) % 4]) for k in range(4)]
    pattern = drawn(*window, letters="BBBB")
    assert len(pattern.faces) == 1
    assert len(pattern.facets.rings[0]) == 2
    solid = drawn(*window, letters="MMMM")
    assert len(solid.faces) == 2


def test_too_many_crossings_are_refused():
    count = 1500
    t = np.linspace(0, 1, count)
    across = np.stack([np.stack([t, 0 * t], 1), np.stack([1 - t, 0 * t + 1], 1)], 1)
    with pytest.raises(InputError, match="cross"):
        pattern_from_segments(across, ["M"] * count, np.zeros(count), snap=1e-9)


@pytest.mark.parametrize(
    ("pattern", "inner"),
    [(waterbomb(1, 1, 0.06), 1), (waterbomb(3, 2, 0.04), 10), (kresling(6, 0.03, 0.045, 0.8, 3), 10)],
)
def test_generated_patterns_fit(pattern, inner):
    """Waterbombs fold flat; the angles of a Kresling tube fit, and alternate sectors around it add up to 180°."""
    assert check_pattern(pattern) == []
    flat = can_fold_flat(pattern)
    assert len(flat) == inner
    assert all(flat.values())
    edge = int(np.flatnonzero(pattern.creases & pattern.inner_vertices[pattern.edges].any(axis=1))[0])
    letters, angle = pattern.assignment.copy(), pattern.angle.copy()
    letters[edge], angle[edge] = "V" if letters[edge] == "M" else "M", -angle[edge]
    found = check_pattern(replace(pattern, assignment=letters, angle=angle))
    assert found
    assert all(edge in finding.edges for finding in found)


def square_twist(turn: float):
    """A square twist that is turned by `turn` [degrees]: it folds flat, but facets bend on the way."""
    way = np.radians(45.0 + turn + 90.0 * np.arange(4))
    corner = 0.5 + 0.18 * np.stack([np.cos(way), np.sin(way)], axis=1)
    out = np.array([[1, 0], [0, 1], [-1, 0], [0, -1]])
    lines, letters = [], ""
    for k in range(4):
        lines.append((corner[k], corner[(k + 1) % 4]))
        letters += "M"
        for side in (k, (k + 1) % 4):
            goal = np.where(out[side] != 0, (out[side] + 1) / 2, corner[k])
            lines.append((corner[k], goal))
            sides = np.stack([corner[(k + 1) % 4], corner[k - 1]]) - corner[k]
            letters += "V" if (sides @ out[side]).max() > 1e-6 else "M"
    return drawn(*lines, letters=letters)


@pytest.mark.parametrize("turn", [20.0, 30.0])
def test_unfolded_and_folded_flat_is_no_fit(turn):
    """Paper without folds fits always, and a square twist that is shut: neither is near half of the angles."""
    pattern = square_twist(turn)
    assert len(pattern.faces) == 9
    assert check_pattern(pattern) == []
    for fold in (0.1, 0.5, 0.7):
        assert fold_angles(pattern, fold) is None
    assert np.abs(fold_angles(pattern, 1.0)[pattern.creases]) == pytest.approx(np.pi)


def test_drawing_errors_do_not_keep_a_pattern_from_folding():
    """No Miura-ori that somebody drew by hand folds with flat facets; one with errors of 0.03 mm nearly does."""
    exact = miura(4, 4, 0.02, 0.02, np.radians(60))
    noise = np.random.default_rng(3).normal(0.0, 3e-5, exact.vertices.shape)
    drawn_by_hand = replace(exact, vertices=exact.vertices + noise)
    assert fit_angles(drawn_by_hand, exact.targets(0.5)) is None
    angle = fold_angles(drawn_by_hand, 0.5)
    assert vertex_misfit(drawn_by_hand, angle)[1].max() < np.radians(0.3)
    zigzag = exact.creases & (exact.group == exact.group_names.index("zigzag"))
    straight = np.abs(angle[exact.creases & ~zigzag]).mean()
    assert straight == pytest.approx(2 * np.arctan(0.5 * np.tan(np.abs(angle[zigzag]).mean() / 2)), abs=np.radians(0.5))


def test_a_kink_does_not_keep_a_crease_from_folding():
    """A line that turns by 0.05° is straight, one that turns by 10° is curved, one with two angles does not fit."""
    for off, kinds in ((4e-4, set()), (0.09, {"curve"})):
        bent = drawn(((0.0, 0.5), (0.5, 0.5 + off)), ((0.5, 0.5 + off), (1.0, 0.5)), letters="MM")
        angle = fold_angles(bent, 0.5)
        assert np.degrees(angle[bent.creases]) == pytest.approx(90.0)
        assert {finding.kind for finding in check_pattern(bent, angle)} == kinds
    half = replace(bent, vertices=np.where(bent.vertices == 0.59, 0.5, bent.vertices))
    uneven = half.targets(0.5)
    uneven[np.flatnonzero(half.creases)[0]] *= 0.5
    assert [finding.kind for finding in check_pattern(half, uneven)] == ["fit"]
    assert np.ptp(fit_angles(half, uneven)[half.creases]) < 1e-6


def test_slits_are_told_once():
    pattern = drawn(((0.2, 0.3), (0.8, 0.3)), ((0.2, 0.6), (0.8, 0.6)), letters="CC")
    (finding,) = check_pattern(pattern)
    assert finding.kind == "slit"
    assert finding.text.startswith("2 edges")


def star(creases: int) -> CreasePattern:
    """A disk with creases at uneven angles from its middle."""
    angle = np.sort(np.random.default_rng(0).uniform(0.0, 2.0 * np.pi, creases))
    vertices = np.concatenate([[[0.0, 0.0]], 0.1 * np.stack([np.cos(angle), np.sin(angle)], axis=1)])
    spokes = [[0, k + 1] for k in range(creases)]
    rim = [[k + 1, (k + 1) % creases + 1] for k in range(creases)]
    return make_pattern(vertices, np.array(spokes + rim, np.int32), ["M", "V"] * (creases // 2) + ["B"] * creases)


def shaken_miura(cells: int) -> CreasePattern:
    """A Miura-ori whose vertices are off by a hundredth of a cell, so that it does not fold."""
    made = miura(cells, cells, 0.02, 0.02, np.radians(60.0))
    moved = made.vertices + np.random.default_rng(0).normal(0.0, 2e-4, made.vertices.shape)
    return make_pattern(moved, made.edges, made.assignment, made.angle)


@pytest.mark.slow
@pytest.mark.parametrize(("made", "most"), [(lambda: star(400), 60), (lambda: shaken_miura(39), 60)])
def test_large_patterns_take_few_attempts(made, most, monkeypatch):
    """The time goes into Newton steps: each of the former 600 of 3120 edges took a tenth of a second."""
    steps = []
    real = rigid._least_change
    monkeypatch.setattr(rigid, "_least_change", lambda *given: steps.append(1) or real(*given))
    pattern = made()
    angle = rigid.fold_angles(pattern, 1.0)
    check_pattern(pattern, pattern.targets() if angle is None else angle)
    assert len(steps) <= most


def test_a_large_pattern_is_followed_from_fold_to_fold():
    pattern = miura(20, 20, 0.01, 0.01, np.radians(70))
    assert rigid.is_large(pattern)
    folds = np.linspace(0.25, 0.5, 7)
    table = np.array(rigid.folding_angles(pattern, folds))
    assert max(vertex_misfit(pattern, angle)[1].max() for angle in table) < 1e-6
    assert np.abs(np.diff(table, axis=0)).max() < 0.3  # each from its own targets: up to 1.1
    assert np.array_equal(table[-1], fold_angles(pattern, 0.5))


def test_what_does_not_fold_at_the_end_is_not_tried_before(monkeypatch):
    tried: list[float] = []
    monkeypatch.setattr(rigid, "fold_angles", lambda pattern, fold: tried.append(fold))
    assert rigid.folding_angles(miura(3, 3, 0.02, 0.02, 1.0), np.linspace(0.0, 1.0, 49)) == [None] * 49
    assert tried == [1.0]
