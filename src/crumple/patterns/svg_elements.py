"""The elements of an SVG file in order, read without entities; what `use` refers to is copied to where it is used."""

from __future__ import annotations

import errno
from dataclasses import dataclass, replace
from pathlib import Path
from xml.parsers import expat

from crumple.runtime.errors import InputError
from crumple.runtime.reading import read_regular

LARGEST_FILE = 20_000_000
"""Larger files are refused before they are read [bytes]."""
MOST_ELEMENTS = 200_000
DEEPEST = 200
"""Nesting of elements."""
LOST = "use of nothing here"
"""The tag of a `use` that refers to nothing in its file."""


@dataclass
class Element:
    """An element of a drawing; `parent` is its number in the list of all, and smaller than its own."""

    tag: str
    attributes: dict[str, str]
    parent: int
    line: int


def parse_elements(path: Path, name: str) -> tuple[list[Element], str]:
    """All elements of an XML file in order, and its style sheets. Entities and inner declarations are refused."""
    try:
        data = read_regular(path, LARGEST_FILE)
    except OSError as error:
        if error.errno == errno.EFBIG:
            raise InputError(name, f"is larger than {LARGEST_FILE // 10**6} MB") from None
        raise InputError(name, f"cannot be read: {error.strerror or error}") from None
    elements: list[Element] = []
    open_elements: list[int] = []
    sheet: list[str] = []
    parser = expat.ParserCreate()

    def start(tag: str, attributes: dict[str, str]) -> None:
        if len(elements) >= MOST_ELEMENTS or len(open_elements) >= DEEPEST:
            raise InputError(name, f"has more than {MOST_ELEMENTS} elements, or more than {DEEPEST} within each other")
        parent = open_elements[-1] if open_elements else -1
        open_elements.append(len(elements))
        elements.append(Element(tag.rpartition(":")[2].lower(), attributes, parent, parser.CurrentLineNumber))

    def text(characters: str) -> None:
        if open_elements and elements[open_elements[-1]].tag == "style":
            sheet.append(characters)

    def refuse(*_: object) -> int:
        raise InputError(
            f"{name}: line {parser.CurrentLineNumber}", "declares entities, which are not read; remove them"
        )

    def doctype(_name: str, _system: str | None, _public: str | None, inner: int) -> None:
        if inner:
            refuse()

    parser.StartElementHandler, parser.EndElementHandler = start, lambda _tag: open_elements.pop()
    parser.CharacterDataHandler, parser.StartDoctypeDeclHandler = text, doctype
    parser.EntityDeclHandler = parser.ExternalEntityRefHandler = refuse
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        reason = expat.errors.messages.get(error.code, str(error))
        raise InputError(f"{name}: line {error.lineno}", f"is no XML: {reason}") from None
    except (ValueError, LookupError) as error:  # an encoding that Python does not know, or cannot follow
        raise InputError(name, f"is no XML that can be read: {' '.join(str(error).split())[:100]}") from None
    return _with_copies(elements, name), "".join(sheet)


def _with_copies(elements: list[Element], name: str) -> list[Element]:
    """All elements, with copies of what each `use` refers to below it; a `symbol` that is used becomes a group."""
    children: dict[int, list[int]] = {}
    first: dict[str, int] = {}
    for number, element in enumerate(elements):
        children.setdefault(element.parent, []).append(number)
        first.setdefault(element.attributes.get("id", ""), number)
    copies, depth = list(elements), [0] * len(elements)
    for number, use in enumerate(copies):  # which grows on the way
        if use.tag != "use":
            continue
        target = first.get(_reference(use)) if _reference(use) else None
        if target is None:
            copies[number] = replace(use, tag=LOST)
        waiting = [] if target is None else [(target, number)]
        while waiting:
            original, parent = waiting.pop()
            if len(copies) >= MOST_ELEMENTS or depth[parent] >= DEEPEST:
                raise InputError(f"{name}: line {use.line}", "uses elements that use each other without an end")
            element = elements[original]
            tag = "g" if element.tag == "symbol" else element.tag
            waiting += [(child, len(copies)) for child in reversed(children.get(original, []))]
            copies.append(Element(tag, element.attributes, parent, element.line))
            depth.append(depth[parent] + 1)
    return copies


def _reference(use: Element) -> str:
    """The name of the element in this file that a `use` refers to, else nothing."""
    text = use.attributes.get("href", use.attributes.get("xlink:href", ""))
    return text[1:] if text.startswith("#") else ""
