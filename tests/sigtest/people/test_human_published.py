"""Published human evaluations: WMT22 and FLORES direct assessment, WMT12 rankings, ESA, MQM."""

import json
import math
from collections import defaultdict
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from sigtest.people.compute import compute
from sigtest.people.question import parse
from sigtest.people.report import HumanReport

FILLER = "0.12"  # of a published matrix: not significant, or not tested

SETS = (("wmt22.cs-en", "csen", "cs-en"), ("flores21.bn-hi", "bnhi", "bn-hi"))


@cache
def evaluated(path: Path, **choices: object) -> HumanReport:
    return compute(parse(choices, [(path.name, path.read_bytes())]))


def cells(report: HumanReport) -> dict[tuple[str, str], float]:
    """P-value of every ordered pair: the first system is better."""
    found = {}
    for pair in report.pairs:
        found[pair.a, pair.b] = pair.p_greater
        found[pair.b, pair.a] = pair.p_less
    return found


def published_cells(path: Path) -> dict[tuple[str, str], float]:
    header, *rows = [line.split() for line in path.read_text().splitlines() if line.strip()]
    return {
        (row[0], column): float(value)
        for row in rows
        for column, value in zip(header, row[1:], strict=True)
        if value != FILLER
    }


@pytest.mark.parametrize(
    ("folder", "short", "file"),
    [
        *(
            (folder, short, file.format(pair=pair, short=short))
            for folder, short, pair in SETS
            for file in ("ad-seg-scores-{pair}.csv", "ad-{short}-good-stnd.csv")
        ),
        ("flores21.bn-hi", "bnhi", "ad-good-raw.bnhi.csv"),
    ],
)
def test_rank_sum_equals_every_published_cell(data, folder, short, file):
    human = data / folder / "human"
    report = evaluated(human / file)
    assert (report.standardise == "annotator") == ("raw" in file)
    found = cells(report)
    published = published_cells(human / f"adwilcox-{short}.csv")
    assert len(published) == {"csen": 47, "bnhi": 27}[short]
    for key, p in published.items():
        assert found[key] == pytest.approx(p, rel=1e-9), key


def test_rank_sum_oracles_with_u_and_both_directions(data, oracles):
    for entry in json.loads((oracles / "human.json").read_text())["wilcoxon_rank_sum"]:
        report = evaluated(data / entry["input"].split(",")[0])
        found = cells(report)
        sizes = {system.name: system.n_segments for system in report.systems}
        for cell in [*entry["cells"], *entry["filler_cells"]["cells"]]:
            row, column = cell["row"], cell["column"]
            assert (sizes[row], sizes[column]) == (cell["n_row"], cell["n_column"])
            assert found[row, column] == pytest.approx(cell["p_greater"], rel=1e-9)
            pair = next(p for p in report.pairs if {p.a, p.b} == {row, column})
            u = pair.u if pair.a == row else pair.n_a * pair.n_b - pair.u
            assert u == cell["U_row"]
            if pair.a == row:
                assert pair.log10_p == pytest.approx(
                    math.log10(min(pair.p_greater, pair.p_less)), rel=1e-9
                )


@pytest.mark.parametrize(("folder", "short", "pair"), SETS)
def test_system_means_equal_the_published_ones(data, oracles, folder, short, pair):
    report = evaluated(data / folder / "human" / f"ad-seg-scores-{pair}.csv")
    found = {system.name: system for system in report.systems}
    scores = json.loads((oracles / "human.json").read_text())["system_scores"]
    for row in next(entry["rows"] for entry in scores if entry["set"] == folder):
        system = found[row["system"]]
        assert system.raw == pytest.approx(row["raw_mean"], rel=1e-12)
        assert system.z == pytest.approx(row["z_mean"], rel=1e-9)
        assert system.n_segments == row["n_segments"]
        assert system.n_judgements == row["n_judgements"]


@pytest.mark.parametrize(("folder", "short", "pair"), SETS)
@pytest.mark.parametrize("by", ["z", "raw"])
def test_rankings_equal_the_published_ones(data, folder, short, pair, by):
    human = data / folder / "human"
    report = evaluated(human / f"ad-seg-scores-{pair}.csv")
    ordered = sorted(report.systems, key=lambda system: -getattr(system, by))
    lines = (human / f"ad-sys-ranking-{pair}-{by}.csv").read_text().splitlines()
    published = [line.split() for line in lines]
    assert [system.name for system in ordered] == [row[4] for row in published]
    for system, row in zip(ordered, published, strict=True):
        assert (round(system.raw, 1), round(system.z, 3)) == (float(row[0]), float(row[1]))
        assert (system.n_segments, system.n_judgements) == (int(row[2]), int(row[3]))


def test_segment_scores_from_judgements_equal_the_published_16008(data):
    human = data / "wmt22.cs-en" / "human"
    asked = parse({}, [("stnd", (human / "ad-csen-good-stnd.csv").read_bytes())])
    prepared = asked.prepared
    found = prepared.pooled.by_name(prepared.systems)
    rows = (human / "ad-seg-scores-cs-en.csv").read_text().splitlines()[1:]
    assert sum(map(len, found.values())) == len(rows) == 16_008
    for row in rows:
        system, segment, _, z, _ = row.split()
        assert found[system][segment] == pytest.approx(float(z), abs=1e-14)


def test_systems_from_judgements_equal_those_from_published_means(data):
    human = data / "wmt22.cs-en" / "human"
    judged = evaluated(human / "ad-csen-good-stnd.csv")
    means = evaluated(human / "ad-seg-scores-cs-en.csv")
    assert judged.annotators is not None
    assert judged.annotators.n == 156
    assert means.annotators is None
    for own, other in zip(judged.systems, means.systems, strict=True):
        assert own.name == other.name
        assert (own.n_judgements, own.n_segments) == (other.n_judgements, other.n_segments)
        assert own.z == pytest.approx(other.z, rel=1e-12)
        assert own.raw is None
        assert (own.cluster, own.range) == (other.cluster, other.range)


def test_z_scores_equal_the_oracle_and_the_published_ones(data, oracles):
    expected = json.loads((oracles / "human.json").read_text())["z_standardisation"]
    human = data / "flores21.bn-hi" / "human"
    judgements = parse(
        {}, [("raw", (human / "ad-good-raw.bnhi.csv").read_bytes())]
    ).prepared.judgements
    published = parse(
        {}, [("stnd", (human / "ad-bnhi-good-stnd.csv").read_bytes())]
    ).prepared.judgements
    # the organisers used means and sds of 7 digits
    assert np.abs(judgements.z - published.z).max() < 3e-6
    found = {
        (judgements.annotator.at(i), judgements.system.at(i), judgements.segment.at(i)): i
        for i in range(len(judgements))
    }
    for row in expected["rows"]:
        i = found[row["worker"], row["system"], row["sid"]]
        assert judgements.raw[i] == row["raw"]
        assert judgements.z[i] == pytest.approx(row["z_computed"], rel=1e-9)


def test_wmt12_percentages_equal_the_published_ones(data, oracles):
    report = evaluated(data / "wmt12.es-en" / "human" / "wmt12.RNK_results.es-en.csv")
    found = {system.name: system for system in report.systems}
    won: dict[str, float] = defaultdict(float)
    lost: dict[str, float] = defaultdict(float)
    for pair in report.pairs:
        won[pair.a] += pair.u
        lost[pair.a] += pair.n_a - pair.u
        won[pair.b] += pair.n_a - pair.u
        lost[pair.b] += pair.u
    for row in json.loads((oracles / "human.json").read_text())["wmt12_ranking_scores"]["rows"]:
        name = row["system"]
        assert found[name].raw == pytest.approx(row["score"], rel=1e-12)
        assert found[name].raw == pytest.approx(row["published"], abs=5e-5)
        assert (won[name], lost[name]) == (row["wins"], row["losses"])


@pytest.mark.parametrize("kind", ["ESA", "MQM"])
def test_appraise_segment_scores_equal_the_authors(data, kind):
    """Documents cut between two logins included: in document order all systems share one list."""
    folder = data / "formats" / "esa"
    file = folder / f"240315rc5{kind}.scores.csv"
    prepared = parse({"standardise": "none"}, [(file.name, file.read_bytes())]).prepared
    found = prepared.pooled.by_name(prepared.systems)
    published: dict[str, list[str]] = defaultdict(list)
    for line in (folder / f"en-de.{kind}-1.seg.score").read_text().splitlines():
        system, score = line.split("\t")
        published[f"wmt23.{system}"].append(score)
    assert set(found) == set(published)
    for system, scores in published.items():
        given = sorted(float(score) for score in scores if score != "None")
        assert len(given) == 207
        assert sorted(found[system].values()) == pytest.approx(given, abs=1e-12)
    # the column of a segment over all systems identifies it; every one occurs among the published
    columns = {
        tuple(round(float(published[system][i]), 6) for system in sorted(published))
        for i, score in enumerate(published["wmt23.AIRC"])
        if score != "None"
    }
    own = {
        tuple(round(found[system][segment], 6) + 0.0 for system in sorted(found))
        for segment in found["wmt23.AIRC"]
    }
    assert own == columns


def test_mqm_segment_scores_equal_the_published_ones(data):
    folder = data / "formats" / "mqm"
    file = folder / "mqm_ted_zhen.tsv"
    prepared = parse({"standardise": "none"}, [(file.name, file.read_bytes())]).prepared
    found = prepared.pooled.by_name(prepared.systems)
    names = {"ref-A": "ref", "ref-B": "refB"}
    published = {}
    for line in (folder / "mqm_ted_zhen.avg_seg_scores.tsv").read_text().splitlines()[1:]:
        system, score, segment = line.split()
        if score != "None":
            published[names.get(system, system), segment] = float(score)
    assert len(published) == sum(map(len, found.values())) == 7_935
    for (system, segment), score in published.items():
        assert found[system][segment] == pytest.approx(score, abs=1e-6)  # printed with 6 decimals


def test_mtme_means_equal_the_published_system_scores(data):
    folder = data / "wmt23.he-en" / "human-scores"
    report = evaluated(folder / "he-en.mqm.seg.score")
    lines = (folder / "he-en.mqm.sys.score").read_text().splitlines()
    published = {line.split("\t")[0]: float(line.split("\t")[1]) for line in lines}
    assert {system.name for system in report.systems} == set(published)
    for system in report.systems:
        assert system.n_segments == 820
        assert system.raw == pytest.approx(published[system.name], rel=1e-12)
    assert report.sources[0].dropped == {"not judged": 13 * 1090}


@pytest.mark.slow
def test_wmt24_wave_is_read_language_by_language(data):
    file = data / "formats" / "esa" / "esa_generalMT2024_wave2.csv"
    used = 0
    for languages in ("eng-ces", "eng-zho", "eng-jpn", "eng-hin"):
        report = evaluated(file, languages=languages)
        source = report.sources[0]
        assert source.rows == 20_434
        used += source.used
    dropped = source.dropped
    assert dropped["tutorial"] == 1_228
    assert used == 20_434 - dropped["tutorial"] - dropped["superseded"]
