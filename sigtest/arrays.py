"""Names for the arrays that travel between modules, and how JSON has them, bit for bit.

Axes are always in this order: M metrics, P pairs, S systems, R resamples, n units, k statistics.
Inside the kernel, sums lie as (k, S, R), so that the resamples of one statistic are contiguous.
"""

import base64
from collections.abc import Mapping
from typing import Annotated, Any, TypeAlias

import numpy as np
import numpy.typing as npt
from pydantic import PlainSerializer, PlainValidator


def packed(array: npt.NDArray[Any]) -> dict[str, Any]:
    """What JSON has of an array of numbers."""
    kind = "<f8" if array.dtype.kind == "f" else "<i8"
    data = base64.b64encode(array.astype(kind).tobytes()).decode("ascii")
    return {"type": kind, "shape": list(array.shape), "base64": data}


def unpacked(body: Mapping[str, Any]) -> npt.NDArray[Any]:
    """The array that `packed` took."""
    flat = np.frombuffer(base64.b64decode(body["base64"]), body["type"])
    return flat.reshape(body["shape"]).astype(body["type"][1:])


Array: TypeAlias = Annotated[
    npt.NDArray[np.float64], PlainValidator(unpacked), PlainSerializer(packed)
]
Counts: TypeAlias = Annotated[
    npt.NDArray[np.int64], PlainValidator(unpacked), PlainSerializer(packed)
]
Weights: TypeAlias = npt.NDArray[np.float32]
Flags: TypeAlias = npt.NDArray[np.bool_]
