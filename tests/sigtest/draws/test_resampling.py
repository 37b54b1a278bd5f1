"""Draws and products against published vectors, plain loops and each other."""

import numpy as np
import pytest

from sigtest.draws import weights
from sigtest.draws.product import DistinctColumns, fixed_point
from sigtest.draws.weights import Words, bootstrap_counts, keys, swap_masks, words_plain


def philox_loop(counter: list[int], key: list[int]) -> list[int]:
    """Philox4x32-10 as the paper writes it, on Python integers."""
    c, k = list(counter), list(key)
    for _ in range(10):
        p0, p1 = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(p1 >> 32) ^ c[1] ^ k[0], p1 & 0xFFFFFFFF, (p0 >> 32) ^ c[3] ^ k[1], p0 & 0xFFFFFFFF]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c


@pytest.mark.parametrize(
    ("counter", "key", "expected"),
    [
        ([0] * 4, [0] * 2, [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
        ([0xFFFFFFFF] * 4, [0xFFFFFFFF] * 2, [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]),
        (
            [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344],
            [0xA4093822, 0x299F31D0],
            [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1],
        ),
    ],
)
def test_loop_gives_the_known_answers_of_random123(counter, key, expected):
    assert philox_loop(counter, key) == expected


def words_by_loop(seed: int, kind: int, resample: int, calls: int, stream: int = 0) -> Words:
    key = [seed & 0xFFFFFFFF, seed >> 32]
    rows = [philox_loop([j, resample, kind, stream], key) for j in range(calls)]
    return np.array(rows, dtype=np.uint32).T


@pytest.mark.parametrize("seed", [0, 1, 2**32 - 1, 2**32, 2**63 + 5, 2**64 - 1])
@pytest.mark.parametrize("resample", [0, 65_535, 65_536, 999_998, 2**32 - 1])
@pytest.mark.parametrize("stream", [0, 7])
def test_words_equal_the_loop(seed, resample, stream):
    expected = words_by_loop(seed, 1, resample, 7, stream)
    plain = words_plain(keys(seed), 1, np.array([resample], dtype=np.uint64), 7, stream)[0]
    compiled = np.empty((4, 7), dtype=np.uint32)
    weights.fill_words(keys(seed), 1, resample, stream, compiled)
    assert (plain == expected).all()
    assert (compiled == expected).all()


@pytest.mark.parametrize("units", [1, 2, 3, 4, 5, 31, 32, 33, 127, 128, 129, 1000, 4500])
def test_counts_and_masks_equal_plain_loops(units):
    counts = bootstrap_counts(7, 3, 6, units)
    masks = swap_masks(7, 3, 6, units)
    for row, resample in enumerate(range(3, 6)):
        drawn = words_by_loop(7, weights.COUNTS, resample, -(-units // 4)).T.ravel()[:units]
        expected = [0] * units
        for word in drawn.tolist():
            expected[word * units >> 32] += 1
        assert counts[row].tolist() == expected
        bits = words_by_loop(7, weights.SWAPS, resample, -(-units // 128)).T.ravel().tolist()
        assert masks[row].tolist() == [bits[i // 32] >> (i % 32) & 1 for i in range(units)]


def test_compiled_draws_equal_numpy_draws(monkeypatch):
    compiled = bootstrap_counts(9, 5, 40, 321), swap_masks(9, 5, 40, 321)
    monkeypatch.setattr(weights, "COMPILED", False)
    assert (bootstrap_counts(9, 5, 40, 321) == compiled[0]).all()
    assert (swap_masks(9, 5, 40, 321) == compiled[1]).all()


def test_more_resamples_keep_the_first_ones():
    assert (bootstrap_counts(1, 0, 50, 99)[10:20] == bootstrap_counts(1, 10, 20, 99)).all()
    assert (swap_masks(1, 0, 50, 99)[10:20] == swap_masks(1, 10, 20, 99)).all()


def test_bits_of_the_seed_and_streams_change_all_draws():
    for draw in (bootstrap_counts, swap_masks):
        made = {
            draw(seed, 0, 4, 300, stream).tobytes()
            for seed in (5, 5 + 2**31, 5 + 2**32, 5 + 2**63)
            for stream in (0, 1, 2)
        }
        assert len(made) == 12


def test_product_equals_sums_in_exact_arithmetic():
    rng = np.random.default_rng(0)
    tables = [
        rng.integers(0, 100, (3, 50, 4)).astype(float),
        rng.integers(0, 2**30, (3, 50, 2)).astype(float),
        np.stack([fixed_point(rng.normal(size=(50, 1))) for _ in range(3)]),
    ]
    drawn = bootstrap_counts(1, 0, 9, 50)
    sums = DistinctColumns(tables).sums(drawn)
    for table, summed in zip(tables, sums, strict=True):
        for s in range(3):
            for j in range(table.shape[2]):
                for r in range(9):
                    # integers scaled by 2**52 add up without rounding
                    scaled = [
                        int(x * 2.0**52) * int(w)
                        for x, w in zip(table[s, :, j], drawn[r], strict=True)
                    ]
                    assert summed[j, s, r] == sum(scaled) / 2**52


def test_equal_columns_are_kept_once():
    table = np.arange(40.0).reshape(1, 20, 2)
    columns = DistinctColumns([np.concatenate([table, table]), table.repeat(2, axis=0)])
    assert columns.width == 2


def test_columns_that_begin_or_end_alike_are_told_apart():
    first = np.arange(40.0)
    columns = [first, np.r_[first[:-1], 7.0], np.r_[7.0, first[1:]], first]
    (sums,) = DistinctColumns([np.stack(columns)[:, :, None]]).sums(
        np.ones((1, 40), dtype=np.float32)
    )
    assert sums[0, :, 0].tolist() == [780.0, 748.0, 787.0, 780.0]


def test_fixed_point_keeps_integers_and_is_finer_than_rounding():
    rng = np.random.default_rng(1)
    statistics = np.stack([rng.integers(0, 9, 100), rng.normal(size=100) * 1e-6], axis=1)
    rounded = fixed_point(statistics)
    assert (rounded[:, 0] == statistics[:, 0]).all()
    assert np.abs(rounded[:, 1] - statistics[:, 1]).max() < 1e-6 * 100 * 2**-50
    order = rng.permutation(100)
    assert rounded[:, 1].sum() == rounded[order, 1].sum() == np.cumsum(rounded[order, 1])[-1]


def test_large_whole_numbers_are_rounded_so_that_sums_stay_exact():
    column = np.random.default_rng(2).integers(0, 2**52, 300).astype(float)[:, None]
    rounded = fixed_point(column)[:, 0]
    order = np.random.default_rng(3).permutation(300)
    assert rounded.sum() == np.cumsum(rounded[order])[-1] == sum(int(x) for x in rounded)
