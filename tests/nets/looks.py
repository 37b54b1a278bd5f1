"""What the shell writes of the examples in every format, table and picture, as hashes.

python tests/nets/looks.py           write tests/nets/looks.tsv anew
python tests/nets/looks.py FOLDER    write the files themselves, for `diff -r`
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from sigtest.cli import compare, files, main
from sigtest.kinds import KINDS
from sigtest.people import question
from sigtest.render.formats import FORMATS
from sigtest.version import __version__

ROOT = Path(__file__).parents[2]
RECORD = Path(__file__).with_suffix(".tsv")
TASK = "examples/shared-task"
ASPEN, BIRCH, CEDAR, ELM = (f"{TASK}/systems/{n}.en" for n in ("aspen", "birch", "cedar", "elm"))
TEXTS = f"-r {TASK}/reference.en {ASPEN} {BIRCH} {CEDAR}"
JUDGED = "examples/campaign/judgements.tsv"
BRIEF = "--resamples 999 --seed 1"
QUESTIONS = {
    "pairs": f"compare {TEXTS} -m bleu -m ter {BRIEF}",
    "documents": f"compare {TEXTS} --documents {TASK}/documents.txt --unit document -m chrf --test "
    f"bootstrap --test bootstrap_t --test paired_bootstrap {BRIEF}",
    "one-sided": f"compare {TEXTS} --baseline cedar --alternative greater -m bleu {BRIEF}",
    "strata": f"compare {TEXTS} --labels {TASK}/documents.txt --stratified -m bleu {BRIEF}",
    "max-t": f"compare {TEXTS} -m ter --test bootstrap --correction max_t {BRIEF}",
    "folder": f"compare --from {TASK} -m chrf {BRIEF}",
    "replicas": f"compare -r {TASK}/reference.en --replicas good={ASPEN},{BIRCH} "
    f"--replicas poor={CEDAR},{ELM} {BRIEF}",
    "suite": f"suite news={TASK} talk=examples/talk -m chrf -m bleu --pooled {BRIEF}",
    "labels": "classify --gold examples/labels/gold.txt examples/labels/systems/maple.txt "
    f"examples/labels/systems/oak.txt -m accuracy -m macro_f1 {BRIEF}",
    "data sets": "classify --table examples/labels/data-sets.tsv",
    "human": f"human {JUDGED}",
    "human quality": f"human {JUDGED} --quality paired_t --correction holm --test signed_rank",
    "preferences": "human examples/preferences/battles.csv --errors sandwich",
    "meta": f"meta --human {JUDGED} --scores bleu=examples/campaign/scores/bleu.tsv "
    "chrf=examples/campaign/scores/chrf.tsv ter=examples/campaign/scores/ter.tsv --lower ter",
    "accuracy": f"accuracy --human {JUDGED} --from {TASK} -m bleu -m ter --test "
    f"approximate_randomization --test bootstrap --alpha 0.05 0.01 {BRIEF}",
    "plan": f"plan {TEXTS} -m chrf --difference 1.5 {BRIEF}",
}
TABLES = ("text", "csv", "markdown", "latex")  # formats in which each table stands alone, too
LONG = re.compile(r"\b\d+\.\d{11,}(?:e[+-]\d+)?")
MEASURED = re.compile(r"(?<=measured in )[\d.]+ s")


def written(arguments: list[str]) -> str:
    """What a command prints, its status and what it says besides."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", newline="") for _ in range(2))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = main(arguments)
        except SystemExit as end:
            status = int(end.code or 0)
    text, complaint = (_text_of(stream) for stream in (out, err))
    text = MEASURED.sub("some s", text).replace(__version__, "VERSION")
    return text if status == 0 else f"{text}status {status}: {complaint}"


def _text_of(stream: io.TextIOWrapper) -> str:
    stream.seek(0)
    return stream.read()


@contextlib.contextmanager
def computed_once() -> Iterator[None]:
    """Files are read and reports made once, in however many formats they are shown."""
    reads = ((files, "gather"), (question, "read_judgements"))
    with contextlib.ExitStack() as stack:
        for module, name in reads:
            stack.enter_context(patch.object(module, name, _kept(getattr(module, name), repr)))
        of_plan = _kept(compare.compare_here, lambda arguments: arguments[0].plan.key)
        stack.enter_context(patch.object(compare, "compare_here", of_plan))
        for kind in KINDS.values():
            of_question = _kept(kind.compute, lambda arguments: arguments[0].key)
            stack.enter_context(patch.object(kind, "compute", of_question))
        yield


def _kept(compute: Callable[..., Any], key: Callable[[Any], str]) -> Callable[..., Any]:
    results: dict[str, Any] = {}

    def computed(*arguments: Any) -> Any:
        if key(arguments) not in results:
            results[key(arguments)] = compute(*arguments)
        return results[key(arguments)]

    return computed


def looks() -> Iterator[tuple[str, str]]:
    """Name and text of everything that is shown."""
    with TemporaryDirectory() as temporary, computed_once():
        for name, command in QUESTIONS.items():
            words = command.split()
            kind = KINDS[
                {"human": "human-evaluations", "meta": "metric-evaluations", "plan": "plans"}.get(
                    words[0], "test-accuracy" if words[0] == "accuracy" else "comparisons"
                )
            ]
            report = Path(temporary) / f"{name}.json".replace(" ", "-")
            report.write_text(written([*words, "--format", "json"]), encoding="utf-8")
            for format_ in FORMATS:
                yield f"{name}.{format_}", written([*words, "--format", format_])
            for table in () if "--table" in words else kind.tables:
                for format_ in TABLES:
                    asked = [*words, "--format", format_, "--table", table]
                    yield f"{name}.{table}.{format_}", written(asked)
            for picture in kind.pictures:
                yield f"{name}.{picture}.svg", written(["plot", picture, str(report)])


def hashed(text: str) -> str:
    """Of 12 digits of a number: p-values from convolutions differ by processor in the last ones."""
    rounded = LONG.sub(lambda number: f"{float(number[0]):.12g}", text)
    return hashlib.sha256(rounded.encode()).hexdigest()[:20]


if __name__ == "__main__":
    if len(sys.argv) > 1:
        folder = Path(sys.argv[1])
        folder.mkdir(parents=True, exist_ok=True)
        for look, text in looks():
            (folder / look.replace(" ", "-")).write_text(text, encoding="utf-8")
    else:
        rows = (f"{file}\t{hashed(text)}\n" for file, text in looks())
        RECORD.write_text("".join(rows), encoding="utf-8")
