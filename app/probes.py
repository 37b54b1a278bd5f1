"""Probes, and what Prometheus collects: numbers, with no text of any caller.

https://prometheus.io/docs/instrumenting/exposition_formats/ (version 0.0.4)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import accumulate

from fastapi import Request
from starlette.responses import Response

from app.http.auth import Operator
from app.http.observing import Requests
from app.http.problems import UnreadyError
from app.http.state import QuestionStore, routing
from app.schema.document import PROBLEMS, Described
from app.schema.models import HealthBody, ReadyBody
from workers.load import Load, load
from workers.store.survey import BOUNDS, Durations

router = routing(tags=["probes"], responses=PROBLEMS)


@router.get("/healthz")
async def healthz() -> HealthBody:
    """The process is alive."""
    return HealthBody()


@router.get("/readyz")
def readyz(questions: QuestionStore) -> ReadyBody:
    """The storage can be reached and at least one worker is there.

    Raises:
        UnreadyError: No worker is.
    """
    questions.check()
    alive = questions.workers()
    if not alive:
        raise UnreadyError("No worker process is running; questions would wait.")
    return ReadyBody(workers=alive)


MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"

Labels = Mapping[str, str]


def gauge(name: str, words: str, samples: Iterable[tuple[Labels, float]]) -> list[str]:
    """Lines of what goes up and down."""
    return [*_head(name, words, "gauge"), *(_sample(name, *sample) for sample in samples)]


def counter(name: str, words: str, samples: Iterable[tuple[Labels, float]]) -> list[str]:
    """Lines of what only grows; its name ends in `_total`."""
    return [*_head(name, words, "counter"), *(_sample(name, *sample) for sample in samples)]


def histogram(name: str, words: str, samples: Iterable[tuple[Labels, Durations]]) -> list[str]:
    """Lines of durations; each range counts what is below it, too."""
    lines = _head(name, words, "histogram")
    for labels, durations in samples:
        counts = list(accumulate(durations.counts))
        for bound, count in zip((*map(str, BOUNDS), "+Inf"), counts, strict=True):
            lines.append(_sample(f"{name}_bucket", {**labels, "le": bound}, count))
        lines.append(_sample(f"{name}_sum", labels, durations.seconds))
        lines.append(_sample(f"{name}_count", labels, counts[-1]))
    return lines


def _head(name: str, words: str, kind: str) -> list[str]:
    return [f"# HELP {name} {words}", f"# TYPE {name} {kind}"]


def _sample(name: str, labels: Labels, value: float) -> str:
    words = ",".join(f'{label}="{_escaped(text)}"' for label, text in labels.items())
    return f"{name}{{{words}}} {value}" if words else f"{name} {value}"


def _escaped(text: str) -> str:
    r"""As the format wants it: a backslash, a quote and a line end as \\, \" and \n."""
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


SHOWN: Described = {200: {"content": {"text/plain": {"schema": {"type": "string"}}}}}


@router.get("/metrics", response_class=Response, responses=SHOWN)
def metrics(request: Request, operator: Operator, questions: QuestionStore) -> Response:
    """Queue, tasks, requests and predicted cost, as Prometheus reads them.

    Needs a key with the scope `admin` where there are keys.
    """
    requests: Requests = request.state.requests
    now = load(questions.context)
    lines = [*_of_workers(now), *_of_callers(now), *_of_requests(requests)]
    return Response("".join(f"{line}\n" for line in lines), media_type=MEDIA_TYPE)


def _of_workers(now: Load) -> list[str]:
    """What the store knows of workers and tasks, the same from every front end."""
    return [
        *gauge("sigtest_workers", "Worker processes that are alive.", [({}, now.workers)]),
        *gauge("sigtest_tasks_waiting", "Tasks that no worker has.", [({}, now.waiting)]),
        *gauge(
            "sigtest_oldest_task_seconds",
            "Seconds since the oldest waiting task began to wait.",
            [({}, now.oldest)],
        ),
        *gauge(
            "sigtest_drained",
            "Whether an operator lets all tasks wait.",
            [({}, int(now.drained))],
        ),
        *counter(
            "sigtest_cache_lookups_total",
            "Statistics that accepted comparisons found in a cache (hit), or not (miss).",
            [({"result": result}, count) for result, count in sorted(now.looks.items())],
        ),
        *histogram(
            "sigtest_task_seconds",
            "How long tasks took.",
            [
                ({"task": task, "outcome": outcome}, durations)
                for (task, outcome), durations in now.tasks.items()
            ],
        ),
    ]


def _of_callers(now: Load) -> list[str]:
    """What the store knows of callers, the same from every front end."""
    return [
        *gauge(
            "sigtest_questions_unfinished",
            "Questions without an outcome.",
            [({"caller": caller}, count) for caller, count in sorted(now.unfinished.items())],
        ),
        *gauge(
            "sigtest_predicted_seconds",
            "Seconds of one core that unfinished questions were predicted to take.",
            [({"caller": caller}, seconds) for caller, seconds in sorted(now.predicted.items())],
        ),
        *counter(
            "sigtest_caller_seconds_total",
            "Seconds that tasks took.",
            [({"caller": caller}, seconds) for caller, seconds in now.spent.items()],
        ),
    ]


def _of_requests(requests: Requests) -> list[str]:
    """What this front end counted since it was started."""
    return [
        *histogram(
            "sigtest_request_seconds",
            "How long requests took; streams until they end.",
            [
                ({"method": method, "path": path, "status": str(status)}, durations)
                for (method, path, status), durations in sorted(requests.durations.copy().items())
            ],
        ),
        *counter(
            "sigtest_refusals_total",
            "Problems that were told, by the end of their type.",
            [({"type": slug}, count) for slug, count in sorted(requests.refusals.copy().items())],
        ),
    ]
