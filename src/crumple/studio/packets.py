"""Named arrays and a few plain values in one message, which a browser reads without copying.

"CRPL", u32 length of the head, the head as JSON padded with spaces to a multiple of 4 bytes, then the arrays in the
order in which the head names them, each padded to a multiple of 4. Everything is little-endian. The head has the
plain values and `arrays`: a list of name, type ("f4" or "u4") and shape.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np

from crumple.recording.log import plain

MAGIC = b"CRPL"
TYPES = {"f": "<f4", "i": "<u4", "u": "<u4"}
"""How numbers travel, by their kind: single precision is enough to be looked at."""


def encode_packet(values: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> bytes:
    """The message with these plain `values` and `arrays` (real or non-negative whole numbers)."""
    sent = {name: np.ascontiguousarray(array, TYPES[array.dtype.kind]) for name, array in arrays.items()}
    listed = [[name, array.dtype.str[1:], array.shape] for name, array in sent.items()]
    head = json.dumps({**plain(values), "arrays": listed}, allow_nan=False).encode()
    head += b" " * (-len(head) % 4)
    return b"".join([MAGIC, struct.pack("<I", len(head)), head, *(array.tobytes() for array in sent.values())])
