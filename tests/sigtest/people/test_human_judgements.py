"""Columns of judgements: names, groups, storage."""

import numpy as np

from sigtest.files.judgements import JudgedFile
from sigtest.people.judgements import FileRows, Names, groups


def test_names_keep_their_order_and_unknown_ones_have_none():
    column = Names.of(["b", None, "a", "b"])
    assert column.names == ("b", "a")
    assert column.codes.tolist() == [0, -1, 1, 0]
    assert [column.at(i) for i in range(4)] == ["b", None, "a", "b"]


def test_taking_rows_forgets_names_that_no_longer_occur():
    taken = Names.of(["b", None, "a", "b"])[np.array([False, True, True, False])]
    assert taken.names == ("a",)
    assert taken.codes.tolist() == [-1, 0]


def test_files_below_each_other_share_names():
    files = [JudgedFile("one", "columns", [2, 3], {"system": ["x", "y"]}),
             JudgedFile("two", "columns", [2], {}),
             JudgedFile("three", "columns", [2, 5], {"system": ["z", "x"]})]  # fmt: skip
    rows = FileRows(files)
    whole = rows.names("system", len)
    assert whole.names == ("x", "y", "z")
    assert whole.codes.tolist() == [0, 1, -1, 2, 0]
    assert str(rows.refused(4, "it is odd", "system")) == "three, line 5: it is odd."


def test_groups_number_combinations_in_increasing_order():
    place, first = groups(np.array([1, -1, 1, 0]), np.array([5, 5, 5, 2]))
    assert place.tolist() == [2, 0, 2, 1]
    assert first.tolist() == [1, 3, 0]


def test_groups_of_many_large_columns_do_not_overflow():
    rng = np.random.default_rng(1)
    columns = [rng.integers(0, 2, 60) * (10**9 + k) for k in range(7)]
    place, first = groups(*columns)
    rows = list(zip(*(column.tolist() for column in columns), strict=True))
    assert len(first) == len(set(rows))
    assert all((rows[i] == rows[j]) == (place[i] == place[j]) for i in range(60) for j in range(60))
    large = np.full(2, 2**32 - 2)  # twice 32 bits to the left, and the first column is gone
    assert groups(np.array([0, 1]), large, large)[0].tolist() == [0, 1]
