"""Health checks: what they find in small texts, and what they say, with names and segments."""

import html
import os
import random
import re
import subprocess
import sys

import pytest
import sacrebleu

from sigtest.data.health import KINDS, check

FUNCTION_WORDS = """
the of to in and for on with that this is was be are not by from at it he they have has will their
his her but because which who after before
"""
COMMON = FUNCTION_WORDS.split()
SYLLABLES = [a + b for a in "bcdfghklmnprstvw" for b in "aeiou"]
RARE = ["".join(random.Random(i).choices(SYLLABLES, k=3)) for i in range(3000)]


def sentences(seed, count=200):
    """Sentences of common and rare words, and of unequal lengths."""
    rng = random.Random(seed)

    def word():
        return rng.choice(COMMON if rng.random() < 0.5 else RARE)

    return [
        " ".join(["The", *(word() for _ in range(rng.randint(6, 30)))]) + "." for _ in range(count)
    ]


def translated(lines, seed):
    """The same with some words exchanged, as another translator would."""
    rng = random.Random(seed)
    return [
        " ".join(word if rng.random() < 0.7 else rng.choice(COMMON) for word in line[:-1].split())
        + "."
        for line in lines
    ]


REFERENCE = sentences(1)
SOURCE = [
    " ".join("q" + word[::-1] for word in line[:-1].lower().split()) + "." for line in REFERENCE
]
GOOD = translated(REFERENCE, 2)
OTHER = translated(REFERENCE, 3)


def kinds(output, source=SOURCE, **others):
    found = check([REFERENCE], source, {"aspen": output, **others})
    assert all(finding.kind in KINDS for finding in found)
    return {finding.kind: finding for finding in found if finding.system == "aspen"}


def test_nothing_is_said_of_good_outputs():
    assert check([REFERENCE], SOURCE, {"aspen": GOOD, "birch": OTHER}) == ()
    assert check([REFERENCE], None, {"aspen": GOOD, "birch": OTHER}) == ()
    assert check([], None, {"aspen": GOOD}) == ()
    assert check([REFERENCE], SOURCE, {}) == ()


def test_the_first_reference_that_has_a_line_counts():
    holes = [None if i % 2 else line for i, line in enumerate(REFERENCE)]
    assert check([holes, REFERENCE], SOURCE, {"aspen": GOOD}) == ()


@pytest.mark.parametrize("lines", [1, -1, 3, -12, 40])
def test_a_shifted_output_is_named_with_its_first_segment(lines):
    moved = GOOD[lines:] + GOOD[:lines]
    found = kinds(moved)["shifted"]
    assert f"shifted by {abs(lines)} line" in found.sentence
    assert found.sentence.startswith("aspen: ")
    start = found.segments[0]
    assert f"segment {start} fits the reference of segment {start + lines}" in found.sentence
    assert len(found.segments) >= 0.25 * len(GOOD)


def test_a_shifted_stretch_is_found_where_it_is():
    moved = GOOD[:80] + GOOD[81:120] + GOOD[80:81] + GOOD[120:]
    found = kinds(moved)["shifted"]
    assert 79 <= found.segments[0] <= 84
    assert 115 <= found.segments[-1] <= 120
    assert "-" in found.sentence


@pytest.mark.parametrize("start", [31, 80, 157, 178])
def test_a_short_stretch_whose_lengths_say_just_enough_is_looked_at(start):
    end = start + 9
    moved = GOOD[:start] + GOOD[start + 1 : end + 1] + GOOD[start : start + 1] + GOOD[end + 1 :]
    assert start + 1 <= kinds(moved)["shifted"].segments[0] <= start + 2


def test_lines_in_another_order_are_said():
    shuffled = list(GOOD)
    random.Random(5).shuffle(shuffled)
    assert "another order" in kinds(shuffled)["shifted"].sentence


def test_empty_lines_are_counted_where_references_have_text():
    found = kinds(["" if i in {3, 7} else " " if i == 8 else line for i, line in enumerate(GOOD)])
    assert found["empty"].segments == (4, 8, 9)
    assert found["empty"].sentence == "aspen: segments 4, 8-9 have no output."
    assert kinds(["", *GOOD[1:]])["empty"].segments == (1,)
    assert kinds([*GOOD[:-1], "\u3000"])["empty"].segments == (200,)


def test_lines_that_end_early_are_truncated():
    cut = [line[: len(line) // 2] if i % 9 == 0 else line for i, line in enumerate(GOOD)]
    found = kinds(cut)["truncated"]
    assert {s - 1 for s in found.segments} <= set(range(0, 200, 9))
    assert len(found.segments) >= 15


def test_copies_of_source_reference_and_systems_are_told_apart():
    source = [SOURCE[i] if i % 20 == 0 else line for i, line in enumerate(GOOD)]
    assert kinds(source)["equals_source"].segments == tuple(range(1, 201, 20))
    assert "10 of 200 lines are those of the source" in kinds(source)["equals_source"].sentence
    assert "those of the reference" in kinds(REFERENCE)["equals_reference"].sentence
    short = ["Yes.", *REFERENCE[1:]]  # a line that two texts may share by chance
    copied = {finding.kind: finding for finding in check([short], None, {"a": short})}
    assert copied["equals_reference"].segments == tuple(range(1, len(short) + 1))
    stretch = GOOD[:50] + REFERENCE[50:80] + GOOD[80:]
    assert kinds(stretch)["equals_reference"].segments[0] in {50, 51}
    short = GOOD[:50] + REFERENCE[50:62] + GOOD[62:]
    assert kinds(short)["equals_reference"].segments[-1] in {62, 63}
    found = check([REFERENCE], SOURCE, {"birch": GOOD, "aspen": GOOD})
    assert [(f.kind, f.system) for f in found] == [("equals_system", "aspen")]
    assert "those of birch" in found[0].sentence


def test_a_line_repeated_for_other_segments_is_said():
    found = kinds(GOOD[:60] + [GOOD[60]] * 10 + GOOD[70:])["copied_lines"]
    assert set(found.segments) <= set(range(61, 71))
    assert len(found.segments) >= 8


def test_other_languages_and_scripts_are_judged_against_references():
    foreign = [line.replace("q", "zu") for line in SOURCE]
    assert "wrong_language" in kinds(foreign)
    found = kinds(foreign, source=None)["wrong_language"]
    assert "the language seems to be another than that of the references: 0% of" in found.sentence
    some = [foreign[i] if i % 10 == 0 else line for i, line in enumerate(GOOD)]
    assert set(kinds(some, source=None)["wrong_language"].segments) <= set(range(1, 201, 10))
    letters = str.maketrans("abcdefghijklmnopqrstuvwxyz", "абцдефгхийклмнопярстуввхыз")
    cyrillic = [line.lower().translate(letters) for line in GOOD]
    assert (
        "written in Cyrillic, the references in Latin" in kinds(cyrillic)["wrong_script"].sentence
    )
    some = [cyrillic[i] if i % 10 == 0 else line for i, line in enumerate(GOOD)]
    assert kinds(some)["wrong_script"].segments == tuple(range(1, 201, 10))
    some = [GOOD[i] if i % 10 == 0 else line for i, line in enumerate(cyrillic)]
    (found,) = check([[line.lower().translate(letters) for line in REFERENCE]], None, {"a": some})
    assert found.sentence.endswith("are hardly in Cyrillic, as their references are.")


ACCENTED = [line.replace("the", "thé").replace("not", "nöt") for line in GOOD]
DAMAGE = {
    "read as Latin-1": (
        [line.encode().decode("latin-1") for line in ACCENTED], "read as another encoding",
    ),
    "read as cp1252": (
        [line.encode().decode("cp1252") for line in ACCENTED], "read as another encoding",
    ),
    "replaced": ([line.replace("é", "\ufffd") for line in ACCENTED], "U+FFFD"),
    "question marks": ([line.replace("ö", "?") for line in ACCENTED], "question marks"),
    "entities": ([html.escape(f'"{line}"') for line in GOOD], "HTML entities"),
    "escapes": ([line.replace("é", "\\u00e9") for line in ACCENTED], "escapes"),
    "subwords": ([line.replace("because", "be@@ cause") for line in GOOD], "@@"),
    "controls": ([line.replace("that", "th\x07at") for line in GOOD], "control characters"),
    "accents": ([line.replace("é", "e\u0301") for line in ACCENTED], "NFD"),
}  # fmt: skip


@pytest.mark.parametrize(("output", "part"), DAMAGE.values(), ids=DAMAGE)
def test_damaged_letters_are_named(output, part):
    found = kinds(output)["encoding"]
    assert part in found.sentence
    assert len(found.segments) >= 20


def test_each_kind_of_damage_is_named_with_its_own_lines():
    lines = ["\ufffd", "\x07", "\x07\ufffd", *GOOD[3:]]
    found = [f.sentence for f in check([REFERENCE], None, {"a": lines}) if f.kind == "encoding"]
    assert found == [
        "a: segments 1, 3 have replacement characters (U+FFFD).",
        "a: segments 2-3 have control characters.",
    ]


def test_what_references_have_too_is_no_damage():
    entities = [html.escape(f'"{line}"') for line in GOOD]
    assert check([[f'"{line}"' for line in REFERENCE]], None, {"a": entities})[0].kind == "encoding"
    references = [html.escape(f'"{line}"') for line in REFERENCE]
    assert check([references], None, {"a": entities}) == ()


def agglutinated(lines):
    """The same with each common word written together with the next, as in Zulu or Turkish."""
    return [re.sub(rf"\b({'|'.join(COMMON)}) (?=\w)", r"\1", line, flags=re.I) for line in lines]


def test_a_language_with_few_function_words_is_no_other_language():
    reference, output = agglutinated(REFERENCE), agglutinated(GOOD)
    assert sum(map(len, map(str.split, output))) < 0.7 * sum(map(len, map(str.split, GOOD)))
    assert check([reference], None, {"aspen": output}) == ()
    (found,) = check([reference], None, {"aspen": agglutinated(SOURCE)})
    assert found.kind == "wrong_language"


def test_marks_of_sentencepiece_make_no_other_language():
    pieces = [
        " ".join(f"\u2581{word[:4]} {word[4:]}".strip() for word in line.split()) for line in GOOD
    ]
    assert "wrong_language" not in kinds(pieces)
    assert "encoding" in kinds(pieces)


def with_lines(lines, order):
    return [lines[order.get(i, i)] for i in range(len(lines))]


@pytest.mark.parametrize(
    "order",
    [{i: 139 - i for i in range(50, 90)}, {20: 120, 120: 20}],
    ids=["a reversed block of 40 lines", "two lines swapped"],
)
def test_lines_in_another_order_are_found_where_few_are(order):
    assert "shifted" in kinds(with_lines(GOOD, order))


FRAMES = {
    "numbers": ([f"{i + 1}. {line}" for i, line in enumerate(GOOD)], "a number or a time"),
    "times": ([f"[00:{i % 60:02}.00]{line}" for i, line in enumerate(GOOD)], "a number or a time"),
    "a list": ([f"- {line}" for line in GOOD], "the mark of a list"),
    "headings": ([f"## {line}" for line in GOOD], "the mark of a list"),
    "a diff": ([f"{'+-'[i % 2]}{line}" for i, line in enumerate(GOOD)], "a diff"),
    "clock": ([f"0{i % 10}:07:12 {line}" for i, line in enumerate(GOOD)], "a number or a time"),
    "dates": ([f"2024-01-0{i % 10} {line}" for i, line in enumerate(GOOD)], "a number or a time"),
    "strings": ([f'"{line}"' for line in GOOD], "between quotation marks"),
    "keys": ([f"key.{i}={line}" for i, line in enumerate(GOOD)], "a name before = or :"),
    "answers": ([f"Translation: {line}" for line in GOOD], "a name before = or :"),
    "scores": ([f"-0.{i + 10} {line}" for i, line in enumerate(GOOD)], "a number or a time"),
    "tags of NLLB": ([f"eng_Latn {line}" for line in GOOD], "the tag of a language"),
    "tags of mBART": ([f"en_XX {line}" for line in GOOD], "the tag of a language"),
    "tags of OPUS-MT": ([f">>eng<< {line}" for line in GOOD], "the tag of a language"),
    "ids": ([f"ted_1-{i:04} {line}" for i, line in enumerate(GOOD)], "begin with an id"),
}


@pytest.mark.parametrize(("output", "part"), FRAMES.values(), ids=FRAMES)
def test_what_other_files_have_before_or_round_every_line_is_said(output, part):
    assert part in kinds(output)["framed"].sentence
    assert "framed" not in kinds([*GOOD[:20], *output[20:]])
    assert "framed" not in {finding.kind for finding in check([output], None, {"a": output})}


@pytest.mark.parametrize(
    ("own", "western"),
    [("„{}“", '"{}"'), ("« {} ».", '"{}"'), ("「{}」", '"{}"'), ("‘{}’", '"{}"'),
     ("{i}、{}", "{i}. {}"), ("（{i}）{}", "({i}) {}"), ("—{}", "- {}"), ("・{}", "* {}"),
     ("翻译：{}", "翻译: {}"), ("अनुवाद: {}", "Translation: {}"), ("คำแปล: {}", "Answer 1: {}")],
)  # fmt: skip
def test_marks_of_every_language_frame_lines(own, western):
    first, second = (
        [mark.format(line, i=i) for i, line in enumerate(GOOD)] for mark in (own, western)
    )
    assert "framed" in kinds(first)
    assert "framed" not in {finding.kind for finding in check([first], None, {"a": second})}
    assert "framed" not in {finding.kind for finding in check([second], None, {"a": first})}


def test_tokens_capitals_and_lengths_on_one_side_are_said():
    tokenised = [line.replace(".", " .") for line in GOOD]
    assert "is tokenised" in kinds(tokenised)["tokenised"].sentence
    (found,) = check([[line.replace(".", " .") for line in REFERENCE]], None, {"a": GOOD})
    assert "is not tokenised, the references are" in found.sentence
    shouted = [line.upper() for line in GOOD]
    assert "capital letters only" in kinds(shouted)["case"].sentence
    assert "1.86 characters" in kinds([f"{line} {line}" for line in GOOD])["length"].sentence


@pytest.mark.parametrize("width", [1, 2])
def test_blanks_between_chinese_words_are_neither_another_language_nor_another_order(width):
    rng = random.Random(5)
    letters = [chr(0x4E00 + i) for i in range(150)]
    clauses = ["".join(rng.choices(letters, k=rng.randint(12, 40))) for _ in range(600)]
    references = [*clauses[:200], *map(" ".join, zip(clauses[200:400], clauses[400:], strict=True))]
    parted = [" ".join(re.findall(f"\\S{{1,{width}}}", line)) for line in references]
    found = check([references], None, {"a": parted})
    assert [finding.kind for finding in found if finding.kind != "length"] == ["tokenised"]


def test_blanks_round_latin_words_in_chinese_are_not_those_between_words():
    rng = random.Random(3)
    chinese, latin = "请检查日志并重新启动服务的配置文件", ["API", "GPU", "JSON", "HTTP", "URL"]
    references = [
        " ".join("".join(rng.choices(chinese, k=7)) + f" {rng.choice(latin)}" for _ in range(5))
        for _ in range(100)
    ]
    joined = ["请" + line.replace(" ", "") for line in references]
    assert check([references], None, {"a": joined}) == ()


def test_short_lines_of_an_output_without_ends_of_sentences_are_not_cut():
    cut = [line[: len(line) * 2 // 3] if i % 9 == 0 else line for i, line in enumerate(GOOD)]
    assert "end early" in kinds(cut)["truncated"].sentence
    assert "truncated" not in kinds([line.rstrip(".") for line in cut])


CHINESE = ["市议会决定关闭旧广场", "经过三个小时的辩论", "居民对此并不满意"] * 10
JAPANESE = ["市議会は古い広場を閉鎖する", "三時間の討論のあと", "住民は満足していない"] * 10
KOREAN = ["시의회는 광장을 폐쇄하기로", "세 시간의 토론 끝에", "주민들은 만족하지 않는다"] * 10
THAI = ["สภาเมืองตัดสินใจปิดจัตุรัส", "หลังจากการอภิปรายสามชั่วโมง", "ชาวบ้านไม่พอใจ"] * 10


@pytest.mark.parametrize(
    ("lines", "script", "option", "other"),
    [
        (CHINESE, "Han", "tokenize=zh", ""),
        (JAPANESE, "Kana", "tokenize=ja-mecab", " or bleu:tokenize=char"),
        (KOREAN, "Hangul", "tokenize=ko-mecab", " or bleu:tokenize=char"),
        (THAI, "Thai", "tokenize=char", ""),
    ],
)
def test_scripts_without_blanks_need_their_tokenizer(lines, script, option, other):
    (found,) = check([lines], None, {"aspen": lines[::-1][:30]}, {"bleu": "13a"})[:1]
    assert found.kind == "tokenizer"
    assert f"in {script} script" in found.sentence
    assert found.sentence.endswith(f"; ask for bleu:{option}{other}.")
    assert ("Korean has none before its particles" in found.sentence) == (lines is KOREAN)
    right = check([lines], None, {"aspen": lines}, {"bleu": option.partition("=")[2]})
    assert "tokenizer" not in {finding.kind for finding in right}
    assert "tokenizer" not in {
        f.kind for f in check([REFERENCE], None, {"a": GOOD}, {"bleu": "13a"})
    }


@pytest.mark.parametrize(
    ("lines", "used", "advice"),
    [
        (JAPANESE, "tercom", "ask for ter:normalized=true,asian_support=true."),
        (JAPANESE, "asian", None),
        (THAI, "tercom", "use chrf, or bleu:tokenize=char."),
        (THAI, "asian", "use chrf, or bleu:tokenize=char."),  # which leaves Thai whole
        (KOREAN, "tercom", "use chrf, or bleu:tokenize=ko-mecab."),
        (KOREAN, "asian", None),
    ],
)
def test_ter_is_advised_where_it_can_cut_words(lines, used, advice):
    found = [f.sentence for f in check([lines], None, {"a": lines}, {"ter": used})]
    said = [sentence.partition("; ")[2] for sentence in found if "tokenizer" in sentence]
    assert said == ([advice] if advice else [])
    cut = sacrebleu.TER(normalized=True, asian_support=True)
    apart = cut.sentence_score(lines[0], [lines[0][1:]]).score < 50
    assert apart == (lines is not THAI)


@pytest.mark.parametrize(
    ("opening", "rest"),
    [
        ("կառավարությունը այսօր նոր", "օրենք ընդունեց և մարդիկ կարդում են։"),
        ("ᒐᕙᒪᒃᑯᑦ ᐅᓪᓗᒥ ᐅᖃᖅᑐᑦ ᐊᒻᒪ", "ᓄᑕᖅᑲᑦ ᐃᓕᓐᓂᐊᕐᕕᖕᒥ ᐅᖃᓕᒫᖅᑐᑦ᙮"),
        ("मैंने उस से कहा कि चलो", "अब घर चलते हैं और सो जाते हैं॥"),
    ],
)
def test_sentences_end_with_the_marks_of_their_language(opening, rest):
    rng = random.Random(1)
    lines = [" ".join([*rng.sample(opening.split(), 3), rest]) for _ in range(100)]
    good = [" ".join([*rng.sample(opening.split(), 3), rest]) for _ in range(100)]
    cut = [line[: len(line) * 3 // 5] if i % 10 == 0 else line for i, line in enumerate(good)]
    found = {f.kind: f.segments for f in check([lines], None, {"a": cut})}
    assert set(found["truncated"]) <= set(range(1, 101, 10))
    assert len(found["truncated"]) >= 8
    assert "truncated" not in {f.kind for f in check([lines], None, {"a": good})}


def test_questions_with_a_blank_before_their_mark_have_lost_no_letters():
    references = [f"{line[:-1]}? said he." if i % 3 else line for i, line in enumerate(REFERENCE)]
    spaced = [line.replace("?", " ?") for line in references]
    narrow = [line.replace("?", "\u202f?") for line in references]
    assert not any(f.kind == "encoding" for f in check([references], None, {"a": spaced}))
    assert not any(f.kind == "encoding" for f in check([references], None, {"a": narrow}))
    lost = [line.replace(" a", " ?") for line in spaced]
    assert any("question marks" in f.sentence for f in check([references], None, {"a": lost}))


def test_one_line_for_several_segments_of_one_source_is_no_copy():
    asked = [SOURCE[0] if i % 9 == 0 else line for i, line in enumerate(SOURCE)]
    answered = [GOOD[0] if i % 9 == 0 else line for i, line in enumerate(GOOD)]
    assert "copied_lines" in kinds(answered)
    assert "copied_lines" not in kinds(answered, source=asked)


def test_lines_left_in_latin_letters_are_found_where_names_are_in_these_too():
    names = ["GNU", "Linux", "Python", "iOS"]
    references = [f"{CHINESE[i % 3]}{CHINESE[i % 7]}{names[i % 4]}" for i in range(100)]
    some = [GOOD[i] if i % 10 == 0 else line[1:] for i, line in enumerate(references)]
    found = {f.kind: f.segments for f in check([references], None, {"a": some})}
    assert found["wrong_script"] == tuple(range(1, 101, 10))


def test_findings_are_the_same_in_every_process():
    """The order of a set of strings is another one in each process, and reports must not be."""
    said = """
from sigtest.data.health.texts import Lines
print(sorted(Lines([" ".join(f"w{i}" for i in range(1000))]).common))
"""
    told = {
        subprocess.run(
            [sys.executable, "-c", said],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True, text=True, check=True, timeout=60,
        ).stdout
        for seed in "123"
    }  # fmt: skip
    assert len(told) == 1
    assert "w" in told.pop()
