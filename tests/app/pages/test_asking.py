"""Forms of every kind: made of its fields, read as the shell reads them, with an example each."""

import html
import io
import re
import zipfile
from typing import Any

import httpx
import pytest
from browsing import visit

from app.requests.bodies import Form
from app.requests.forms import request_of
from sigtest.kinds import KINDS

OTHERS = [path for path in KINDS if path != "comparisons"]
JSON = {"Accept": "application/json"}
BROWSER = {"Sec-Fetch-Site": "same-origin"}
JUDGED = b"""annotator,system,segment,score
w1,A,1,81\nw1,A,2,64\nw1,A,3,90\nw1,B,1,55\nw1,B,2,60\nw1,B,3,71
w2,A,1,69\nw2,A,2,52\nw2,A,3,78\nw2,B,1,43\nw2,B,2,48\nw2,B,3,59
"""
TEXTS = [
    ("files", ("reference.txt", b"a b c d e\nf g h i j\nk l m n o\np q r s t\n" * 5)),
    ("files", ("one.txt", b"a b c d\nf g h i\nk l m n o\np q r s t\n" * 5)),
    ("files", ("two.txt", b"a b c x y\nf g h\nk l m n o\np q z z t\n" * 5)),
]


def ask(pages: httpx.Client, path: str, **form: Any) -> httpx.Response:
    return pages.post(f"/{path}", headers=BROWSER, **form)


def page_of(pages: httpx.Client, asked: httpx.Response) -> str:
    """The page of the report, once it is there."""
    assert asked.status_code == 303, asked.text
    address = asked.headers["location"]
    waiting = {"Prefer": "wait=60", "Accept": "*/*"}
    while pages.get(f"/v1{address}", headers=waiting).json()["status"] in {"queued", "running"}:
        pass
    return html.unescape(pages.get(address).text)


@pytest.mark.parametrize("path", OTHERS)
def test_every_field_of_a_kind_can_be_chosen_and_is_explained(pages, path):
    page = html.unescape(pages.get(f"/{path}").text)
    kind = KINDS[path]
    fields = [(field.name, field) for field in kind.fields]
    fields += [(f"{name}.{own.name}", own) for name, fs in kind.inside.items() for own in fs]
    for name, field in fields:
        assert re.search(rf'name="{re.escape(name)}["."]', page)
        assert f"{field.about[1:]}.".replace("`", "") in page
        assert "?." not in field.about + "."
    for part in (*kind.parts, *kind.reading):
        assert f'name="{part}"' in page


def test_an_evalset_is_evaluated_on_a_page(pages):
    held = io.BytesIO()
    scores = {"human-scores/xx-yy.mqm": (1, 2, 4, 3), "metric-scores/xx-yy/M-src": (1, 3, 4, 2)}
    with zipfile.ZipFile(held, "w") as packed:
        for name, own in scores.items():
            rows = "".join(f"{s}\t{v}\n" for s, v in zip("ABCD", own, strict=True))
            packed.writestr(f"set/{name}.sys.score", rows)
    files = {"evalset": ("set.zip", held.getvalue())}
    refused = ask(pages, "metric-evaluations", files=files)
    assert 'data-fields="lp"' in refused.text
    asked = ask(pages, "metric-evaluations", files=files, data={"lp": "xx-yy", "gold": "mqm"})
    assert "0.800" in page_of(pages, asked)  # Pearson's r of these ranks


def untouched(page: str, action: str) -> list[tuple[str, str]]:
    """What a browser sends of a form in which nobody chose or wrote anything."""
    (form,) = re.findall(rf'<form [^>]*action="{action}" enctype.*?</form>', page, re.DOTALL)
    sent = re.findall(r'<input type="checkbox"[^>]* name="([^"]+)" value="([^"]+)" checked>', form)
    for name, options in re.findall(r'<select [^>]*name="([^"]+)".*?>(.*?)</select>', form):
        first, *rest = re.findall(r'<option(?: value="([^"]*)")?( selected)?>([^<]*)', options)
        value, _, words = next((own for own in rest if own[1]), first)
        sent.append((name, value if "value=" in options else words))
    sent += [
        (name, value)
        for name, value in re.findall(r'<input id="[^"]+" name="([^"]+)" value="([^"]*)"', form)
    ]
    return sent


def test_an_untouched_form_asks_what_a_request_without_choices_asks(pages):
    lines = ["a b c d e", "f g h i j", "k l m n o", "p q r s t"] * 5
    outputs = {"one": [line[:-2] for line in lines], "two": [line[4:] for line in lines]}
    documents = [f"d{i // 2}" for i in range(20)]
    texts = {"reference": lines, "documents": documents, **outputs}
    brought = [("files", (f"{k}.txt", "\n".join(own).encode())) for k, own in texts.items()]
    sent: dict[str, list[str]] = {}
    for name, value in untouched(pages.get("/").text, "/comparisons"):
        sent.setdefault(name, []).append(value)
    asked = ask(pages, "comparisons", files=brought, data=sent)
    systems = [{"name": name, "hypotheses": own} for name, own in outputs.items()]
    body = {"references": [lines], "documents": documents, "systems": systems,
            "metrics": ["bleu", "chrf"]}  # fmt: skip
    same = pages.post("/v1/comparisons", json=body)
    assert asked.headers["location"] == f"/comparisons/{same.json()['id']}"


def test_what_is_written_in_a_pattern_shows_it(pages):
    page = pages.get("/human-evaluations").text
    assert 'name="aliases" rows="2" placeholder="FROM=TO"' in page
    assert page.count('name="scale" inputmode="decimal"') == 2
    assert "FIELD=VALUE" not in page
    assert 'name="criteria" rows="2" placeholder=""' in page


def test_what_is_no_pair_of_names_is_told_by_the_name_of_the_field(pages):
    judged = {"judgements": ("judged.csv", JUDGED)}
    refused = ask(pages, "human-evaluations", files=judged, data={"aliases": "elm"})
    assert refused.status_code == 422
    assert "aliases takes FROM=TO, not 'elm'" in html.unescape(refused.text)
    refused = ask(pages, "human-evaluations", files=judged, data={"alpha": "much"})
    assert (refused.status_code, "alpha must be" in refused.text) == (422, True)


def test_quality_control_is_chosen_field_by_field(pages):
    judged = {"judgements": ("judged.csv", JUDGED)}
    refused = ask(pages, "human-evaluations", files=judged, data={"quality.threshold": "2"})
    assert (refused.status_code, "quality.threshold must" in refused.text) == (422, True)


@pytest.mark.parametrize("path", OTHERS)
def test_every_kind_has_an_example_to_try(pages, path):
    name = next(iter(KINDS[path].examples))
    asked = ask(pages, path, data={"example": name})
    assert 'id="say"' in page_of(pages, asked)
    links = pages.get(f"/v1{asked.headers['location']}", headers=JSON).json()["links"]
    assert all(pages.get(address).status_code == 200 for address in links["plots"].values())


def test_judgements_are_looked_at_before_anything_runs(pages):
    before = pages.get("/v1/human-evaluations").json()
    brought = {"judgements": ("judged.csv", JUDGED)}
    looked = ask(pages, "human-evaluations", files=brought, data={"do": "look", "alpha": "0.01"})
    assert "12 rows, read as" in looked.text
    assert "12 judgements, 3 segments, 2 annotators." in looked.text
    assert "Criterion: score." in looked.text
    assert "metric:" not in looked.text
    assert "12 judgements, 3 segments, 2 annotators" in looked.text
    assert "2 systems: A, B" in looked.text
    assert pages.get("/v1/human-evaluations").json() == before
    kept = re.search(r'name="kept" value="([^"]+)"', looked.text)
    assert kept is not None
    asked = ask(pages, "human-evaluations", data={"kept": html.unescape(kept[1])})
    again = ask(pages, "human-evaluations", files=brought, data={"alpha": "0.01"})
    assert asked.headers["location"] == again.headers["location"]


def test_a_plan_takes_files_or_a_finished_comparison(pages):
    data = {"comparison.metrics": "chrf", "difference": "2"}
    looked = ask(pages, "plans", files=TEXTS, data={**data, "do": "look"})
    assert "2 systems, 20 segments, 1 reference" in looked.text
    assert "chrf" in page_of(pages, ask(pages, "plans", files=TEXTS, data=data))
    pilot = pages.post("/comparisons", files=TEXTS, data={"resamples": "99"}, headers=BROWSER)
    page_of(pages, pilot)
    question_id = pilot.headers["location"].rpartition("/")[2]
    assert question_id in pages.get("/plans").text
    named = ask(pages, "plans", data={"comparison.id": question_id, "difference": "2"})
    assert 'id="say"' in page_of(pages, named)


def test_choices_are_read_as_the_shell_reads_them():
    form = Form([
        ("criteria", "fluency\r\nadequacy\r\n"),
        ("aliases", "online A=a"),
        ("scale", "0"),
        ("scale", "100"),
        ("quality.test", "welch"),
        ("quality.min_pairs", "4"),
        ("quality.threshold", ""),
        ("longitudinal.best_old", ""),
        ("alpha", "0.01"),
        ("seed", ""),
        ("show_annotators", "1"),
        ("title", "mine"),
    ])  # fmt: skip
    assert request_of(form, KINDS["human-evaluations"]) == {
        "quality": {"test": "welch", "min_pairs": 4},
        "alpha": 0.01, "scale": [0.0, 100.0], "criteria": ["fluency", "adequacy"],
        "aliases": {"online A": "a"}, "show_annotators": True, "title": "mine",
    }  # fmt: skip
    nested = Form([
        ("human.criteria", "fluency"), ("human.evaluation", "0" * 32), ("alphas", "0.1, 0.05"),
        ("comparison.metrics", "bleu"), ("comparison.metrics", "ter"), ("comparison.id", ""),
    ])  # fmt: skip
    assert request_of(nested, KINDS["test-accuracy"]) == {
        "alphas": [0.1, 0.05],
        "human": {"criteria": ["fluency"], "evaluation": "0" * 32},
        "comparison": {"metrics": ["bleu", "ter"]},
    }


@pytest.mark.parametrize(
    ("typed", "read"),
    [("1,000", 1000), ("12 345,678", "12 345,678"), ("1 000 000", 1_000_000), (" 7 ", 7),
     ("1,2", "1,2"), ("1 2", "1 2"), ("10,00", "10,00"), ("1,2,3", "1,2,3"),
     ("1000,000", "1000,000"), ("1.000", "1.000")],
)  # fmt: skip
def test_marks_in_numbers_stand_between_groups_of_three_digits(typed, read):
    assert request_of(Form([("units", typed)]), KINDS["plans"]) == {"units": read}


def test_a_number_with_other_marks_is_refused_with_its_field(pages):
    judged = {"judgements": ("judged.csv", JUDGED)}
    refused = ask(pages, "human-evaluations", files=judged, data={"resamples": "1,2"})
    assert refused.status_code == 422
    assert "resamples must be a whole number from 1 to 99999, not '1,2'" in html.unescape(
        refused.text
    )


@pytest.mark.parametrize(
    ("path", "data", "words"),
    [
        ("plans", {"comparison.id": "0" * 32}, "There is no comparison"),
        ("metric-evaluations", {"kept": "x"}, "damaged"),
        ("test-accuracy", {"example": "nothing"}, "nothing"),
    ],
)
def test_what_cannot_be_asked_is_explained(pages, path, data, words):
    answer = ask(pages, path, data=data)
    assert answer.status_code in {400, 404, 422}
    assert words in answer.text


@pytest.mark.parametrize("path", OTHERS)
def test_a_form_without_files_asks_for_them_and_not_for_json(pages, path):
    answer = ask(pages, path, data={"title": "mine"})
    assert answer.status_code == 422
    assert "No files yet" in answer.text
    part = next(iter(KINDS[path].parts), "files")
    assert f'data-fields="{part}"' in answer.text


def test_boxes_to_tick_push_no_other_label_away(pages, chromium):
    size = {"width": 1280, "height": 900}
    with visit(chromium, str(pages.base_url), viewport=size) as visited:
        page = visited.page
        page.goto("/metric-evaluations")
        page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true })")
        fields = page.locator(".two > .field")
        for place in range(fields.count()):
            own, label = fields.nth(place), fields.nth(place).locator("label, legend").first
            # titles of two lines are the most that stand beside titles of one
            assert label.bounding_box()["y"] - own.bounding_box()["y"] < 30, label.inner_text()
        assert (
            page.locator("fieldset label").first.evaluate("l => getComputedStyle(l).fontWeight")
            == "400"
        )
