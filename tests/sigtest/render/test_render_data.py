import csv
import io
import json

import pytest
from written import HOSTILE, hostile, rendered, report, with_pair

from sigtest.render.formats import FORMATS
from sigtest.report import Report


@pytest.mark.parametrize("form", FORMATS)
def test_a_report_read_back_renders_to_the_same_bytes(form):
    made = report()
    again = Report.from_json(json.loads(rendered("json", made)))
    assert rendered(form, again) == rendered(form, made)


def test_json_keeps_every_name_and_number():
    made = hostile()
    assert json.loads(rendered("json", made)) == made.as_json()


def test_json_has_no_nan():
    with pytest.raises(ValueError, match="JSON"):
        rendered("json", with_pair(report(), stderr=float("nan")))


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_csv_has_a_row_for_every_pair_metric_and_test_in_full_precision():
    made = report(tests=("approximate_randomization", "bootstrap"))
    read = rows(rendered("csv", made))
    assert len(read) == 3 * 2 * 2
    for row, pair in zip(read, made.pairs, strict=True):
        assert (row["a"], row["b"], row["metric"], row["test"]) == (
            pair.a, pair.b, pair.metric, pair.test
        )  # fmt: skip
        assert float(row["difference"]) == pair.difference
        assert (float(row["ci_low"]), float(row["ci_high"])) == pair.ci
        assert (float(row["p_low"]), float(row["p_high"])) == pair.p_interval
        assert float(row["p_value"]) == pair.p_value
        assert row["significant"] == str(pair.significant).lower()


def test_csv_lines_end_as_rfc_4180_says():
    text = rendered("csv", report())
    assert text.endswith("\r\n")
    assert text.count("\n") == text.count("\r\n") == 1 + len(report().pairs)


def test_csv_has_no_cell_that_a_spreadsheet_would_run():
    for name in ("=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\uff1d1"):
        made = report(("A", "B", name))
        cells = {row["b"] for row in rows(rendered("csv", made))}
        assert "'" + name in cells
        assert name not in cells


def test_csv_keeps_hostile_names_in_their_cells():
    read = rows(rendered("csv", hostile()))
    assert {row["a"].removeprefix("'") for row in read} == set(HOSTILE[:-1])


def test_csv_leaves_out_what_is_unknown():
    made = with_pair(report(), count=None, resamples=None)
    first = rows(rendered("csv", made))[0]
    assert (first["count"], first["resamples"]) == ("", "")
