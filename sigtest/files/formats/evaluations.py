"""What evaluations of language models, agents and rankings write, as rows of a table.

promptfoo's results, test runs of DeepEval, reports of SWE-bench, and `trec_eval -q`. What could not
be scored is missing, and nothing is 0 but what the program itself counts so.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from sigtest.data.names import without_slash
from sigtest.errors import InputError, at_line
from sigtest.files.file import File, Record, entries_of, record_in
from sigtest.files.formats.columns import read_columns_of
from sigtest.files.material import Material
from sigtest.files.tables import Table, float_in

HEADER = ("id", "system", "metric", "score", "run", "higher_is_better", "question")


def _read(
    file: File, rows: Sequence[Sequence[object]], lines: Sequence[int] | None = None
) -> Material:
    """What rows bring that are as HEADER, with the line of each where they have lines."""
    places = lines or range(1, len(rows) + 1)
    table = Table(file.name, HEADER, rows, places, "line" if lines else "entry")
    return read_columns_of(table, file.stem)


def _objects(entries: object, name: str) -> Iterator[Record]:
    for i, entry in enumerate(entries_of(entries), 1):
        if not isinstance(entry, dict):
            raise InputError(f"{name}: entry {i} is no object.")
        yield entry


def _results(file: File) -> Iterator[object]:
    """The results of records, one a record or in a list `results`, perhaps one deeper."""
    for row in file.records():
        results = row.record.get("results", [row.record])
        yield from entries_of(results.get("results") if isinstance(results, dict) else results)


def sniff_promptfoo(file: File) -> bool:
    """Results of prompts, by place or with their variables: in an object, or one a line."""
    row = next(_results(file), None) if "results" in file.first else file.first
    return isinstance(row, dict) and {"provider", "prompt", "vars", "success"} <= {*row}


def read_promptfoo(file: File) -> Material:
    """Read the scores of each provider, and of each prompt where a provider has several.

    Tests that are the same are runs of one (`--repeat`); a provider's error is a missing score.
    Until version 3 results had no numbers, and no reason of failures.

    Raises:
        InputError: A result that is no object, or a score that is no number.
    """
    tests, found = dict[str, object](), []
    prompts = defaultdict[str, dict[str, int]](dict)
    times = Counter[tuple[str, str, str]]()
    for result in sorted(
        _objects([*_results(file)], file.name),
        key=lambda r: [float_in(r.get(name)) or 0.0 for name in ("testIdx", "promptIdx")],
    ):
        own, test = record_in(result, "provider"), record_in(result, "testCase")
        written, place = record_in(result, "prompt"), result.get("testIdx", len(tests))
        filled = result.get("vars") or test.get("vars")
        asked = json.dumps(filled, ensure_ascii=False) if filled else None
        # where variables were taken out, the place alone tells tests apart
        item = json.dumps([asked or place, test.get("description"), test.get("assert")])
        system = without_slash(str(own.get("label") or own.get("id") or result.get("provider")))
        prompt = str(result.get("promptIdx", written.get("label", written.get("display"))))
        column = prompts[system].setdefault(prompt, len(prompts[system]) + 1)
        times[system, prompt, item] += 1
        ungraded = bool(result.get("error")) and not result.get("gradingResult")
        lost = result.get("failureReason", 2 * ungraded) == 2  # nothing came back
        scores = {"score": result.get("score"), "pass": result.get("success")}
        for label, score in {**scores, **record_in(result, "namedScores")}.items():
            row = (without_slash(label), None if lost else score, times[system, prompt, item])
            found.append((tests.setdefault(item, place), system, column, *row, None, asked))
    rows = [
        (i, f"{system} prompt {column}" if len(prompts[system]) > 1 else system, *row)
        for i, system, column, *row in found
    ]
    return _read(file, rows)


CASES = ("testCases", "conversationalTestCases", "test_results")  # the last are of `evaluate`
METRICS = ("metricsData", "metrics_data", "metricsMetadata")  # the last until 2024


def _cases(record: Record) -> list[object]:
    run = record_in(record, "testRunData") or record
    return [case for name in CASES for case in entries_of(run.get(name))]


def _metrics(case: object) -> list[object]:
    fields = case if isinstance(case, dict) else {}
    return [entry for name in METRICS for entry in entries_of(fields.get(name))]


def sniff_deepeval(file: File) -> bool:
    """A list of test cases, alone or in an object, of which some have data of metrics."""
    return any(map(_metrics, [file.first, *_cases(file.first)]))


def read_deepeval(file: File) -> Material:
    """Read the score of every metric by test case; less is better where that passes.

    Cases are known by their names, or by their inputs where pytest called all by one function.

    Raises:
        InputError: A case that is no object or stands there twice, or a score that is no number.
    """
    found = _cases(file.first) or [row.record for row in file.records()]
    cases, rows = [*_objects(found, file.name)], []
    named = len({case.get("name") for case in cases}) == len(cases)
    for case in cases:
        item = case.get("name" if named else "input") or case.get("name")
        for entry in _objects(_metrics(case), file.name):
            name = without_slash(str(entry.get("name", entry.get("metric"))))
            score = None if entry.get("error") else entry.get("score")
            higher = False if _passes_below(entry) else None
            rows.append((item, file.stem, name, score, 1, higher, case.get("input")))
    return _read(file, rows)


def _passes_below(entry: Record) -> bool:
    """Whether a score passes below its threshold, or fails above, as of bias and toxicity."""
    score, threshold = float_in(entry.get("score")), float_in(entry.get("threshold"))
    if score is None or threshold is None:
        return False
    return score != threshold and entry.get("success") is (score < threshold)


LOST = ("incomplete_ids", "infra_failure_ids", "ambiguous_failure_ids", "pending_ids")
TRIED = ("submitted_ids", "completed_ids", "unresolved_ids", "generated", "unresolved")
SUBMITTED = (*TRIED, "empty_patch_ids", "error_ids", "failed_ids", "no_generation", "resolved",
             "resolved_ids")  # fmt: skip


def read_swebench(file: File) -> Material:
    """Read which instances are resolved; empty patches and errors are not, as SWE-bench counts.

    That says a report on all of a run by lists, and one on single instances by `resolved` of each,
    as OpenHands' lines do.

    Those that were not submitted, or could not be run, have no score: SWE-bench counts them as not
    resolved.

    Raises:
        InputError: A list of ids that has something else, or nothing says what is not resolved.
    """
    known = file.first if file.kind == "object" else {}
    lists = {name: entries_of(known.get(name)) for name in (*SUBMITTED, *LOST)}
    if not all(isinstance(i, str) for listed in lists.values() for i in listed):
        raise InputError(f"{file.name}: ids of instances are text.")
    resolved = {*lists["resolved_ids"], *lists["resolved"]}
    scores: list[tuple[object, object]] = [
        (i, own["resolved"]) for i, own in known.items()
        if isinstance(own, dict) and "resolved" in own
    ]  # fmt: skip
    for row in [] if known else file.records():
        report = record_in(record_in(row.record, "test_result") or row.record, "report")
        scores.append((row.record.get("instance_id"), report.get("resolved")))
    if not any(lists[name] for name in TRIED) and all(own is None for _, own in scores):
        raise InputError(
            f"{file.name} does not say which instances were tried and not resolved; add their list "
            "as unresolved_ids, or give submitted_ids (of OpenHands .swebench_eval.jsonl)."
        )
    if known:
        scores = [(i, i in resolved) for name in SUBMITTED for i in lists[name]] + scores
        scores += [(i, None) for name in LOST for i in lists[name]]
        scores = [*dict(scores).items()]  # what is said last of each
    return _read(file, [(i, file.stem, "resolved", own, 1, True, None) for i, own in scores])


def read_samples(file: File) -> Material:
    """Read whether each sample of a task passed, as HumanEval's harness has it; samples are runs.

    Raises:
        InputError: No task, or what passed is neither true nor false.
    """
    times, rows = Counter[str](), []
    for own in file.records():
        task = own.record.get("task_id")
        times[str(task)] += 1
        passed = own.record.get("passed")
        rows.append((task, file.stem, "passed", passed, times[str(task)], True, None))
    return _read(file, rows)


MEASURE = re.compile(  # of versions 8 to 10; what counts, or names, and measures no single query
    r"((?P<count>num|runid|relstring|gm|utility|prefs_num)|map|R-?prec|bpref|recip_rank|infAP"
    r"|iprec_at_recall|ircl_prn|P|recall|success|R?ndcg|binG|G|set|relative|11-?pt_avg|prefs|rbp"
    r"|yaap|R?unj(udged)?)([\d_.]\S*)?"
)


def read_trec(file: File) -> Material:
    """Read every measure by query; the run is named by its line `runid`, or by the file.

    Raises:
        InputError: A line of other columns, no number, or averages alone.
    """
    system, found = file.stem, dict[int, tuple[str, str, str]]()
    for i, line in enumerate(file.lines, 1):
        cells = line.split(None, 2)
        if len(cells) not in (0, 3):
            raise at_line(file.name, i, f"{len(cells)} columns; measure, query, value belong here.")
        measured = MEASURE.fullmatch(cells[0]) if cells else None
        if cells[:1] == ["runid"]:
            system = without_slash(cells[2].strip())
        elif cells and cells[1] != "all" and not (measured and measured["count"]):
            found[i] = (cells[1], cells[0], cells[2])
    if not found:
        raise InputError(f"{file.name} has averages over queries alone; run trec_eval with -q.")
    rows = [(i, system, measure, value, 1, True, None) for i, measure, value in found.values()]
    return _read(file, rows, [*found])


def sniff_pytrec(file: File) -> bool:
    """An object of measures by query."""
    queries = [*file.first.values()] if file.kind == "object" else []
    return any(queries) and all(
        isinstance(own, dict) and all(map(MEASURE.fullmatch, own)) for own in queries
    )


def read_pytrec(file: File) -> Material:
    """Read every measure by query, as pytrec_eval has them, of the run that the file names."""
    rows = [
        (query, file.stem, measure, value, 1, True, None)
        for query in file.first
        for measure, value in record_in(file.first, query).items()
        if (named := MEASURE.fullmatch(measure)) and not named["count"]
    ]
    return _read(file, rows)
