"""What is stored comes back bit for bit."""

import io

import numpy as np
import pytest
from service import example

from sigtest.draws.sample import Block, Sample
from sigtest.engine import measure
from workers.store import codec


@pytest.mark.parametrize(
    ("table", "most"),
    [
        (np.arange(600.0).reshape(200, 3) % 256, 1),
        (np.arange(600.0).reshape(200, 3) * 100, 2),
        (np.arange(600.0).reshape(200, 3) - 300, 4),
        (np.arange(600.0).reshape(200, 3) / 3, 8),
        (np.full((200, 3), -0.0), 8),
        (np.full((200, 3), 1e300), 8),
        (np.asfortranarray(np.arange(600.0).reshape(200, 3)), 2),
    ],
)
def test_statistics_are_narrow_and_exact(table, most):
    data = codec.pack_statistics(table)
    assert len(data) <= 128 + most * table.size
    back = codec.unpack_statistics(data)
    assert back is not None
    assert back.dtype == np.float64
    assert back.tobytes() == table.tobytes()


@pytest.mark.parametrize("correction", ["holm", "tukey"])
def test_block_comes_back(correction):
    comparison = example(correction=correction)
    metric = comparison.recipe.metrics[0]
    tables = [
        measure(comparison.entries[0].testset, system, metric)
        for system in comparison.entries[0].systems
    ]
    block = Sample(comparison.plan.parts[0], [np.stack(tables)]).block(3, 40)
    (back,) = codec.unpack_blocks(3, 40, codec.pack_blocks([block]))
    assert (back.start, back.stop) == (3, 40)
    for name in Block.__dataclass_fields__:
        assert np.array_equal(getattr(back, name), getattr(block, name))


def test_json_comes_back():
    value = {"a": [None, 1, 0.1, "é \u2028 \x85"], "b": {"c": 2**53}}
    assert codec.unpack_json(codec.pack_json(value)) == value


def test_pickles_are_refused():
    stream = io.BytesIO()
    np.save(stream, np.array([object()]), allow_pickle=True)
    assert codec.unpack_statistics(stream.getvalue()) is None
    with pytest.raises(ValueError, match=r"pickle|Object arrays"):
        codec.unpack_blocks(0, 1, stream.getvalue())


def test_damaged_statistics_are_none():
    whole = codec.pack_statistics(np.arange(600.0).reshape(200, 3))
    with_text = io.BytesIO()
    np.save(with_text, np.array([["no number"]]))
    archive = io.BytesIO()
    np.savez(archive, table=np.zeros((2, 2)))
    damaged = [b"", b"no array", whole[:60], whole[:-1], b"PK\x03\x04", with_text.getvalue()]
    for data in [*damaged, archive.getvalue()]:
        assert codec.unpack_statistics(data) is None
