"""Arrays as JSON can hold them, bit for bit."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt


def packed(array: npt.NDArray[Any]) -> dict[str, Any]:
    """What JSON has of an array of numbers."""
    kind = "<f8" if array.dtype.kind == "f" else "<i8"
    data = base64.b64encode(array.astype(kind).tobytes()).decode("ascii")
    return {"type": kind, "shape": list(array.shape), "base64": data}


def unpacked(body: Mapping[str, Any]) -> npt.NDArray[Any]:
    """The array that `packed` was given."""
    flat = np.frombuffer(base64.b64decode(body["base64"]), dtype=body["type"])
    return flat.reshape(body["shape"]).astype(body["type"][1:])
