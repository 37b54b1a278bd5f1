"""Pages as answers: who gets them, what they hold, what they refuse."""

import base64
import gzip
import html
import os
import re
from typing import Any

import httpx
import pytest
from exchange import submit

from app.requests.forms import USUAL

HOSTILE = "<b onclick=alert(1)>"
LINES = ["a b c d e", "f g h i j", "k l m n o"]
SCORES = [0.5, 0.25, 1.0]


def ask(pages: httpx.Client, **form: Any) -> httpx.Response:
    """Send the form of the first page, as a browser does."""
    return pages.post("/comparisons", headers={"Sec-Fetch-Site": "same-origin"}, **form)


def texts(*systems: str) -> list[tuple[str, tuple[str, bytes]]]:
    reference = ("files", ("reference.txt", b"a b c d e\nf g h i j\nk l m n o\n"))
    outputs = [("files", (f"{name}.txt", b"a b c d\nf g h i\nk l m n o\n")) for name in systems]
    return [reference, *outputs]


def ids(pages: httpx.Client) -> list[str]:
    return [entry["id"] for entry in pages.get("/v1/comparisons").json()["comparisons"]]


@pytest.mark.parametrize("accept", [None, "*/*", "application/json", "application/json, text/html"])
def test_programs_get_json_at_the_addresses_of_pages(service, body, accept):
    new = int.from_bytes(os.urandom(4))  # the newest are listed first
    made = submit(service, {**body, "seed": new}).json()
    headers = {"Accept": accept} if accept else {}

    entry = service.get("/", headers=headers)
    own = service.get(f"/comparisons/{made['id']}", headers=headers)
    listed = service.get("/comparisons", headers=headers)

    assert entry.json()["questions"]["comparisons"] == "/v1/comparisons"
    assert own.json()["id"] == made["id"]
    assert made["id"] in [entry["id"] for entry in listed.json()["comparisons"]]


def test_pages_run_and_load_nothing_from_elsewhere(pages):
    answer = pages.get("/")

    policy = answer.headers["content-security-policy"]
    assert answer.headers["content-type"].startswith("text/html")
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert re.findall(r"https?://", answer.text.replace(str(pages.base_url), "")) == []
    assert re.findall(r"<script(?![^>]* src=)|<style|<[^>]* (?:style|on[a-z]+)=", answer.text) == []


def test_static_files_are_kept_for_good(pages):
    style = re.search(r'href="(/static/[^"]+\.css)"', pages.get("/").text)
    assert style is not None
    answer = pages.get(style[1])
    assert answer.headers["content-type"].startswith("text/css")
    assert "immutable" in answer.headers["cache-control"]
    assert pages.get("/static/x/../../site.py").status_code == 404


def test_a_form_is_answered_with_the_address_of_its_report(pages):
    asked = ask(pages, files=texts("A", "B"), data={"metrics": ["bleu", "ter"], "resamples": "99"})

    assert asked.status_code == 303
    made = pages.get(asked.headers["location"], headers={"Accept": "application/json"}).json()
    assert made["systems"] == ["A", "B"]
    assert made["metrics"] == ["bleu", "ter"]


def test_a_form_asks_what_post_asks(pages, service):
    asked = ask(pages, files=texts("A", "B"), data={"metrics": "bleu", "resamples": "99"})
    posted = service.post(
        "/v1/comparisons",
        files=[
            (("references" if i == 0 else "systems"), f) for i, (_, f) in enumerate(texts("A", "B"))
        ],
        data={"request": '{"metrics": ["bleu"], "resamples": 99}'},
    )
    assert asked.headers["location"].rpartition("/")[2] == posted.json()["id"]


@pytest.mark.parametrize(
    ("name", "other"), [("seed", f" from 0 to {2**64 - 1}"), ("resamples", ' or "auto"')]
)
def test_a_number_that_is_not_whole_is_told_so(pages, name, other):
    refused = ask(pages, files=texts("A", "B"), data={name: "1.5"})
    assert refused.status_code == 422
    assert f"{name} must be a whole number{other}, not '1.5'." in html.unescape(refused.text)


def test_what_was_recognised_is_shown_before_anything_is_computed(pages):
    before = ids(pages)
    files = [*texts("one", "other"), ("files", ("third.txt", b"a b c d e\n\nk l m n o\n"))]
    looked = ask(pages, files=files, data={"do": "look", "resamples": "101"})

    assert "3 systems, 3 segments, 1 reference" in looked.text
    assert "segment 2" in looked.text  # which third.txt leaves empty
    assert ids(pages) == before
    kept = re.search(r'name="kept" value="([^"]+)"', looked.text)
    assert kept is not None
    asked = ask(pages, data={"kept": html.unescape(kept[1])})
    again = ask(pages, files=files, data={"resamples": "101"})
    assert asked.headers["location"] == again.headers["location"]


def test_segments_that_a_system_lacks_are_dropped_where_that_is_chosen(pages):
    head = "id,system,reference,hypothesis"
    rows = [
        "1,A,a b c,a b c", "2,A,f g h,f g h", "3,A,x y z,x y", "1,B,a b c,a b", "2,B,f g h,f g"
    ]  # fmt: skip
    tables = {"all": rows[:3], "more": rows[3:]}
    files = [
        ("files", (f"{name}.csv", "\n".join([head, *lines, ""]).encode()))
        for name, lines in tables.items()
    ]
    refused = ask(pages, files=files, data={"resamples": "99", "missing": ""})
    assert refused.status_code == 422
    assert "missing &#34;drop&#34;" in refused.text
    asked = ask(pages, files=files, data={"resamples": "99", "missing": "drop"})
    assert asked.status_code == 303, asked.text


EVERY = "id,reference,hypothesis,system,testset\n" + "".join(
    f"{name}{i},a b c,a {i},{system},{name}\n"
    for name in ("de", "fr")
    for system in "AB"
    for i in "12"
)
MODELS = "task,one,two\n" + "".join(f"t{i},0.{i},0.{9 - i}\n" for i in range(1, 9))


@pytest.mark.parametrize(
    ("table", "refused", "chosen"),
    [
        (EVERY, "select (--testset in the shell)", {"select": "fr"}),
        (MODELS.replace("task", "name"), "Or say it with columns", {"columns": "tasks"}),
    ],
)
def test_what_a_message_asks_for_is_a_field_of_the_page(pages, table, refused, chosen):
    files = [("files", ("all.csv", table.encode()))]
    answer = ask(pages, files=files, data={"resamples": "99"})
    assert refused in html.unescape(answer.text)
    (name,) = chosen
    assert f"It is about {name}." in answer.text
    assert re.search(f'<(input|select) id="{name}" name="{name}"', pages.get("/").text)
    assert ask(pages, files=files, data={"resamples": "99", **chosen}).status_code == 303


def test_scores_are_known_by_their_content_whatever_their_file_is_called(pages):
    """As the shell knows them; comet-score prints such lines."""
    lines = "".join(
        f"{name}.en\tSegment {i}\tscore: 0.{i + 1}\n" for i in range(4) for name in "AB"
    )
    for file in (("comet.txt", lines), ("a.wer", "1 8\n0 5\n"), ("out", "0.5\n0.25\n")):
        files = [("files", (file[0], file[1].encode()))]
        looked = ask(pages, files=files, data={"do": "look", "metrics": USUAL})
        assert looked.status_code == 200, looked.text


@pytest.mark.parametrize("names", [("good", "bad"), ("bad", "good")])
def test_the_only_pair_is_shown_by_the_claim_that_holds(pages, names):
    score = {"good": 9, "bad": 1}
    table = "id," + ",".join(names) + "\n"
    table += "".join(
        f"{i},{','.join(f'{score[n] + i % 3 / 10}' for n in names)}\n" for i in range(20)
    )
    files = [("files", ("scores.csv", table.encode()))]
    chosen = {"alternative": "greater", "resamples": "999", "columns": "systems"}
    made = ask(pages, files=files, data=chosen).headers["location"]
    answer = {"Accept": "application/json", "Prefer": "wait=60"}
    while pages.get(f"/v1{made}/report", headers=answer).status_code != 200:
        pass
    shown = re.sub("<[^>]+>", "", pages.get(made, headers={"Accept": "text/html"}).text)
    assert "good and bad by scores" in shown
    assert "is not shown to be better" not in shown


@pytest.mark.parametrize(("labels", "said"), [(b"a\na\n", "1 label."), (b"a\nb\n", "2 labels.")])
def test_labels_that_were_recognised_are_counted(pages, labels, said):
    named = {"reference": b"a b\nc d\n", "one": b"a\nc\n", "labels": labels}
    files = [("files", (f"{name}.txt", data)) for name, data in named.items()]
    assert said in ask(pages, files=files, data={"do": "look"}).text


def test_pasted_texts_are_systems(pages):
    pasted = {
        "reference-text": "a b c d e\r\nf g h i j\r\n",
        "first-name": "mine",
        "first-text": "a b c d e\r\nf g h i j",
        "second-name": "theirs",
        "second-text": "a b c\r\nf g h",
        "resamples": "99",
    }
    asked = ask(pages, data=pasted)
    made = pages.get(asked.headers["location"], headers={"Accept": "application/json"}).json()
    assert made["systems"] == ["mine", "theirs"]


def folder(texts: dict[str, bytes]) -> list[tuple[str, tuple[str, bytes]]]:
    return [("files", (path, data)) for path, data in texts.items()]


def test_a_folder_of_a_shared_task_may_have_other_files_and_training_runs(pages):
    texts = {"reference.en": b"a b\nc d\ne f\n", "README.md": b"# About\n",
             **{f"systems/{name}/{run}.en": b"a b\nc\ne f\n" for name in "AB" for run in "12"},
             }  # fmt: skip
    given = folder({f"my task/{path}": data for path, data in texts.items()})
    third = ("files", ("third.txt", b"a b\nc x\ne\n"))
    looked = ask(pages, files=given, data={"do": "look"})
    assert "2 systems, 3 segments, 1 reference" in looked.text
    assert looked.text.count("(2 runs)") == 2
    beside = ask(pages, files=[*given, third])
    assert beside.status_code == 422
    assert "&#39;A&#39; brings 2 replicas and system &#39;third&#39; no replicas" in beside.text


def test_a_table_of_scores_alone_needs_no_other_metrics_than_its_own(pages):
    """With the boxes that are ticked beforehand; texts are compared by what these say."""
    ticked = {"metrics": re.findall(r'value="([^"]+)" checked> ', pages.get("/").text)[:2]}
    assert ticked == {"metrics": USUAL}
    table = b"system,segment,comet\n" + b"".join(
        f"{name},{i},0.{i + 1}\n".encode() for name in "AB" for i in range(4)
    )
    looked = ask(pages, files=[("files", ("scores.csv", table))], data={"do": "look", **ticked})
    assert "2 systems, 4 segments" in looked.text
    assert "comet" in looked.text
    for files, metrics in (([("files", ("s.csv", table))], ["comet"]), (texts("A", "B"), USUAL)):
        made = ask(pages, files=files, data=ticked).headers["location"]
        found = pages.get(made, headers={"Accept": "application/json"}).json()["metrics"]
        assert [metric.removeprefix("scores:of=") for metric in found] == metrics


@pytest.mark.parametrize(
    ("data", "test"),
    [
        ({"unpaired": "true"}, "fisher"),
        ({"baseline": "0.7", "missing": "drop"}, "binomial"),
        ({"metrics": ["", "pass^k:k=2"]}, "approximate_randomization"),
    ],
)
def test_other_items_numbers_and_runs_are_asked_for_as_in_the_shell(pages, data, test):
    columns = ("A", "B") if "unpaired" in data else ("A",) if "baseline" in data else ("C", "D")
    lines = [
        f"{name if test == 'fisher' else ''}{i},{name},{run},{int(i > run)}\n"
        for name in columns
        for i in range(9)
        for run in range(2 if test.startswith("approx") else 1)
    ]
    table = "id,system,run,solved\n" + "".join(lines)
    chosen = {"resamples": "99", **data}
    made = ask(pages, files=[("files", ("solved.csv", table.encode()))], data=chosen)
    assert made.status_code == 303, made.text
    answer = {"Accept": "application/json", "Prefer": "wait=60"}
    report = pages.get(f"/v1{made.headers['location']}/report", headers=answer)
    while report.status_code != 200:
        report = pages.get(f"/v1{made.headers['location']}/report", headers=answer)
    assert {pair["test"] for pair in report.json()["pairs"]} == {test}


def test_a_folder_of_another_layout_is_read_file_by_file(pages):
    lines = b"a b c\nd e f\ng h i\n"
    given = folder({f"task/{name}.txt": lines for name in ("ref.en", "A", "B")})
    assert "2 systems, 3 segments" in ask(pages, files=given, data={"do": "look"}).text


@pytest.mark.parametrize(
    ("files", "data", "words"),
    [
        ([], {}, "No files yet"),
        (texts("A", "B")[1:], {}, "At least one reference set is needed"),
        ([("files", ("scores.pdf", b"%PDF-1.4\n"))], {}, "scores.pdf is not read: it is a binary"),
        (texts("A"), {"alpha": "much"}, "alpha must be a number"),
        (texts(HOSTILE, "B"), {}, "angle"),
        (texts("A", "B"), {"metrics": "scores"}, "&#39;A&#39; has no scores."),
        (texts("A", "B"), {"kept": "damaged"}, "damaged"),
    ],
)
def test_what_cannot_be_asked_is_explained_on_a_page(pages, files, data, words):
    answer = ask(pages, files=files, data=data) if files else ask(pages, data=data)
    assert answer.status_code == 422
    assert answer.headers["content-type"].startswith("text/html")
    assert words in answer.text
    assert HOSTILE not in answer.text


def test_a_problem_names_the_part_of_the_form_and_not_a_place_in_json(pages):
    ours, short = ("systems", ("A.txt", b"a\nb\n")), ("systems", ("B.txt", b"a\n"))
    answer = ask(pages, files=[("references", ("r.txt", b"a\nb\n")), ours, short])
    assert answer.status_code == 422
    assert "B.txt has 1 line" in answer.text
    assert "It is about systems." in answer.text


@pytest.mark.parametrize(
    "headers", [{"Sec-Fetch-Site": "cross-site"}, {"Origin": "http://elsewhere"}]
)
def test_pages_of_others_cannot_post(pages, headers):
    answer = pages.post("/comparisons", files=texts("A", "B"), headers=headers)
    assert answer.status_code in {401, 403}


def test_what_is_not_there_is_a_page_that_says_so(pages):
    unknown = pages.get(f"/comparisons/{'0' * 32}")
    assert unknown.status_code == 404
    assert "There is no comparison 0" in unknown.text
    assert pages.get("/nowhere").headers["content-type"].startswith("text/html")
    assert pages.get("/v1/nowhere").headers["content-type"] == "application/problem+json"


def test_a_deleted_report_is_gone(pages, body):
    made = submit(pages, {**body, "resamples": 123}).json()
    own = f"/comparisons/{made['id']}"
    removed = pages.post(f"{own}/delete", headers={"Sec-Fetch-Site": "same-origin"})
    assert removed.headers["location"] == "/comparisons"
    assert pages.get(own).status_code == 410


def test_what_was_asked_last_is_listed_with_its_title_size_and_end(pages, body):
    made = submit(pages, {**body, "title": "Mountains", "resamples": 124}).json()
    own = f"/comparisons/{made['id']}"
    for page in ("/", "/comparisons?title=mountains"):
        rows = re.findall("<tr>.*?</tr>", pages.get(page).text, re.DOTALL)
        (row,) = [row for row in rows if own in row]
        assert f'<a href="{own}">Mountains</a>' in row
        assert re.search(r"; \d+ k?B<", row)
        assert made["expires_at"][:10] in row
        assert f'action="{own}/delete"' in row


def test_titles_keep_the_joiners_of_their_script_and_nothing_that_turns_text_round(pages, body):
    """Persian words and many emoji hold unseen signs between their parts."""
    title = "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 \U0001f469\u200d\U0001f4bb"
    asked = {**body, "title": f"{title} \u202e", "tags": [title], "resamples": 125}
    made = submit(pages, asked).json()
    for page in (f"/comparisons/{made['id']}", "/comparisons"):
        shown = pages.get(page).text
        assert f"{title} \N{REPLACEMENT CHARACTER}</" in shown
        assert f">{title}</a>" in shown


def test_a_report_is_said_in_words_first(pages, body):
    made = submit(pages, {**body, "metrics": ["bleu", "ter"]}).json()
    report = pages.get(made["links"]["report"], headers={"Accept": "application/json"}).json()

    text = pages.get(f"/comparisons/{made['id']}").text
    by_ter = pages.get(f"/comparisons/{made['id']}", params={"metric": "ter"}).text

    assert report["pairs"][0]["verdict"] in text
    assert report["pairs"][1]["verdict"] in by_ter
    assert report["signature"].replace("+", "&#43;") in text or report["signature"] in text


def test_systems_are_hidden_by_the_address(pages, body):
    third = {"name": "C", "hypotheses": ["a b", "f g", "k l"]}
    made = submit(pages, {**body, "systems": [*body["systems"], third]}).json()
    own = f"/comparisons/{made['id']}"

    rows = re.findall(r'<th scope="row">(\w+)</th>', pages.get(own, params={"hide": "C"}).text)
    assert set(rows) == {"A", "B"}
    assert pages.get(own, params={"hide": ["A", "B"]}).status_code == 422
    assert pages.get(own, params={"hide": "nobody"}).status_code == 422


def rows_of(page: str) -> list[str]:
    return re.findall(r'<th scope="row">(\w+)</th>', page)


def test_tables_are_sorted_by_the_address(pages, body):
    third = {"name": "C", "hypotheses": ["a b", "f g", "k l"]}
    made = submit(pages, {**body, "systems": [third, *body["systems"]]}).json()
    own = f"/comparisons/{made['id']}"
    scores = {name: pages.get(own, params={"sort": name}).text for name in ("score", "-score")}
    assert rows_of(scores["score"])[:3] == rows_of(scores["-score"])[:3][::-1]
    assert 'aria-sort="ascending"><a href="?metric=bleu&amp;sort=-score"' in scores["score"]
    assert rows_of(pages.get(own, params={"sort": "system"}).text)[:3] == ["A", "B", "C"]
    nothing_such = pages.get(own, params={"sort": "<b>"}).text
    assert rows_of(nothing_such)[:3] == rows_of(pages.get(own).text)[:3]


def test_reports_are_decided_by_the_address(pages, body):
    made = submit(pages, {**body, "tests": ["bootstrap"], "resamples": 999}).json()
    own, choice = f"/comparisons/{made['id']}", {"alpha": "0.9", "correction": "bonferroni"}
    anew = pages.get(made["links"]["report"], params=choice, headers={"Accept": "*/*"}).json()
    page = html.unescape(pages.get(own, params=choice).text)
    assert anew["pairs"][0]["verdict"] in page
    assert anew["signature"] in page
    assert "alpha 0.9" in page
    assert "95 % bootstrap intervals" in page
    assert f"{own}/report?format=csv&alpha=0.9&correction=bonferroni" in page
    assert "correction=bonferroni" in page.partition("pictures/intervals.svg?")[2][:80]
    opened = pages.get(f"{own}/pairs", params={**choice, "a": "A", "b": "B"})
    assert anew["pairs"][0]["verdict"] in html.unescape(opened.text)
    assert pages.get(own, params={"alpha": "3"}).status_code == 422
    assert pages.get(own, params={"alpha": "", "correction": ""}).status_code == 200


def test_a_page_says_what_a_report_stands_on(pages, body):
    tests = ["approximate_randomization", "riezler_maxwell_bootstrap"]
    made = submit(pages, {**body, "tests": tests}).json()
    page = html.unescape(pages.get(f"/comparisons/{made['id']}").text)
    assert "hypothesis is that of exchangeable labels. It keeps its level here as long as" in page
    assert "as long as segments are independent of each other" in page
    assert "It does not keep its level here" in page
    assert f"sigtest verify {made['id']}.json -r REFERENCE A B" in page
    assert r"A & " in page


@pytest.mark.parametrize(
    ("systems", "metrics", "command"),
    [
        (
            [{"name": name, "scores": {"comet": SCORES, "x y": SCORES}} for name in "AB"],
            ["scores:of=comet", "scores:of=x y"],
            ".json --scores comet:A=SCORES --scores 'x y:A=SCORES' "
            "--scores comet:B=SCORES --scores 'x y:B=SCORES'",
        ),
        (
            [{"name": name, "hypotheses": LINES, "scores": {"own": SCORES}} for name in "AB"],
            ["bleu", "scores"],
            ".json -r REFERENCE A --scores A=SCORES B --scores B=SCORES",
        ),
        (
            [{"name": name, "replicas": [LINES, LINES]} for name in "AB"],
            ["bleu"],
            ".json -r REFERENCE --replicas A=OUTPUT,OUTPUT --replicas B=OUTPUT,OUTPUT",
        ),
    ],
)
def test_the_command_that_verifies_names_what_was_brought(pages, systems, metrics, command):
    references = {"references": [LINES]} if "REFERENCE" in command else {}
    made = submit(pages, {**references, "systems": systems, "metrics": metrics, "resamples": 99})
    page = html.unescape(pages.get(f"/comparisons/{made.json()['id']}").text)
    (verify,) = re.findall(r'id="verify">sigtest verify [^.]*(.*)</pre>', page)
    assert verify == command


def test_pictures_of_pages_follow_light_and_dark(pages, body):
    made = submit(pages, body).json()
    picture = pages.get(f"/comparisons/{made['id']}/pictures/intervals.svg")
    assert "prefers-color-scheme: dark" in picture.text
    assert "sandbox" in picture.headers["content-security-policy"]


def test_the_reference_shows_the_document_by_scripts_of_this_service_alone(pages):
    page = pages.get("/api")
    assert '<rapi-doc spec-url="/openapi.json"' in page.text
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'; script-src 'self'; " in policy
    assert "connect-src 'self'; " in policy
    (script,) = re.findall(r'src="(/static/[^"]*rapidoc\.js)"', page.text)
    assert pages.get(script).text.startswith("/*! RapiDoc ")
    assert "MIT License" in pages.get(script.replace(".js", ".LICENSE.txt")).text


def test_scores_computed_elsewhere_are_chosen_like_a_metric(pages):
    """Who leaves the chosen metrics of texts as they are gets those of the table."""
    rows = b"segment,system,score\n1,A,0.5\n1,B,0.6\n2,A,0.4\n2,B,0.7\n3,A,0.2\n3,B,0.3\n"
    files = [("files", ("scores.csv", rows))]
    offered = re.search(r'name="metrics" value="scores"', pages.get("/").text)
    assert offered is not None
    as_offered = ask(pages, files=files, data={"metrics": ["bleu", "chrf"], "resamples": "99"})
    assert as_offered.status_code == 303
    asked = ask(pages, files=files, data={"metrics": "scores", "resamples": "99"})
    assert asked.status_code == 303


def test_marks_of_words_have_no_blanks_around_them(pages):
    """But blanks that alone make the difference are marked."""
    reference = ["one two three four", "k l m n o", "p q r s t"]
    outputs = {"A": ["one three", "k l  m n o", "p q r s t"], "B": reference}
    systems = [{"name": name, "hypotheses": lines} for name, lines in outputs.items()]
    body = {"references": [reference], "systems": systems, "resamples": 99, "metrics": ["chrf"]}
    made = submit(pages, body).json()
    page = pages.get(f"/comparisons/{made['id']}/pairs", params={"a": "A", "b": "B"}).text
    assert "one <mark>two</mark> three <mark>four</mark>" in page
    assert "k l<mark>  </mark>m n o" in page


def test_what_comes_back_unpacks_no_further_than_an_upload(pages):
    file = b"QUJD" * 2**22  # 16 MiB of base64
    held = gzip.compress(b'[{},[["references","a.txt","%b"]]]' % file, 9)
    refused = ask(pages, data={"kept": base64.b85encode(held).decode()})
    assert refused.status_code == 413
    assert "unpacks to more than" in refused.text


def test_numbers_are_said_to_open_pairs_where_some_do(pages, body):
    made = submit(pages, body).json()
    here = f"/comparisons/{made['id']}"
    assert "underlined" not in pages.get(f"{here}/pairs").text
    third = {"name": "C", "hypotheses": body["systems"][0]["hypotheses"][::-1]}
    several = submit(pages, {**body, "systems": [*body["systems"], third]}).json()
    page = pages.get(f"/comparisons/{several['id']}").text
    assert ("underlined" in page, '#pair"' in page) == (True, True)
