"""SVG drawings: colours, opacity, shapes, transforms, styles, units, and refusal of what XML can do."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from crumple.patterns import box, kresling, miura, read_pattern, read_svg, waterbomb, write_svg
from crumple.patterns.svg_path import bezier, parse_path, parse_transform
from crumple.patterns.svg_style import assignment_of, parse_colour
from crumple.runtime.errors import InputError

HEAD = '<svg xmlns="http://www.w3.org/2000/svg" width="100mm" height="50mm" viewBox="0 0 100 50">'
FRAME = '<rect width="100" height="50" stroke="black" fill="none"/>'


def drawing(tmp_path: Path, body: str, head: str = HEAD) -> Path:
    path = tmp_path / "x.svg"
    path.write_text(f"{head}{FRAME}{body}</svg>")
    return path


def crease(tmp_path: Path, attributes: str, body: str = "") -> tuple[str, float]:
    """Assignment and angle [degrees] of a line down the middle with some attributes."""
    pattern = read_svg(drawing(tmp_path, f'{body}<line x1="50" y1="0" x2="50" y2="50" {attributes}/>'))
    inner = np.flatnonzero(pattern.assignment != "B")
    assert len(inner) == 1
    return str(pattern.assignment[inner[0]]), float(np.degrees(pattern.angle[inner[0]]))


@pytest.mark.parametrize(
    ("attributes", "letter", "angle"),
    [
        ('stroke="red"', "M", 180),
        ('stroke="#f00" opacity="0.5"', "M", 90),
        ('stroke="#0000FF" stroke-opacity="0.25"', "V", -45),
        ('stroke="rgb(0, 0, 255)" opacity="50%" stroke-opacity="0.5"', "V", -45),
        ('style="stroke:#ed1c24;stroke-opacity:.75"', "M", 135),
        ('stroke="green"', "C", 0),
        ('stroke="#00ff00"', "C", 0),
        ('stroke="yellow"', "F", 0),
    ],
)
def test_colours(attributes, letter, angle, tmp_path):
    assert crease(tmp_path, attributes) == (letter, pytest.approx(angle))


def test_free_crease(tmp_path):
    letter, angle = crease(tmp_path, 'stroke="magenta"')
    assert letter == "U"
    assert np.isnan(angle)


def test_style_sheet_and_groups(tmp_path):
    sheet = "<style>/* folds */ .a, line.b { stroke: blue; stroke-opacity: 0.5 } #c{stroke:red}</style>"
    assert crease(tmp_path, 'class="x a"', sheet) == ("V", pytest.approx(-90))
    assert crease(tmp_path, 'class="b"', sheet) == ("V", pytest.approx(-90))
    assert crease(tmp_path, 'class="a" id="c"', sheet) == ("M", pytest.approx(90))
    body = '<g stroke="red" opacity="0.5"><g opacity="0.5"><path d="M50 0V50"/></g></g>'
    pattern = read_svg(drawing(tmp_path, body))
    assert np.degrees(pattern.angle.max()) == pytest.approx(45)


@pytest.mark.parametrize(
    "shape",
    [
        '<line x1="50" y1="0" x2="50" y2="50"/>',
        '<polyline points="50,0 50,20 50 50"/>',
        '<path d="M50 0 L50 50"/>',
        '<path d="m 50,0 v50"/>',
        '<path d="M50,0l0,25 0 25"/>',
        '<path d="M50 0C50 10 50 40 50 50"/>',
        '<line x1="0" y1="0" x2="50" y2="0" transform="translate(50) rotate(90)"/>',
        '<line x1="0" y1="0" x2="0" y2="1" transform="matrix(50 0 0 50 50 0)"/>',
        '<g transform="scale(2)"><line x1="25" y1="0" x2="25" y2="25"/></g>',
    ],
)
def test_shapes_and_transforms(shape, tmp_path):
    pattern = read_svg(drawing(tmp_path, f'<g stroke="red">{shape}</g>'))
    assert len(pattern.faces) == 2
    folds = pattern.edges[pattern.creases]
    assert pattern.vertices[folds].reshape(-1, 2)[:, 0] == pytest.approx(0.05)
    assert pattern.extent == pytest.approx([0.1, 0.05])


@pytest.mark.parametrize(
    ("head", "width"),
    [
        (HEAD, 0.1),
        (HEAD.replace("100mm", "10cm").replace("50mm", "5cm"), 0.1),
        (HEAD.replace("100mm", "2in").replace("50mm", "1in"), 0.0508),
        (HEAD.replace("100mm", "100").replace("50mm", "50"), 100 * 0.0254 / 96),
        ('<svg width="100%" viewBox="0 0 100 50">', 100 * 0.0254 / 96),
        ("<svg>", 100 * 0.0254 / 96),
    ],
)
def test_units(head, width, tmp_path):
    path = drawing(tmp_path, "", head)
    assert read_svg(path).extent.max() == pytest.approx(width)
    assert read_svg(path, width=0.3).extent.max() == pytest.approx(0.3)
    assert read_svg(path, unit=0.01).extent.max() == pytest.approx(1.0)


def test_drawings_face_the_viewer(tmp_path):
    pattern = read_svg(drawing(tmp_path, '<line x1="0" y1="10" x2="100" y2="10" stroke="red"/>'))
    assert pattern.vertices[pattern.edges[pattern.creases]][..., 1] == pytest.approx(0.04)


@pytest.mark.parametrize(
    "pattern",
    [miura(3, 3, 0.02, 0.02, 1.0, 2.0), waterbomb(2, 2, 0.04), kresling(5, 0.03, 0.03, 0.5), box(0.1, 0.06, 0.1)],
)
def test_round_trip(pattern, tmp_path):
    write_svg(tmp_path / "x.svg", pattern)
    again = read_svg(tmp_path / "x.svg")
    assert (len(again.vertices), again.edge_count, len(again.faces)) == (
        len(pattern.vertices),
        pattern.edge_count,
        len(pattern.faces),
    )
    assert np.sort(again.angle) == pytest.approx(np.sort(pattern.angle), abs=1e-5)
    assert again.extent == pytest.approx(pattern.extent, rel=1e-6)


def test_arcs_and_curves():
    (line,) = parse_path("M1 0A1 1 0 0 1-1 0", "x")
    assert np.hypot(*np.array(line).T) == pytest.approx(1.0)
    assert max(y for _, y in line) == pytest.approx(1.0)
    assert parse_path("M1 0a1 1 0 01-2 0", "x")[0] == pytest.approx(np.array(line))
    (other,) = parse_path("M1 0A1 1 0 0 0-1 0", "x")
    assert min(y for _, y in other) == pytest.approx(-1.0)
    curve = bezier([(0, 0), (0, 1), (1, 1)])
    assert curve[len(curve) // 2 - 1] == pytest.approx((0.25, 0.75))
    smooth = parse_path("M0 0C0 1 1 1 1 0S2-1 2 0", "x")[0]
    assert min(y for _, y in smooth) == pytest.approx(-0.75, abs=0.01)
    closed = parse_path("M0 0H1V1ZL5 5", "x")
    assert closed[0][-1] == (0, 0)
    assert closed[1] == [(0, 0), (5, 5)]


def test_transform_order():
    assert parse_transform("translate(1,2) scale(3)", "x") == pytest.approx(np.array([[3, 0, 1], [0, 3, 2]]))
    assert parse_transform("rotate(90 1 0)", "x") @ [1, 1, 1] == pytest.approx([0, 0], abs=1e-12)


def test_what_is_left_out_is_told(tmp_path):
    body = '<text>hello</text><line x1="1" y1="1" x2="9" y2="9" stroke="#777"/><defs><path d="broken"/></defs>'
    notes = read_svg(drawing(tmp_path, body)).notes
    assert len(notes) == 2
    assert "#777" in notes[1]


@pytest.mark.parametrize(
    "text",
    [
        '<!DOCTYPE svg [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><svg>&b;</svg>',
        '<!DOCTYPE svg [<!ENTITY a SYSTEM "file:///etc/passwd">]><svg>&a;</svg>',
        "<svg>" * 1000 + "</svg>" * 1000,
        "<svg><g></svg>",
        "",
        "hello",
        "<html/>",
        "<svg/>",
        f'{HEAD}<line x1="a" stroke="red"/></svg>',
        f'{HEAD}<path d="L5 5" stroke="red"/></svg>',
        f'{HEAD}<path d="M5" stroke="red"/></svg>',
        f'{HEAD}<path d="M5 5 R 3 3" stroke="red"/></svg>',
        f'{HEAD}<polyline points="1 2 3" stroke="red"/></svg>',
        f'{HEAD}<g transform="spin(3)">{FRAME}</g></svg>',
        f'{HEAD}<line x2="1e999" stroke="red"/></svg>',
        f'<svg viewBox="0 0 0 0">{FRAME}</svg>',
        f'<svg width="-3mm" viewBox="0 0 1 1">{FRAME}</svg>',
    ],
)
def test_refused(text, tmp_path):
    path = tmp_path / "x.svg"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        read_svg(path)
    assert str(caught.value).startswith("x.svg")
    assert "\n" not in str(caught.value)


def test_plain_doctype_is_harmless(tmp_path):
    path = tmp_path / "x.svg"
    path.write_text(
        f'<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://nowhere.invalid/svg.dtd">{HEAD}{FRAME}</svg>'
    )
    assert len(read_svg(path).faces) == 1


def counted(pattern) -> dict[str, int]:
    letters, count = np.unique(pattern.assignment, return_counts=True)
    return dict(zip(letters.tolist(), count.tolist(), strict=True))


def test_clones_are_drawn_where_they_are_used(tmp_path):
    """What Inkscape writes for clones: in definitions or elsewhere, with a shift, a style or a transform."""
    body = (
        '<defs><path id="v" d="M0 0V50"/><g id="pair"><use href="#v" x="5"/><use href="#v" x="10"/></g></defs>'
        '<symbol id="s"><path d="M0 0V50"/></symbol>'
        '<use xmlns:xlink="x" xlink:href="#v" x="20" stroke="red" stroke-opacity="0.5"/>'
        '<use href="#v" transform="translate(40 0)" stroke="blue"/>'
        '<use href="#pair" x="50" stroke="red"/><use href="#s" x="80" stroke="lime"/><use href="#nothing"/>'
    )
    pattern = read_svg(drawing(tmp_path, body))
    inner = pattern.assignment != "B"
    x = pattern.vertices[pattern.edges[inner, 0], 0]
    assert np.sort(x) == pytest.approx([0.02, 0.04, 0.055, 0.06, 0.08])
    assert "".join(pattern.assignment[inner][np.argsort(x)]) == "MVMMC"
    assert [note for note in pattern.notes if "use" in note] == ["1 elements <use> of what is not in the file left out"]


@pytest.mark.parametrize("body", ['<g id="a"><use href="#a"/></g>', '<use id="b" href="#c"/><use id="c" href="#b"/>'])
def test_clones_of_themselves_are_refused(body, tmp_path):
    with pytest.raises(InputError, match="without an end"):
        read_svg(drawing(tmp_path, body))


def test_lengths_with_units_and_shares(tmp_path):
    """svgwrite and LaTeX write lengths; in a drawing without viewBox a unit is a pixel of 1/96 inch."""
    (tmp_path / "x.svg").write_text(
        '<svg width="120mm" height="60mm"><rect width="120mm" height="6cm" stroke="black"/>'
        '<line x1="1in" x2="1in" y1="0" y2="100%" stroke="red"/></svg>'
    )
    pattern = read_svg(tmp_path / "x.svg")
    assert pattern.extent == pytest.approx([0.12, 0.06])
    assert pattern.vertices[pattern.edges[pattern.creases]][..., 0] == pytest.approx(0.0254)
    with pytest.raises(InputError, match=r"line 1: rect\.width = '3ell'"):
        read_svg(drawing(tmp_path, '<rect width="3ell" height="1" stroke="red"/>'))


@pytest.mark.parametrize(
    ("colour", "letter"),
    [("#2E3192", "V"), ("#00A651", "C"), ("#EC008C", "U"), ("#FFF200", "F"), ("#231F20", "B"), ("navy", None),
     ("#8b0000", "M"), ("#f7941d", None), ("#00aeef", None), ("#e0c0c0", None)],
)  # fmt: skip
def test_print_colours(colour, letter):
    """The colours that Illustrator has for print; orange, cyan and pale shades mean nothing."""
    known = parse_colour(colour)
    assert (None if known is None else assignment_of(known)) == letter


def test_hidden_layers(tmp_path):
    body = (
        '<g visibility="hidden"><path d="M20 0V50" stroke="red"/><path visibility="visible" d="M40 0V50" stroke="red"/>'
        '</g><g style="display:none"><path visibility="visible" d="M60 0V50" stroke="red"/></g>'
    )
    assert counted(read_svg(drawing(tmp_path, body)))["M"] == 1


def test_layers_are_groups(tmp_path):
    body = (
        '<g xmlns:inkscape="i" inkscape:label="lid" id="layer1"><g><path d="M20 0V50" stroke="red"/></g></g>'
        '<g id="walls"><path d="M40 0V50" stroke="red"/></g>'
    )
    pattern = read_svg(drawing(tmp_path, body))
    assert pattern.group_names == ("lid", "walls")
    x = pattern.vertices[pattern.edges[:, 0], 0]
    for name, at in (("lid", 0.02), ("walls", 0.04)):
        own = pattern.group == pattern.group_names.index(name)
        assert x[own & (pattern.assignment == "M")] == pytest.approx(at)
    assert (pattern.group[pattern.assignment == "B"] == -1).all()


def test_small_curves_stay(tmp_path):
    """A punched hole and rounded corners of 2 mm in a sheet of 300 mm; points 0.3 mm apart are joined."""
    body = (
        '<rect x="5" y="5" width="290" height="190" rx="2" stroke="#000"/>'
        '<path stroke="black" d="M150 20a2 2 0 0 1 4 0a2 2 0 0 1 -4 0z"/><circle cx="9" cy="9" r="0.1" stroke="black"/>'
    )
    (tmp_path / "x.svg").write_text(f'<svg width="300mm" height="200mm" viewBox="0 0 300 200">{body}</svg>')
    pattern = read_svg(tmp_path / "x.svg")
    (rings,) = pattern.facets.rings
    assert len(rings) == 2
    hole = pattern.vertices[rings[1]] - np.array([0.147, 0.175])
    assert 5 <= len(hole) <= 16
    assert np.hypot(*hole.T) == pytest.approx(0.002, rel=0.05)
    assert 8 < len(rings[0]) <= 40
    assert any("smaller than" in note for note in pattern.notes)


def test_black_lines_with_paper_on_both_sides_are_creases_and_no_cuts(tmp_path):
    """A square of nine cells with black inner lines and one valley; and a frame, whose black inside is a hole."""
    lines = [f"M0 {k} L3 {k} M{k} 0 L{k} 3" for k in range(4)]
    outline = "".join(f'<path d="{line}" stroke="black"/>' for line in lines)
    text = f'<svg xmlns="http://www.w3.org/2000/svg">{outline}<path d="M1 1 L2 2" stroke="blue"/></svg>'
    (tmp_path / "net.svg").write_text(text)
    pattern = read_pattern(tmp_path / "net.svg")
    assert len(pattern.faces) == 10
    assert (pattern.facets.edge_faces[pattern.assignment == "B"] >= 0).sum(axis=1).max() == 1
    assert np.count_nonzero(pattern.assignment == "U") == 12
    assert any("12 lines that are drawn as boundary have paper on both sides" in note for note in pattern.notes)
    frame = '<path d="M0 0 H3 V3 H0 Z M1 1 H2 V2 H1 Z" stroke="black" fill="none"/>'
    (tmp_path / "frame.svg").write_text(f'<svg xmlns="http://www.w3.org/2000/svg">{frame}</svg>')
    whole = read_pattern(tmp_path / "frame.svg")
    assert set(whole.assignment) == {"B"}
    assert len(whole.faces) == 1
