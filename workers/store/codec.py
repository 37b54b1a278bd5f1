"""Bytes of what is stored: exact, compact, and safe to read, also where an attacker wrote them."""

import hashlib
import io
import json
import zlib
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from typing import Any

import numpy as np
import numpy.typing as npt

from sigtest.arrays import Array
from sigtest.draws.sample import Block

# most statistics are small counts; a narrow type that loses nothing makes them cheap to move
NARROW = (np.uint8, np.uint16, np.int32)
FAST = 1
THREADS = 4  # compression lets other threads run
WORTH_THREADS = 1 << 20  # bytes to compress
SEAL_BYTES = 16
BLOCK_ARRAYS = [field.name for field in fields(Block) if field.name not in {"start", "stop"}]


def decoded(value: bytes | str) -> str:
    """Text that the server gave."""
    return value.decode() if isinstance(value, bytes) else value


def pack_json(value: object) -> bytes:
    """Compress a JSON value; text that is no valid Unicode comes back as it was."""
    return pack_bytes(spell_json(value))


def spell_json(value: object) -> bytes:
    """A JSON value, ready to be compressed."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass")


def pack_fields(contents: Mapping[str, Any]) -> dict[str, bytes]:
    """Contents by field, compressed; those of a large question side by side."""
    spelled = {name: spell_json(value) for name, value in contents.items()}
    if sum(map(len, spelled.values())) < WORTH_THREADS:
        return {name: pack_bytes(data) for name, data in spelled.items()}
    with ThreadPoolExecutor(THREADS) as pool:
        return dict(zip(spelled, pool.map(pack_bytes, spelled.values()), strict=True))


def unpack_json(data: bytes) -> Any:
    """The value that `pack_json` wrote."""
    return json.loads(zlib.decompress(data).decode("utf-8", "surrogatepass"))


def pack_bytes(data: bytes) -> bytes:
    """Compress bytes."""
    return zlib.compress(data, FAST)


def unpack_bytes(data: bytes) -> bytes:
    """The bytes that `pack_bytes` compressed."""
    return zlib.decompress(data)


def pack_statistics(table: Array) -> bytes:
    """(n, k) statistics, in the narrowest type that gives the same bits back."""
    with np.errstate(invalid="ignore"):
        for kind in NARROW:
            narrow = table.astype(kind)
            if narrow.astype(float).tobytes() == table.tobytes():  # tells -0.0 from 0.0
                return _save(narrow)
    return _save(table)


def unpack_statistics(data: bytes) -> Array | None:
    """The (n, k) statistics that `pack_statistics` wrote; nothing where the bytes are damaged."""
    try:
        return _load(io.BytesIO(data)).astype(float)
    except ValueError:
        return None


def pack_blocks(blocks: Sequence[Block]) -> bytes:
    """All arrays of all blocks; the blocks are of the same resamples."""
    return _save(*(getattr(block, name) for block in blocks for name in BLOCK_ARRAYS))


def unpack_blocks(start: int, stop: int, data: bytes) -> tuple[Block, ...]:
    """The blocks that `pack_blocks` wrote."""
    stream = io.BytesIO(data)
    blocks = []
    while stream.tell() < len(data):
        arrays = {name: _load(stream) for name in BLOCK_ARRAYS}
        blocks.append(Block(start, stop, **arrays))
    return tuple(blocks)


def pack_values(observed: float, values: Array) -> bytes:
    """The numbers of a distribution."""
    return _save(np.array([observed]), values)


def unpack_values(data: bytes) -> tuple[float, Array] | None:
    """The numbers that `pack_values` wrote; nothing where the bytes are damaged."""
    stream = io.BytesIO(data)
    try:
        return float(_load(stream)[0]), _load(stream).astype(float)
    except (ValueError, IndexError):
        return None


def seal(name: str, data: bytes) -> bytes:
    """Bytes that `unseal` knows again under the same name."""
    return _seal_of(name, data) + data


def unseal(name: str, sealed: bytes) -> bytes | None:
    """The bytes that `seal` got; nothing where any of them, or the name, is another."""
    data = sealed[SEAL_BYTES:]
    return data if sealed[:SEAL_BYTES] == _seal_of(name, data) else None


def _seal_of(name: str, data: bytes) -> bytes:
    hashed = hashlib.blake2b(name.encode(), digest_size=SEAL_BYTES)
    hashed.update(data)
    return hashed.digest()


def _save(*arrays: npt.NDArray[Any]) -> bytes:
    stream = io.BytesIO()
    for array in arrays:
        np.save(stream, array, allow_pickle=False)
    return stream.getvalue()


def _load(stream: io.BytesIO) -> npt.NDArray[Any]:
    # not np.load, which takes archives, too
    loaded: npt.NDArray[Any] = np.lib.format.read_array(stream, allow_pickle=False)
    return loaded
