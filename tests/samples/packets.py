"""Reads the messages of the studio as its page does."""

from __future__ import annotations

import json
import struct

import numpy as np

from crumple.studio.packets import MAGIC


def decode_packet(message):
    """The plain values and the arrays of a message; ValueError when it is not one."""
    if message[:4] != MAGIC:
        raise ValueError("no packet of the studio")
    (length,) = struct.unpack_from("<I", message, 4)
    values = json.loads(message[8 : 8 + length])
    arrays, place = {}, 8 + length
    for name, kind, shape in values.pop("arrays"):
        count = int(np.prod(shape, dtype=np.int64))
        arrays[name] = np.frombuffer(message, f"<{kind}", count, place).reshape(shape)
        place += 4 * count
    return values, arrays
