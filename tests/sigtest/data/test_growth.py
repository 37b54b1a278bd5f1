"""What people bring is read in time that grows as its bytes do, and in memory that its bytes fill.

Every sniffer and reader of the registries gets a specimen of its own format with each of its
tokens in turn repeated, or left open, and its lines repeated under other numbers and names. This is
the one test of the project that measures time: CPU time a byte, compared at two sizes.
"""

import io
import itertools
import math
import re
import signal
import tarfile
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial

import pytest
from evaluated import sheet, workbook
from test_formats import FILES

from sigtest.data.health import FRAMES
from sigtest.errors import InputError, LimitError, SigtestError
from sigtest.files.file import File
from sigtest.files.formats.preferences import compared_rows
from sigtest.files.gathering import read_bytes
from sigtest.files.join import Joining, combine
from sigtest.files.judgements import read_scores, reads_scores
from sigtest.files.material import Material
from sigtest.files.registry import (
    FORMATS_JUDGED,
    FORMATS_READ,
    FORMATS_REFUSED,
    is_judged,
    read_judgements,
)
from sigtest.meta_evaluation.scored import align, score_source, scored_set
from sigtest.requests.people import MetricSet

SMALL, MEDIUM, LARGE = 2_000, 20_000, 200_000
WIDTHS = pytest.mark.parametrize(  # tokens that are repeated together
    "widths", [(1,), pytest.param((2, 4), marks=pytest.mark.slow)], ids=["one by one", "together"]
)
TIMES = 3  # as much CPU time a byte in the large file as in the small one, at most
QUICK = 3e-6  # seconds a byte: TIMES that is not measured again; what is quadratic takes far more

LONGEST = 10.0  # seconds until a text is given up

REFUSED = {  # with a specimen of each program whose files are of one kind
    "lm-eval-results": ['{"results": {"t": {"acc": 0.5}}, "configs": {}, "versions": {"t": 1}}'],
    "averages": [
        "de-en\taspen\t0.5\nde-en\tbirch\t0.7\n",
        "BLEU|nrefs:1|case:mixed = 20.1 50.0/30.0\n",
        "aspen.en\tscore: 0.5\nbirch.en\tscore: 0.75\n",
        "Paired T-Test Results:\n\nx_name: aspen\ny_name: birch\n",
        "==========\nx_name: aspen\ny_name: birch\n\nBootstrap Resampling Results:\n",
    ],
    "judgements": [
        "l1,aspen,1,TGT,deu,eng,90,d1,False,[],1.0,2.0\n" * 2,
        "LP annotator criterion HUMAN rater\nde-en a x 1 b\n",
        "model_a,model_b,winner,question\nx,y,model_a,1\n",
    ],
    "evaluations": [
        "id,traceId,name,value\n1,t1,bleu,0.5\n",
        '{"schema_version": "0.2", "evaluation_id": "a", "evaluation_results": []}',
    ],
    "foreign": [
        "\\documentclass{article}\n\\begin{tabular}{ll}\na & b\\\\\n\\end{tabular}\n",
        '[1] "aspen" "birch"\n[1] 0.5 0.7\n',
        "scores:\n  - bleu: 20.1\n  - chrf: 50\n",
        "| system | bleu |\n|:-------|-----:|\n| aspen | 20.1 |\n",
        "Meteor version: 1.5\n\nSegment 1 score:\t0.5\n",
        "BLEU = 20.1, chrF: 50%\nP: 0.9 R: 0.8\n",
        "{'a': 'b c', 'd': 1}\n{'a': \"it's\", 'd': 2}\n",
        '"a, ""b"" c"\n"d, e",\n"it\\\'s, f"\n',
        "{\\rtf1\\ansi {\\b aspen} elm}\n",
        "1\n00:00:01,000 --> 00:00:02,500\naspen elm\n\n",
        ";; c\nf1 A aspen 0.0 1.5 <o> elm oak\n",
        'msgid "aspen"\nmsgstr "elm"\n',
        "# sent_id = 1\n1\taspen\tasp\tNOUN\t_\n2\tgrows\tgrow\tVERB\t_\n",
    ],
    "markup": ['<?xml version="1.0"?>\n<!-- c --><!DOCTYPE tmx>\n<tmx a="b"><tu>x</tu></tmx>\n'],
    "other-json": [
        '{"a": [1, "b", {"c": null}]}',
        '{"instance_id": "id1", "stats": [{"name": "em", "count": 1}]}',
        '{"evalId": "e", "version": 3, "results": {"results": [{"score": 1}]}}',
        '{"accuracy": 50.0, "details": {"0": {"prompt": "a"}}}',
        '{"question": "q", "elm": {"is_correct": true, "solution": "x"}}',
    ],
    "other-markup": ["<p>aspen &amp; elm</p>\n<p>birch</p>\n"],
}
NAMES = {"de-en\taspen\t0.5\nde-en\tbirch\t0.7\n": "x.sys.score"}  # of what no content tells
JUDGED = {
    "wmt_da": "HITId WorkerId Input.src Input.trg sys_id type sid score time\n"
    'h1 "w1" de en "aspen" SYSTEM 1 50 3.5\nh1 w1 de en birch SYSTEM 1 60 3\n',
    "wmt_da_segments": "SYS SID RAW.SCR Z.SCR N\naspen 1 50.5 0.1 2\nbirch 1 60.5 0.2 1\n",
    "mqm": "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\n"
    'aspen\td1\t1\t1\tr1\ta\t"b\tFluency/Grammar\tMinor\n',
    "rnk": "srclang,trglang,srcIndex,judgeId,system1Id,system1rank,system2Id,system2rank\n"
    'de,en,1,j1,"aspen",1,birch,2\n',
    "esa": 'l1,aspen,1,TGT,deu,eng,0,d1#aspen,False,"[{""start_i"": 1, ""end_i"": 2, '
    '""severity"": ""minor"", ""error_type"": ""x""}]",1.0,2.0\n',
    "mtme": "aspen\t1.5\naspen\tNone\n",
    "wmt25": '{"doc_id": "cs-de_DE_#_n_#_d_#_0", "tgt_text": {"A": "elm"}, "scores": {"A": '
    '{"human1": 9, "annotator1": "w", "errors1": '
    '[{"start_i": 1, "end_i": 2, "severity": "minor"}]}}}\n',
    "pearmut": '{"annotation": [{"A": {"score": 9}}], "item": [{"item_id": "1"}], '
    '"user_id": "u"}\n',
    "games": '{"model": "aspen", "judge": "w", "uid": "1", "games": [{"score": "A>>B"}, '
    '{"score": "B=A"}]}\n',
    "preferences": "a,b,winner,item\naspen,birch,aspen,1\n",
    "columns": 'system,segment,score,annotator\naspen,1,50,"a b"\n',
}
SCORED = {
    "two columns": 'aspen\t0.5\n"aspen"\t0.25\n',
    "header": "METRIC,LP,TESTSET,SYSTEM,SEGMENT,SCORE,HIGHER\nbleu,de-en,t,aspen,1,0.5,true\n",
    "json": '{"segment": {"aspen": {"s1": 0.1, "s2": null}}, "higher": true}',
}
TEXTS = {  # of no format, or for all
    "comments": "<!-- --> <?xml ?> &#1; ]]> <![CDATA[ <doc <seg",
    "separators": ", ; \t | \" \"\" ' ''",
    "numbers": "1 1. .1 1e 1,000 1_0 +1 -1 5% 1±1 1/1 0.5,1 nan",
    "brackets": '[ [[ { {" ] ] } } ( ) \\ \\" \\u1234 : ,',
    "blanks": "\n \r \r\n \ufeff \u00a0 \u2028 \0 \ufffd",
}


def tokens(text: str) -> list[re.Match[str]]:
    return [*re.finditer(r"\w+|\s|[^\w\s]", text)]


def hostile(widths: Sequence[int], text: str, size: int) -> Iterator[str]:
    """A specimen whose tokens are repeated, one by one and some together, closed and left open."""
    every = tokens(text)[:120]
    seen = set()
    for i, width in itertools.product(range(len(every)), widths):
        start, end = every[i].start(), every[min(i + width, len(every)) - 1].end()
        unit = text[start:end]
        if unit not in seen:
            seen.add(unit)
            many = unit * (size // len(unit.encode()))
            yield text[:start] + many
            yield text[:start] + many + text[end:]


def listed(text: str, size: int) -> Iterator[str]:
    """A specimen whose last line is repeated: as it is, under other numbers, under other names."""
    *above, line = text.rstrip("\n").split("\n")
    for changed in (r"(?!)", r"\d+(\.\d+)?", r"[a-z]+", r"\w+"):
        rows = size // (len(line.encode()) + 6) + 1
        below = [re.sub(changed, lambda m, i=i: f"{m[0]}{i}", line) for i in range(rows)]
        yield "\n".join([*above, *below, ""])
    yield text * (size // len(text.encode()))


def many_systems(_: str, size: int) -> Iterator[str]:
    """WMT XML whose every system is another: in one document, and in a document each."""
    row = '<hyp system="{0}"><seg id="1"/></hyp>'
    for unit in ('<hyp system="{0}"/>', row, f'</doc><doc id="{{0}}">{row}'):
        rows = "".join([unit.format(i) for i in range(size // len(unit))])
        yield f'<dataset><doc id="d">{rows}</doc></dataset>'


def spent(run: Callable[[bytes], object], text: str) -> float:
    """CPU seconds a byte."""
    data = text.encode()
    start = time.process_time()
    signal.setitimer(signal.ITIMER_VIRTUAL, LONGEST)
    try:
        with suppress(SigtestError):  # nothing else may be raised
            run(data)
    except TimeoutError:
        return math.inf
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return (time.process_time() - start) / len(data)


def give_up(*_: object) -> None:
    raise TimeoutError


def grown(
    run: Callable[[bytes], object], make: Callable[[str, int], Iterator[str]], text: str, large: int
) -> list[str]:
    """The hostile texts that take more time a byte when they are large."""
    signal.signal(signal.SIGVTALRM, give_up)
    wrong = []
    for i, hard in enumerate(make(text, large)):
        if spent(run, hard) < TIMES * QUICK:
            continue
        easy = next(itertools.islice(make(text, SMALL), i, None))
        small = sum(spent(run, easy) for _ in range(20)) / 20  # the clock of CPU time is coarse
        bound = TIMES * max(QUICK, small)
        if min(spent(run, hard) for _ in range(2)) > bound:
            wrong.append(f"{hard[:60]!r} ... {hard[-60:]!r}")
    return wrong


def test_what_takes_the_square_of_its_bytes_is_noticed():
    assert grown(
        re.compile(rb"\s+$").search, lambda _, size: iter([" " * size + "x"]), "", 4 * SMALL
    )


FORMATS = {**FORMATS_READ, **FORMATS_REFUSED}


@WIDTHS
@pytest.mark.parametrize("name", FORMATS)
def test_every_sniffer_takes_linear_time(name, widths):
    named, text = FILES.get(name, ("x", ""))
    sniff = FORMATS[name].sniff
    for specimen in [text] if text else REFUSED[name]:
        base = NAMES.get(specimen, named)
        assert sniff(File(base, specimen.encode()))
        assert not grown(
            lambda data, base=base: sniff(File(base, data)),
            partial(hostile, widths),
            specimen,
            MEDIUM,
        )


@pytest.mark.parametrize("name", FORMATS_READ)
def test_every_reader_takes_linear_time(name):
    base, text = FILES[name]
    assert not grown(lambda data: read_bytes(data, base), listed, text, LARGE)


SHAPED = {  # tables that are written in another way
    "x.csv": "id;system;score;note\nq1;elm;0,5;a, b\nq2;elm;1;-\n",
    "x.jsonl": '{"id": 1, "metrics": {"comet": 0.5, "judge": {"score": 1}}}\n',
}


@WIDTHS
@pytest.mark.parametrize("name", SHAPED)
def test_tables_of_other_shapes_take_linear_time(name, widths):
    many = partial(hostile, widths)
    assert not grown(lambda data: read_bytes(data, name), listed, SHAPED[name], LARGE)
    assert not grown(lambda data: read_bytes(data, name), many, SHAPED[name], MEDIUM)


@WIDTHS
def test_workbooks_take_linear_time(widths):
    pytest.importorskip("python_calamine", reason="workbooks need the extra `excel`")
    rows = sheet([["id", "elm"], *(["q", 0.5] for _ in range(2))])
    cells = rows.index("<row")

    def run(data: bytes) -> None:
        read_bytes(
            workbook(data.decode("utf-8", "replace")), "x.xlsx", how=Joining(columns="systems")
        )

    def many(text: str, size: int) -> Iterator[str]:
        start, end = text[:cells], text[cells:]
        row = '<row r="{0}"><c r="A{0}"><v>{0}</v></c><c r="B{0}"><v>1</v></c></row>'
        yield start + "".join(row.format(i) for i in range(1, size // len(row))) + end
        yield start + "<row>" * (size // 5) + end
        yield start + '<row r="1">' + '<c r="A1"/>' * (size // 11) + "</row>" + end

    assert not grown(run, many, rows, LARGE)
    assert not grown(run, lambda text, size: (text[:cells] + own for own in hostile(
        widths, text[cells:], size)), rows, MEDIUM)  # fmt: skip


def test_many_systems_in_one_file_take_linear_time():
    assert not grown(lambda data: read_bytes(data, "x.xml"), many_systems, "", 4 * LARGE)


@WIDTHS
@pytest.mark.parametrize("name", TEXTS)
def test_what_is_of_no_format_is_sent_back_in_linear_time(name, widths):
    assert not grown(
        lambda data: read_bytes(data, "x"), partial(hostile, widths), TEXTS[name], MEDIUM
    )


@WIDTHS
@pytest.mark.parametrize(("what", "frame"), FRAMES)
def test_what_stands_round_lines_is_found_in_linear_time(what, frame, widths):
    many = partial(hostile, widths)
    for text in ("a_b-c1 d", "__a__ 1.5 1) '", '"\u300ca:'):
        assert not grown(lambda data: frame.match(data.decode()), many, text, MEDIUM), what


@WIDTHS
@pytest.mark.parametrize("name", FORMATS_JUDGED)
def test_judgements_are_read_in_linear_time(name, widths):
    many = partial(hostile, widths)
    assert is_judged(JUDGED[name].encode(), "x")
    assert not grown(lambda data: read_judgements(data, "x"), listed, JUDGED[name], LARGE)
    assert not grown(lambda data: read_judgements(data, "x"), many, JUDGED[name], MEDIUM)


@WIDTHS
@pytest.mark.parametrize("name", SCORED)
def test_scores_of_metrics_are_read_in_linear_time(name, widths):
    def run(data: bytes) -> None:
        reads_scores(data, "x")
        found = read_scores(data, "x")
        align([score_source(found, "x", "x")] if "segment" in found else [])

    assert not grown(run, partial(hostile, widths), SCORED[name], MEDIUM)
    assert not grown(run, listed, SCORED[name], LARGE)


LONG, LINES = "d" * 50_000, 3000
INSPECT = '{"eval":{"model":"m"},"status":"success","plan":{},"samples":['
BREAK, FIELD, SCORE = "a\\n\\n{}", '"{}":1,', '{{"mt":"{}","COMET":1}},'
SCORED_ONE = '{{"A":{{"score":{}}}}},'


def repeated(form: str) -> str:
    """What stands there again and again, under other numbers."""
    return "".join(map(form.format, range(LINES)))


def tarred(*paths: str) -> bytes:
    """An archive of short texts."""
    held, text = io.BytesIO(), b"a\nb\n"
    with tarfile.open(fileobj=held, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path in paths:
            member = tarfile.TarInfo(path)
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text))
    return held.getvalue()


OWN = {  # everything has names of its own: nothing of it may be laid out as a table
    "comet.txt": "a\tSegment 0\tscore: 0.5\nb\tSegment 20000000\tscore: 0.5\n",
    "x.csv": "id,system,score\n" + "".join(f"q{i},s{i},0.5\n" for i in range(3000)),
    "x.jsonl": "".join(f'{{"id":{i},"score":1,"m{i}":1}}\n' for i in range(2000)),
    "samples_t_2025-01-01T00-00-00.1.jsonl": "".join(
        f'{{"doc_id":{i},"resps":[],"filter":"f{i}","acc":1}}\n' for i in range(2000)
    ),
    "comet.json": '{"a": [' + ",".join(f'{{"mt":"x","m{i}":1}}' for i in range(2000)) + "]}",
    "far.xlsx": workbook(
        sheet([["id", "a"], ["q", 1]]).replace('"2"', '"999999"').replace('"B2"', '"XFD999999"')
    ),
    "digits.csv": "id,system,score\n" + "".join(f"{'1' * 5000}{i},s,1\n" for i in range(3)),
    "digits.json": f'[{{"id": {"1" * 5000}, "score": 1}}]',
    "nested.json": "[" * 5000 + '{"id": 1}',
    # a long name that each of many others would bear
    "document.xml": f'<dataset><doc id="{LONG}"><src>'
    + repeated('<seg id="{}"/>')
    + "</src></doc></dataset>",
    "document.sgm": f'<srcset><doc docid="{LONG}">'
    + repeated("<seg id={!r}>a</seg>")
    + "</doc></srcset>",
    "document.jsonl": f'{{"doc_id":"a_#_b_#_{LONG}","src_text":"{repeated(BREAK)}"}}\n',
    "scorer.json": INSPECT
    + f'{{"id":1,"scores":{{"{LONG}":{{"value":{{{repeated(FIELD)}"z":1}}}}}}}}]}}',
    "filter.jsonl": '{"doc_id":1,"resps":[],"filter":"a","acc":1}\n'
    f'{{"doc_id":1,"resps":[],"filter":"{LONG}",{repeated(FIELD)}"z":1}}\n',
    "object.jsonl": f'{{"id":1,"metrics":{{"{LONG}":{{{repeated(FIELD)}"z":1}}}}}}\n{{"id":2}}\n',
    "output.json": f'{{"a/{LONG}":[{repeated(SCORE)}{{"mt":"a","COMET":1}}]}}',
    "path.tar": tarred("reference.txt", "systems/c.txt", f"systems/{'a/' * 25_000}b.txt"),
    # samples that ended in an error lack every score of all others
    "errors.json": INSPECT
    + repeated('{{"id":{0},"scores":{{"a{0}":1}}}},')
    + repeated('{{"id":"b{}"}},')
    + '{"id":"c"}]}',
}
JUDGED_ONCE = {
    "waves.jsonl": f'{{"doc_id":"cs-de_#_n_#_{LONG}","tgt_text":{{"A":"b"}},"scores":{{"A":['
    + repeated('{{"human1":{}}},')
    + "{}]}}\n",
    "campaign.jsonl": f'{{"item_i":"{LONG}","user_id":"u","item":[{repeated("{{}},")}{{}}],'
    f'"annotation":[{repeated(SCORED_ONE)}{{}}]}}\n',
    "share.csv": "srcIndex,judgeId,system1Id,system1rank,system2Id,system2rank\n"
    + "1,j,{0},1,x,2\n2,j,x+{0},1,y,2\n".format("+".join(map(str, range(200)))),
    "ranks.csv": "srcIndex,judgeId,system1Id,system1rank,system2Id,system2rank\n"
    f"1,j,{repeated('{}+')}x,1,b,2\n2,j,x{repeated('+{}')},1,b,2\n",
}


@pytest.mark.parametrize("name", OWN)
def test_memory_follows_from_bytes_and_one_sentence_says_what_is_wrong(name):
    own = OWN[name]
    data = own.encode() if isinstance(own, str) else own
    tracemalloc.start()
    try:
        with pytest.raises(SigtestError, match=name):
            read_bytes(data, name)
        assert tracemalloc.get_traced_memory()[1] < 5_000_000 + 50 * len(data)
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", JUDGED_ONCE)
def test_memory_of_judgements_follows_from_bytes(name):
    data = JUDGED_ONCE[name].encode()
    tracemalloc.start()
    try:
        with pytest.raises(SigtestError, match=name):
            read_judgements(data, name)
        assert tracemalloc.get_traced_memory()[1] < 5_000_000 + 50 * len(data)
    finally:
        tracemalloc.stop()


def test_games_do_not_multiply_the_fields_of_their_row():
    rows = repeated('{{"score":"A>B","i":{}}},')
    data = (
        f'{{"model":"a","judge":"j",{repeated(FIELD)}"games":[{rows}{{"score":"A>B"}}]}}\n'.encode()
    )
    tracemalloc.start()
    try:
        assert len(read_judgements(data, "x.jsonl").line) == LINES + 1
        assert tracemalloc.get_traced_memory()[1] < 5_000_000 + 50 * len(data)
    finally:
        tracemalloc.stop()


def test_rows_of_a_request_that_share_no_field_are_no_table():
    sides = {"model_a": "x", "model_b": "y", "winner": "model_a"}
    rows = [sides | {f"k{i}": 1} for i in range(LINES)]
    with pytest.raises(InputError, match="judgements: 12,000 entries in 3,000 rows"):
        compared_rows(rows, "judgements")


def test_many_files_of_which_one_lacks_a_segment_are_compared_once():
    ids = tuple(map(str, range(1000)))
    parts = [Material(ids=ids, texts=(ids,), name=f"f{i}") for i in range(500)]
    other = Material(ids=ids[1:], texts=(ids[1:],), name="last")
    start = time.process_time()
    with pytest.raises(InputError, match="last has none for 1 of the 1,000 segments of f0"):
        combine([*parts, other])
    assert time.process_time() - start < QUICK * 500 * len("".join(ids))


def test_metrics_and_people_without_a_common_segment_take_no_memory():
    own = {f"s{i}": {f"q{i}": 1} for i in range(3000)}
    wanted = MetricSet.of({"human": {"scores": own}, "metrics": {"bleu": {"segment": own}}})
    with pytest.raises(LimitError, match="9,000,000 segment scores"):
        scored_set(wanted, "", "", ())
