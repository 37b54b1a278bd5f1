"""Names and segments of judgements against those of outputs."""

import pytest

from sigtest.errors import InputError
from sigtest.people.question import check_segments, match_systems


def test_numbers_and_campaigns_are_no_part_of_a_name():
    found = match_systems(
        ["Online-W.2", "wmt23.AIRC", "X.1", "plain.3"], ["AIRC", "X.1", "Online-W", "plain"]
    )
    assert found.outputs == {"Online-W.2": "Online-W", "wmt23.AIRC": "AIRC", "X.1": "X.1",
                           "plain.3": "plain"}  # fmt: skip


def test_aliases_and_human_translations():
    found = match_systems(
        ["Nemo.7", "A.1", "B.2", "HUMAN-C", "refA"], ["NVIDIA-NeMo", "A", "B"],
        {"Nemo.7": "NVIDIA-NeMo"},
    )  # fmt: skip
    assert found.outputs["Nemo.7"] == "NVIDIA-NeMo"
    assert found.references == ("HUMAN-C", "refA")


def test_unmatched_names_list_both_sides():
    both = r"only judged are Nemo\.7; not judged are NVIDIA-NeMo; name .* --alias FROM=TO"
    with pytest.raises(InputError, match=both):
        match_systems(["A", "B", "Nemo.7"], ["A", "B", "NVIDIA-NeMo"])


def test_names_that_one_side_alone_has_more_are_to_be_left_out():
    with pytest.raises(InputError, match=r"^Systems differ: not judged are late; leave them out"):
        match_systems(["A.1", "B.2", "C.3"], ["A", "B", "C", "late"])


def test_fewer_than_three_shared_are_refused():
    with pytest.raises(InputError, match="Only 2 systems"):
        match_systems(["A", "B", "HUMAN-A"], ["A", "B"])


def test_two_judged_systems_never_share_outputs():
    with pytest.raises(InputError, match=r"only judged are A\.2"):
        match_systems(["A.1", "A.2", "B", "C"], ["A", "B", "C"])


def test_segments_count_from_one_unless_one_is_zero():
    assert check_segments(["3", "1"], 3) == ()
    assert "count from 0" in check_segments(["2", "0"], 3)[0]


def test_ids_that_are_no_numbers_name_no_line():
    assert check_segments(["bn-hi-1_1", "bn-hi-1_2"], 1) == ()


@pytest.mark.parametrize(
    ("ids", "message"),
    [(["1", "4"], "Segment 4 was judged; the test set has 3"),
     (["0", "3"], "Segment 3 was judged"),
     (["2", "bn-hi-1_1"], "'bn-hi-1_1' is no line number, as 2")],
)  # fmt: skip
def test_segments_outside_the_test_set_are_refused(ids, message):
    with pytest.raises(InputError, match=message):
        check_segments(ids, 3)
