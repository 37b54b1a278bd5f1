"""Health checks on real outputs: false alarms counted, and faults sown and found."""

import html
import random
import re
from functools import cache

import pytest

from sigtest.data.health import Output, check, find_shifts
from sigtest.data.health.texts import Lines
from sigtest.files.gathering import read_path
from sigtest.files.join import join

# what is really wrong with real outputs, looked at one by one
TRUE = {
    ("wmt12.es-en", "onlineB", "encoding"),  # &quot; and &#39; on 776 lines
    ("wmt13.en-ru", "cu-karel.2894", "encoding"),  # one U+FFFD
    ("wmt23.he-en", "Lan-BridgeMT", "encoding"),  # three backspaces and the like
    ("wmt23.he-en", "UvA-LTL", "encoding"),  # <unk> on 18 lines, two \u2665
    ("wmt23.he-en", "ZengHuiMT", "empty"),  # 14 empty lines
    ("wmt25", "In2x", "truncated"),  # 16 paragraphs of which half is missing
    ("wmt25", "In2x", "encoding"),  # one U+FFFD
    ("wmt25", "SRPOL", "equals_source"),  # four paragraphs are Japanese still
    ("wmt25", "SRPOL", "wrong_script"),
    ("wmt25", "SRPOL", "length"),  # eight paragraphs that repeat or leave the language
    ("wmt25", "SRPOL", "encoding"),  # U+FFFD on 19 paragraphs
}


def corpora(data, example):
    """Name, references, sources and outputs of all real test sets."""
    folders = ("wmt12.es-en", "wmt13.en-ru", "wmt17.en-de", "wmt22.cs-en", "flores21.bn-hi",
               "wmt23.he-en")  # fmt: skip
    found = [(name, read_path(data / name)) for name in folders]
    ocelot, wmt25 = data / "formats/ocelot", data / "formats/wmt25"
    name = "newstest2019.msft-WMT19-document-level.6808.en-de.sgm"
    groups = {
        "wmt25": [wmt25 / "wmt25-genmt.ja-zh_CN.jsonl", *sorted((wmt25 / "systems").iterdir())],
        "ocelot.de": [ocelot / "newstest2019-ende-ref.de.sgm",
                      ocelot / "newstest2019-ende-src.en.sgm", ocelot / name],
        "ocelot.ha": [ocelot / "sample-src-ref.xml", ocelot / "sample-hyp.xml"],
        "ocelot.multi": [ocelot / "multi-src-ref.xml", ocelot / "multi-hypA.xml"],
        "meteor": [data / "meteor-example/ref.sgm", data / "meteor-example/test.sgm"],
        "comet": [data / "formats/comet/comet-score.json"],
    }  # fmt: skip
    found += [(name, join([read_path(path) for path in paths])) for name, paths in groups.items()]
    return [
        (name, m.references, m.sources, {system: runs[0] for system, runs in m.systems})
        for name, m in found
    ]


@pytest.fixture(scope="module")
def real(data, example):
    return corpora(data, example)


@pytest.fixture(scope="module")
def findings(real):
    """Set and finding, with all that is known of each set."""
    return [
        (name, finding)
        for name, references, sources, systems in real
        for finding in check(references, sources, systems)
    ]


ONE_REFERENCE = pytest.param(True, marks=pytest.mark.slow)  # at a time


@pytest.mark.parametrize("alone", [False, ONE_REFERENCE])
def test_real_outputs_give_at_most_one_false_alarm(real, findings, alone):
    looked_at, shown = sum(len(systems) for *_, systems in real), list(findings)
    for name, references, sources, systems in real if alone else ():
        for lines in references if len(references) > 1 else ():
            looked_at += len(systems)
            shown += [(name, finding) for finding in check([lines], sources, systems)]
    false = [
        (name, finding.sentence)
        for name, finding in shown
        if (name, finding.system, finding.kind) not in TRUE
    ]
    assert looked_at >= (100 if alone else 80)
    assert len(false) <= 1, false


def test_all_that_is_known_to_be_wrong_is_found(findings):
    assert {(name, finding.system, finding.kind) for name, finding in findings} >= TRUE


@pytest.mark.slow
def test_without_sources_real_outputs_give_no_more(real):
    for name, references, _, systems in real:
        for finding in check(references, None, systems):
            assert (name, finding.system, finding.kind) in TRUE, finding.sentence


def test_other_references_are_healthy_outputs(real):
    for name, references, sources, _ in real:
        for a, b in ((0, 1), (1, 0)) if len(references) > 1 else ():
            assert check([references[a]], sources, {name: references[b]}) == ()


def some(rng, lines, share):
    return set(rng.sample(range(len(lines)), max(5, int(share * len(lines)))))


def shift_all(rng, lines, _):
    k = rng.choice([1, 2, 3, 5, 10, 40])
    return rng.choice([lines[k:] + [""] * k, [""] * k + lines[:-k], lines[k:] + lines[:k]])


def shift_stretch(rng, lines, _):
    size = rng.randint(40, min(200, len(lines) // 2))
    start, k = rng.randrange(len(lines) - size), rng.choice([1, -1, 2, -2])
    part = lines[start : start + size]
    return lines[:start] + part[k:] + part[:k] + lines[start + size :]


def one_line_more(rng, lines, _):
    at = rng.randrange(len(lines) * 3 // 4)
    return [*lines[:at], rng.choice(["", "Thank you."]), *lines[at:-1]]


def one_line_less(rng, lines, _):
    at = rng.randrange(len(lines) * 3 // 4)
    return lines[:at] + lines[at + 1 :] + lines[-1:]


def shuffle(rng, lines, _):
    return rng.sample(lines, len(lines))


def empty(rng, lines, _):
    chosen = set(rng.sample(range(len(lines)), rng.randint(1, 10)))
    return ["" if i in chosen else line for i, line in enumerate(lines)]


def cut_letters(rng, lines, _):
    size = sorted(map(len, lines))[int(len(lines) * rng.choice([0.3, 0.5, 0.7]))]
    return [line[:size] for line in lines]


def cut_words(rng, lines, _):
    size = rng.choice([10, 15, 20, 25])
    return [" ".join(line.split()[:size]) for line in lines]


def cut_some(rng, lines, _):
    chosen = some(rng, lines, rng.choice([0.05, 0.1]))
    return [
        line[: int(len(line) * rng.uniform(0.3, 0.6))] if i in chosen else line
        for i, line in enumerate(lines)
    ]


def source_all(rng, lines, texts):
    return list(texts["source"])


def source_some(rng, lines, texts):
    chosen = some(rng, lines, 0.03)
    return [texts["source"][i] if i in chosen else line for i, line in enumerate(lines)]


def reference_all(rng, lines, texts):
    return list(texts["reference"])


def reference_stretch(rng, lines, texts):
    start = rng.randrange(len(lines) - 40)
    return lines[:start] + list(texts["reference"][start : start + 40]) + lines[start + 40 :]


def other_all(rng, lines, texts):
    return list(texts["other"])


def other_most(rng, lines, texts):
    return [
        theirs if rng.random() < 0.97 else line
        for line, theirs in zip(lines, texts["other"], strict=True)
    ]


def language_all(rng, lines, texts):
    return [texts["foreign"][i % len(texts["foreign"])] for i in range(len(lines))]


def language_some(rng, lines, texts):
    chosen = some(rng, lines, 0.1)
    foreign = language_all(rng, lines, texts)
    return [foreign[i] if i in chosen else line for i, line in enumerate(lines)]


def repeat_stretch(rng, lines, _):
    size = rng.randint(10, 30)
    start = rng.randrange(len(lines) - size)
    line = max(lines[start : start + size], key=len)
    return lines[:start] + [line] * size + lines[start + size :]


def repeat_some(rng, lines, _):
    chosen = some(rng, lines, 0.02)
    return [lines[i - 1] if i in chosen and i else line for i, line in enumerate(lines)]


def as_latin(rng, lines, _):
    chosen = some(rng, lines, rng.choice([0.1, 1]))
    return [
        line.encode().decode("latin-1") if i in chosen else line for i, line in enumerate(lines)
    ]


def as_windows(rng, lines, _):
    return [line.encode().decode("cp1252", "replace") for line in lines]


def as_ascii(rng, lines, _):
    return [re.sub(r"[^\W\d_a-zA-Z]", "?", line) for line in lines]


def replaced(rng, lines, _):
    chosen = some(rng, lines, 0.01)
    return [
        line[: len(line) // 2] + "\ufffd" + line[len(line) // 2 + 1 :] if i in chosen else line
        for i, line in enumerate(lines)
    ]


def escaped(rng, lines, _):
    return [html.escape(line) for line in lines]


def doubled(rng, lines, _):
    return [f"{line} {line}" for line in lines]


def looped(rng, lines, _):
    """What models do that cannot stop."""
    chosen = {i for i in some(rng, lines, 0.02) if len(lines[i]) > 20}
    return [
        f"{line} {' '.join(line.split()[-3:] * rng.randint(20, 40))}" if i in chosen else line
        for i, line in enumerate(lines)
    ]


def halved(rng, lines, _):
    return [line[: len(line) // 2] for line in lines]


def tokenised(rng, lines, _):
    return [re.sub(r'([.,!?:;()"।])', r" \1 ", line) for line in lines]


FAULTS = {
    "shifted": [shift_all, shift_stretch, one_line_more, one_line_less, shuffle],
    "empty": [empty],
    "truncated": [cut_letters, cut_words, cut_some],
    "equals_source": [source_all, source_some],
    "equals_reference": [reference_all, reference_stretch],
    "equals_system": [other_all, other_most],
    "wrong_language|wrong_script|equals_source": [language_all, language_some],
    "copied_lines": [repeat_stretch, repeat_some],
    "encoding": [as_latin, as_windows, as_ascii, replaced, escaped],
    "length": [doubled, looped],
    "length|truncated": [halved],
    "tokenised": [tokenised],
}
SOWN = [(kind, fault) for kind, faults in FAULTS.items() for fault in faults]
SETS = ("wmt12.es-en", "wmt13.en-ru", "wmt22.cs-en", "flores21.bn-hi", "wmt23.he-en")
FIRST = range(1)  # tries
FEW_LETTERS = 20  # lines that a fault must change to be one


@pytest.fixture(scope="module")
def missed(real):
    """Tries of a range, on all sets, in which a fault was sown and not found, and what was."""
    sets = {name: rest for name, *rest in real}
    german = list(next(iter(sets["wmt17.en-de"][2].values())))

    def sow(fault, name, attempt):
        """The output of one system, the same damaged, and the name of another system."""
        references, sources, systems = sets[name]
        rng = random.Random(f"{name} {fault.__name__} {attempt}")
        system, other = rng.sample(sorted(systems), 2)
        lines = list(systems[system])
        texts = {
            "source": sources, "reference": references[0], "other": systems[other],
            "foreign": rng.choice([german, list(sources)]),
        }  # fmt: skip
        return lines, fault(rng, lines, texts), other

    def missed_on(kind, fault, name, tries):
        references, sources, systems = sets[name]
        damaged, others = {}, {}
        for attempt in tries:
            lines, damaged_lines, other = sow(fault, name, attempt)
            if kind == "encoding" and sum(map(str.__ne__, damaged_lines, lines)) < FEW_LETTERS:
                continue  # nothing in it that could be damaged
            damaged[attempt], others[attempt] = tuple(damaged_lines), other
        # what is found in one does not depend on the others, so tries share a check, and a text
        named = {text: f"damaged {i}" for i, text in enumerate(dict.fromkeys(damaged.values()))}
        beside = {one: systems[one] for one in others.values()} if kind == "equals_system" else {}
        shown = check(references, sources, beside | {one: text for text, one in named.items()})

        def found_in(attempt):
            whose = rf" those of {re.escape(others[attempt])}(\.$| \()" if beside else ""
            return [
                f.kind
                for f in shown
                if f.system == named[damaged[attempt]] and re.search(whose, f.sentence)
            ]

        return [
            (name, attempt, found_in(attempt))
            for attempt in damaged
            if not any(re.fullmatch(kind, each) for each in found_in(attempt))
        ]

    @cache  # the first tries are part of both tests
    def missed(kind, fault, tries, names=SETS):
        return [miss for name in names for miss in missed_on(kind, fault, name, tries)]

    return missed


@pytest.mark.parametrize(("kind", "fault"), SOWN, ids=[fault.__name__ for _, fault in SOWN])
def test_a_fault_is_found_on_real_sets(kind, fault, missed):
    assert missed(kind, fault, FIRST, SETS[2:4]) == []


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "fault"), SOWN, ids=[fault.__name__ for _, fault in SOWN])
def test_a_fault_is_found_in_20_of_20_tries(kind, fault, missed):
    assert missed(kind, fault, FIRST) + missed(kind, fault, range(FIRST.stop, 20)) == []


def turned(rng, lines, _):
    start = rng.randrange(len(lines) - 40)
    return [*lines[:start], *lines[start : start + 40][::-1], *lines[start + 40 :]]


def swapped(rng, lines, references):
    i, j = rng.sample([i for i, line in enumerate(references) if len(line) >= 100], 2)
    return [lines[{i: j, j: i}.get(place, place)] for place in range(len(lines))]


@pytest.mark.parametrize(("fault", "least"), [(turned, 8), (swapped, 3)])
def test_of_few_lines_in_another_order_some_are_found(fault, least, real):
    """Blocks nearly always; two lines where they have rare words, which is a limit."""
    for name, references, _, systems in real:
        if name in SETS:
            rng, reference = random.Random(name), Lines(references[0])
            outputs = [rng.choice([*systems.values()]) for _ in range(10)]
            damaged = [Lines(fault(rng, lines, references[0])) for lines in outputs]
            found = [find_shifts(Output(name, lines, reference)) for lines in damaged]
            assert sum(found) >= least, name


def test_a_few_scattered_lines_of_the_reference_are_no_fault(real):
    """A limit: real outputs have up to a quarter of such lines."""
    _, (references, *_), _, systems = next(entry for entry in real if entry[0] == "wmt12.es-en")
    lines = list(next(iter(systems.values())))
    for i in random.Random(7).sample(range(len(lines)), 20):
        lines[i] = references[i]
    found = {finding.kind for finding in check([references], None, {"a": lines})}
    assert "equals_reference" not in found
    equal = [
        sum(map(str.__eq__, references[0], lines)) / len(lines)
        for name, references, _, systems in real
        for lines in systems.values()
        if name == "wmt23.he-en"
    ]
    assert max(equal) > 0.2
