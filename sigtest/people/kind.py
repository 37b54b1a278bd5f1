"""Human evaluations as questions: people's judgements in, conclusions out."""

from operator import attrgetter

from sigtest.kinds.base import EXAMPLES, QuestionReference, WholeKind
from sigtest.people.compute import compute
from sigtest.people.judgements import Comparisons
from sigtest.people.pictures import PICTURES
from sigtest.people.question import HumanQuestion, parse
from sigtest.people.report import HumanReport
from sigtest.people.show import SHEETS, document
from sigtest.report import counted
from sigtest.requests.model import options
from sigtest.requests.people import HumanRequest


def recognised(question: HumanQuestion) -> tuple[str, ...]:
    """What was read in each file, and how much there is to judge by."""
    judged = question.judgements
    what = "comparison" if isinstance(judged, Comparisons) else "judgement"
    read = [
        f"{counted(source.rows, 'row')}, read as {source.input}"
        + "".join(f"; {count:,} left out: {why}" for why, count in source.dropped.items())
        + "."
        for source in question.sources
    ]
    counts = [
        counted(len(column.names), noun)
        for noun, column in (("segment", judged.segment), ("annotator", judged.annotator))
        if column.names
    ]
    return (*read, f"{', '.join([counted(len(judged), what), *counts])}.")


class HumanEvaluations(WholeKind[HumanQuestion]):
    """What people's judgements say of systems."""

    name = "human evaluation"
    path = "human-evaluations"
    summary = "What do people's judgements say of systems, and do people agree?"
    content = HumanQuestion
    reports = (HumanReport,)

    request = HumanRequest
    examples = EXAMPLES["human-evaluations"]
    parts = {"judgements": "Files of judgements, recognised by what is in them; perhaps `.gz`."}
    command = "human"
    fields = options(HumanRequest, ("judgements",))
    pictures = PICTURES
    tables = ("systems", "pairs", "fit", "units", "agreement", "gain")
    naming = ("name", "a", "b")

    def recognised(self, question: HumanQuestion) -> tuple[str, ...]:
        criteria = question.choices.criteria
        judged_by = f"{'Criterion' if len(criteria) == 1 else 'Criteria'}: {', '.join(criteria)}."
        systems = f"{counted(len(question.systems), 'system')}: {', '.join(question.systems)}."
        return (*recognised(question), systems, judged_by)

    question = staticmethod(parse)
    compute = staticmethod(compute)
    document = staticmethod(document)
    sheets = SHEETS


KIND = HumanEvaluations()
FINISHED = QuestionReference(("human", "evaluation"), "human-evaluations", attrgetter("question"))
