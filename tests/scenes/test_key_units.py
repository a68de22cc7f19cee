"""Units of keys, as the schema declares them."""

import pytest

from crumple.scenes.key_units import key_unit


@pytest.mark.parametrize(
    ("key", "unit"),
    [
        ("sheets[0].material.thickness", "m"),
        ("sheets[0].material.stretch[1]", "N/m"),
        ("sheets[0].shape.width", "m"),
        ("environment.gravity[2]", "m/s²"),
        ("motions.press.keys[1].scale", ""),
        ("contact.friction", ""),
        ("sheets[0].name", ""),
        ("no.such.key", ""),
    ],
)
def test_units_are_those_of_the_schema(key, unit):
    assert key_unit(key) == unit
