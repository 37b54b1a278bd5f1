"""A client of the HTTP service: the same comparison, computed elsewhere.

    from sigtest.client import Client

    with Client("http://127.0.0.1:8000") as client:
        report = client.compare(comparison)

A request that meets a reset connection or a busy service is sent again, with longer and longer
pauses; an `Idempotency-Key` makes sure that it still is the same comparison.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

import httpx

from sigtest.comparison.comparison import Comparison
from sigtest.data.choices import choose
from sigtest.data.names import check_name
from sigtest.engine import Progress
from sigtest.errors import ServiceError, of_problem
from sigtest.kinds import KINDS, File
from sigtest.kinds.shown import shown
from sigtest.notebook import NotebookReport
from sigtest.report import Report
from sigtest.version import __version__

COMPARISONS = "comparisons"
TESTSETS = "/v1/testsets"
# what a leaderboard says besides its report
BOARD = (
    "id", "name", "metric", "test", "comparison", "capacity", "submissions", "claims", "pending",
    "failed",
)  # fmt: skip
WAIT_SECONDS = 1  # that one request waits for the end, and so how often progress is told
PENDING_SECONDS = 0.1
ATTEMPTS = 7
PAUSES = (0.1, 10.0)  # seconds before the first repetition, and at most
TIMEOUT = httpx.Timeout(60.0, connect=10.0)

Asked = Comparison | Mapping[str, Any]

_BUSY = {429, 502, 503, 504}


class Client:
    """Speaks to one service; closes its connections at the end of a `with` block.

    Args:
        url: Where the service is, such as `http://127.0.0.1:8000`.
        api_key: The caller's key, where the service wants one.
        sleep: Waits so many seconds.

    Raises:
        ServiceError: Not an http or https address.
    """

    def __init__(
        self, url: str, api_key: str | None = None, sleep: Callable[[float], object] = time.sleep
    ) -> None:
        self.url = url.rstrip("/")
        self._sleep = sleep
        self._met = False
        headers = {"User-Agent": f"sigtest/{__version__}"}
        if api_key is not None:
            headers["Authorization"] = f"Bearer {api_key}"
        try:
            if httpx.URL(self.url).scheme not in {"http", "https"} or not httpx.URL(self.url).host:
                raise httpx.InvalidURL("it needs http:// or https:// and a host")
            self._http = httpx.Client(base_url=self.url, headers=headers, timeout=TIMEOUT)
        except (httpx.InvalidURL, UnicodeError) as error:
            raise ServiceError(f"{url!r} is not the address of a service: {error}") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        self._http.close()

    def compare(self, comparison: Asked, progress: Progress | None = None) -> NotebookReport:
        """Submit a comparison, wait for its end and fetch its report.

        Args:
            comparison: What to compare and how, on one test set or on several; or the JSON of POST
                /v1/comparisons, which may name a test set of the service.
            progress: Called with phase, done and total, as by `sigtest.compare`.

        Returns:
            The same report as `sigtest.compare` gives.

        Raises:
            SigtestError: The service refuses the comparison, fails, or cannot be reached.
        """
        stored = json.loads(self.report(self.run(comparison, progress)))
        return NotebookReport(**vars(Report.from_json(stored)))

    def ask(
        self,
        kind: str,
        request: Mapping[str, Any],
        files: Sequence[File] = (),
        progress: Progress | None = None,
    ) -> Any:
        """Ask a question of any kind, wait for its end and fetch its report.

        Args:
            kind: Path of the kind, such as `human-evaluations`.
            request: The JSON of the request.
            files: What it brings besides.
            progress: Called with phase, done and total.

        Returns:
            The same report as the notebook's function of the kind gives.

        Raises:
            SigtestError: As `compare`; or no such kind.
        """
        known = KINDS[choose(kind, KINDS, "kind", "kind of question")]
        stored = json.loads(self.report(self.run(request, progress, kind, files), kind=kind))
        return shown(known, known.read(stored))

    def run(
        self,
        asked: Asked,
        progress: Progress | None = None,
        kind: str = COMPARISONS,
        files: Sequence[File] = (),
    ) -> str:
        """Ask a question and wait for its end; its id, by which its report can be fetched.

        Args:
            asked: A comparison, or the JSON of a request.
            progress: Called with phase, done and total.
            kind: Path of the kind of question.
            files: What the request brings besides, sent as a form.
        """
        status = self.submit(asked, kind, files)
        while status["status"] in {"queued", "running"}:
            if progress is not None:
                told = status["progress"]
                progress(told["phase"], told["done"], told["total"])
            status = self.status(status["id"], kind)
        if status["status"] != "succeeded":
            reason = status.get("error") or "no reason is given"
            raise ServiceError(f"The service {status['status']} the question: {reason}")
        return str(status["id"])

    def submit(
        self, asked: Asked, kind: str = COMPARISONS, files: Sequence[File] = ()
    ) -> dict[str, Any]:
        """Ask a question; the answer says its `id`, `status` and `progress`."""
        body = asked if isinstance(asked, Mapping) else asked.as_json()
        content = json.dumps(body, ensure_ascii=False, allow_nan=False).encode()
        headers = {"Idempotency-Key": uuid.uuid4().hex}
        if files:
            form = [(file.part, (file.name, file.data)) for file in files]
            form.append(("request", ("request.json", content)))
            return self._followed(self._ask("POST", f"/v1/{kind}", headers=headers, files=form))
        headers["Content-Type"] = "application/json"
        return self._followed(self._ask("POST", f"/v1/{kind}", headers=headers, content=content))

    def status(self, question_id: str, kind: str = COMPARISONS) -> dict[str, Any]:
        """How far a question is; answers when it has finished, or after a second."""
        return self._followed(self._ask("GET", f"/v1/{kind}/{question_id}"))

    def report(
        self,
        question_id: str,
        form: str = "json",
        kind: str = COMPARISONS,
        **layout: str | Sequence[str],
    ) -> bytes:
        """The report of a finished question in one of the formats; JSON byte for byte as kept.

        Args:
            question_id: The question.
            form: The format.
            kind: Of question.
            layout: `table`, `caption`, `label`, `names`, as `sigtest.render.layout` has them.
        """
        path = f"/v1/{kind}/{question_id}/report"
        return self._ask("GET", path, params={"format": form, **layout}).content

    def distribution(
        self, comparison_id: str, a: str, b: str, metric: str, test: str, values: bool = False
    ) -> dict[str, Any]:
        """Bins, counts and the observed difference of one pair; on demand every value."""
        params = {"a": a, "b": b, "metric": metric, "test": test, "values": str(values).lower()}
        answer = self._ask("GET", f"/v1/{COMPARISONS}/{comparison_id}/distribution", params=params)
        return self._object(answer)

    def plot(self, question_id: str, name: str, *, kind: str = COMPARISONS, **params: str) -> bytes:
        """One of the pictures of a kind of question, as SVG."""
        path = f"/v1/{kind}/{question_id}/plots/{name}.svg"
        return self._ask("GET", path, params=params).content

    def remove(self, question_id: str, kind: str = COMPARISONS) -> None:
        """Cancel a question, or delete a finished one with its texts."""
        self._ask("DELETE", f"/v1/{kind}/{question_id}")

    def create_testset(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Make a test set for systems that arrive over time; the answer says its `id`.

        Args:
            body: `name`, `references` and the settings, as POST /v1/testsets takes them.
        """
        return self._object(self._send("POST", TESTSETS, body))

    def testset(self, testset_id: str) -> dict[str, Any]:
        """A test set: its settings and how many of its systems are pending."""
        return self._object(self._ask("GET", f"{TESTSETS}/{testset_id}"))

    def testsets(self) -> Iterator[dict[str, Any]]:
        """The caller's test sets, newest first."""
        return self._pages(TESTSETS, "testsets")

    def raise_resamples(self, testset_id: str, resamples: int) -> dict[str, Any]:
        """Draw more resamples for a test set; the first ones stay."""
        body = {"resamples": resamples}
        return self._object(self._send("PATCH", f"{TESTSETS}/{testset_id}", body))

    def delete_testset(self, testset_id: str) -> None:
        """Delete a test set with its systems."""
        self._ask("DELETE", f"{TESTSETS}/{testset_id}")

    def put_system(
        self, testset_id: str, name: str, body: Mapping[str, Any], replace: bool = False
    ) -> dict[str, Any]:
        """Put a system to a test set; the answer says its `status`.

        Args:
            testset_id: The test set.
            name: The system's name.
            body: `hypotheses` or `scores` or both, or `replicas`.
            replace: Whether other content under this name may be replaced.
        """
        path = f"{_system_path(testset_id, name)}?replace={str(replace).lower()}"
        return self._object(self._send("PUT", path, body))

    def system(self, testset_id: str, name: str) -> dict[str, Any]:
        """A system of a test set: pending, measured or failed, and its scores."""
        return self._object(self._ask("GET", _system_path(testset_id, name)))

    def measured(self, testset_id: str, name: str) -> dict[str, Any]:
        """A system of a test set, once it is no longer pending."""
        found = self.system(testset_id, name)
        while found["status"] == "pending":
            self._sleep(PENDING_SECONDS)
            found = self.system(testset_id, name)
        return found

    def systems(self, testset_id: str) -> Iterator[dict[str, Any]]:
        """The systems of a test set in the order of their names."""
        return self._pages(f"{TESTSETS}/{testset_id}/systems", "systems")

    def remove_system(self, testset_id: str, name: str) -> None:
        """Delete a system of a test set."""
        self._ask("DELETE", _system_path(testset_id, name))

    def leaderboard(
        self, testset_id: str, form: str = "json", **shown: str | Sequence[str]
    ) -> bytes:
        """The leaderboard of a test set in one of the formats.

        Args:
            testset_id: The test set.
            form: The format.
            shown: `metric`, `test`, `alpha`, `correction`, as far as not the test set's own; and
                a layout as for `report`.
        """
        path = f"{TESTSETS}/{testset_id}/leaderboard"
        return self._ask("GET", path, params={"format": form, **shown}).content

    def leaderboard_distribution(
        self, testset_id: str, a: str, b: str, values: bool = False, **shown: str
    ) -> dict[str, Any]:
        """As `distribution`, of a leaderboard; `shown` are `metric` and `test`."""
        path = f"{TESTSETS}/{testset_id}/leaderboard/distribution"
        params = {"a": a, "b": b, "values": str(values).lower(), **shown}
        return self._object(self._ask("GET", path, params=params))

    def leaderboard_plot(self, testset_id: str, name: str, **params: str) -> bytes:
        """As `plot`, of a leaderboard."""
        path = f"{TESTSETS}/{testset_id}/leaderboard/plots/{name}.svg"
        return self._ask("GET", path, params=params).content

    def _pages(self, path: str, entries: str) -> Iterator[dict[str, Any]]:
        """All entries of a listing."""
        params: dict[str, str] = {}
        while True:
            page = self._object(self._ask("GET", path, params=params))
            yield from page[entries]
            if page["next_cursor"] is None:
                return
            params = {"cursor": page["next_cursor"]}

    def _send(self, method: str, path: str, body: Mapping[str, Any]) -> httpx.Response:
        content = json.dumps(body, ensure_ascii=False, allow_nan=False).encode()
        headers = {"Content-Type": "application/json"}
        return self._ask(method, path, headers=headers, content=content)

    def _followed(self, answer: httpx.Response) -> dict[str, Any]:
        """A comparison's state; a service that did not wait for its end is not asked at once."""
        status = self._object(answer)
        if not {"id", "status", "progress"} <= status.keys():
            raise self._stranger()
        running = status["status"] in {"queued", "running"}
        if running and "Preference-Applied" not in answer.headers:
            self._sleep(_seconds(answer, default=WAIT_SECONDS))
        return status

    def _ask(self, method: str, path: str, **content: Any) -> httpx.Response:
        """One answer, good or a `SigtestError`; asks again where that may help."""
        headers = {"Prefer": f"wait={WAIT_SECONDS}", **content.pop("headers", {})}
        pause, longest = PAUSES
        for left in reversed(range(ATTEMPTS)):
            try:
                answer = self._http.request(method, path, headers=headers, **content)
            except httpx.TransportError as error:
                # a service that has answered before is being restarted; another is not there
                absent = isinstance(error, httpx.ConnectError | httpx.ConnectTimeout)
                if not left or (absent and not self._met):
                    what = "No service answers at" if absent else "The connection broke to"
                    raise ServiceError(f"{what} {self.url}: {error}") from error
                wait = pause
            else:
                self._met = True
                if not _comes(answer) or not left:
                    return self._checked(answer)
                wait = _seconds(answer, default=pause)
            self._sleep(min(wait, longest))
            pause *= 2
        raise AssertionError("the last attempt returns or raises")

    def _checked(self, answer: httpx.Response) -> httpx.Response:
        """The answer itself unless it is an error.

        Raises:
            SigtestError: With the message of the service's problem document.
        """
        if answer.is_success:
            return answer
        try:
            problem = answer.json()
        except ValueError:
            problem = None
        if not isinstance(problem, dict) or not isinstance(problem.get("detail"), str):
            raise ServiceError(f"{self.url} answers {answer.status_code} {answer.reason_phrase}.")
        raise of_problem(problem)

    def _object(self, answer: httpx.Response) -> dict[str, Any]:
        try:
            body = answer.json()
        except ValueError:
            body = None
        if not isinstance(body, dict):
            raise self._stranger()
        return body

    def _stranger(self) -> ServiceError:
        return ServiceError(f"{self.url} does not answer like a sigtest service.")


def _comes(answer: httpx.Response) -> bool:
    """Whether asking again may help: the service is busy, or is still computing what is asked."""
    computing = answer.status_code == 409 and "Retry-After" in answer.headers
    return answer.status_code in _BUSY or computing


def _system_path(testset_id: str, name: str) -> str:
    """Where a system is; a name like ".." would lead elsewhere."""
    return f"{TESTSETS}/{testset_id}/systems/{quote(check_name(name), safe='')}"


def _seconds(answer: httpx.Response, default: float) -> float:
    """What `Retry-After` asks for, where it gives seconds."""
    asked = answer.headers.get("Retry-After", "")
    return float(asked) if asked.isdigit() else default
