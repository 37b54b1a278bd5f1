"""A client of the HTTP service: the same comparison, computed elsewhere.

    from sigtest.client import Client

    with Client("http://127.0.0.1:8000") as client:
        report = client.compare(comparison)

A request that meets a reset connection or a busy service is sent again, with longer and longer
pauses; an `Idempotency-Key` makes sure that it still is the same comparison.
"""

import json
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Self
from urllib.parse import quote

import httpx

from sigtest.comparison.comparison import Comparison
from sigtest.data.names import check_name, choose
from sigtest.errors import InputError, ServiceError, of_problem
from sigtest.kinds import KINDS, FormFile
from sigtest.kinds.comparisons import ComparisonReport
from sigtest.progress import Progress
from sigtest.requests.notes import Notes
from sigtest.version import __version__

__all__ = ["Client", "Notes"]

WAIT_SECONDS = 1  # that one request waits for the end, and so how often progress is told
ATTEMPTS = 7
PAUSES = (0.1, 10.0)  # seconds before the first repetition, and at most where none were asked for
PATIENCE = 3600.0  # seconds that `Retry-After` may ask for; beyond, its error is told
TIMEOUT = httpx.Timeout(60.0, connect=10.0)

_BUSY = {429, 502, 503, 504}
PENDING_SECONDS = 0.1
COMPARISONS = "comparisons"
TESTSETS, RACES = "/v1/testsets", "/v1/races"
WEBHOOKS = "/v1/webhooks"
PLAIN = Notes()

Question = Comparison | Mapping[str, Any]


class Client:
    """Speaks to one service; closes its connections at the end of a `with` block.

    Args:
        url: Where the service is, such as `http://127.0.0.1:8000`.
        api_key: The caller's key, where the service wants one.
        sleep: Waits so many seconds.

    Attributes:
        url: Where the service is.

    Raises:
        ServiceError: Not an http or https address, or not a key.
    """

    def __init__(
        self, url: str, api_key: str | None = None, sleep: Callable[[float], object] = time.sleep
    ) -> None:
        self.url = url.rstrip("/")
        self._sleep = sleep
        self._met = False
        headers = {"User-Agent": f"sigtest/{__version__}"}
        if api_key is not None:
            if not (api_key.isascii() and api_key.isprintable() and api_key == api_key.strip()):
                raise ServiceError(
                    "The API key cannot be sent: keys have no line break, no blank at an end and "
                    "ASCII letters only."
                )
            headers["Authorization"] = f"Bearer {api_key}"
        try:
            if httpx.URL(self.url).scheme not in {"http", "https"} or not httpx.URL(self.url).host:
                raise httpx.InvalidURL("it needs http:// or https:// and a host")
            self._http = httpx.Client(base_url=self.url, headers=headers, timeout=TIMEOUT)
        except (httpx.InvalidURL, UnicodeError) as error:
            raise ServiceError(f"{url!r} is not the address of a service: {error}") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        self._http.close()

    # questions

    def compare(
        self,
        comparison: Question,
        progress: Progress | None = None,
        envelope: Notes = PLAIN,
    ) -> ComparisonReport:
        """Submit a comparison, wait for its end and fetch its report.

        Args:
            comparison: What to compare and how, on one test set or on several; or the JSON of POST
                /v1/comparisons, which may name a test set of the service.
            progress: Called with phase, done and total, as by `sigtest.compare`.
            envelope: What to write on it.

        Returns:
            The same report as `sigtest.compare` gives.

        Raises:
            SigtestError: The service refuses the comparison, fails, or cannot be reached.
        """
        key = self.run(comparison, progress, envelope=envelope)
        report: ComparisonReport = KINDS[COMPARISONS].read(json.loads(self.report(key)))
        return report

    def ask(
        self,
        kind: str,
        request: Mapping[str, Any],
        files: Sequence[FormFile] = (),
        progress: Progress | None = None,
    ) -> Any:
        """Ask a question of any kind, wait for its end and fetch its report.

        Args:
            kind: Path of the kind, such as `human-evaluations`.
            request: The JSON of the request.
            files: What it brings besides: part of the form, name and bytes of each file
                (`sigtest.kinds.FormFile`).
            progress: Called with phase, done and total.

        Returns:
            The same report as the notebook's function of the kind gives.

        Raises:
            SigtestError: As `compare`; or no such kind.
        """
        known = KINDS[choose(kind, KINDS, "kind", "kind of question")]
        key = self.run(request, progress, kind, files)
        return known.read(json.loads(self.report(key, kind=kind)))

    def run(
        self,
        question: Question,
        progress: Progress | None = None,
        kind: str = COMPARISONS,
        files: Sequence[FormFile] = (),
        envelope: Notes = PLAIN,
    ) -> str:
        """Ask a question and wait for its end; its id, by which its report can be fetched.

        Args:
            question: A comparison, or the JSON of a request.
            progress: Called with phase, done and total.
            kind: Path of the kind of question.
            files: What the request brings besides, sent as a form.
            envelope: What to write on it.
        """
        status = self.submit(question, kind, files, envelope)
        while status["status"] in {"queued", "running"}:
            if progress is not None:
                state = status["progress"]
                progress(state["phase"], state["done"], state["total"])
            status = self.status(status["id"], kind)
        if status["status"] != "succeeded":
            reason = status.get("error") or "no reason is given"
            raise ServiceError(
                f"The service {status['status']} the question: {reason}",
                problem=(status.get("type") or "").rpartition(":")[2] or None,
            )
        return str(status["id"])

    def submit(
        self,
        question: Question,
        kind: str = COMPARISONS,
        files: Sequence[FormFile] = (),
        envelope: Notes = PLAIN,
    ) -> dict[str, Any]:
        """Ask a question; the answer says its `id`, `status` and `progress`."""
        body = question if isinstance(question, Mapping) else question.as_json()
        content = encoded({**body, **envelope.as_json()})
        headers = {"Idempotency-Key": uuid.uuid4().hex}
        sent: dict[str, Any] = {"content": content}
        if files:
            form = [(file.part, (file.name, file.data)) for file in files]
            sent = {"files": [*form, ("request", ("request.json", content))]}
        else:
            headers["Content-Type"] = "application/json"
        return self._followed(self._request("POST", f"/v1/{kind}", headers=headers, **sent))

    def status(self, question_id: str, kind: str = COMPARISONS) -> dict[str, Any]:
        """How far a question is; answers when it has finished, or after a second."""
        return self._followed(self._request("GET", f"/v1/{kind}/{question_id}"))

    def listing(
        self, kind: str = COMPARISONS, **wanted: str | Sequence[str]
    ) -> Iterator[dict[str, Any]]:
        """The caller's questions of a kind, newest first.

        Args:
            kind: Of question.
            wanted: `title`, `tag` (one or several) and `status` of those that are wanted.
        """
        return self._pages(f"/v1/{kind}", wanted)

    def describe(self, question_id: str, kind: str = COMPARISONS, **notes: Any) -> dict[str, Any]:
        """Write `title`, `tags` or `metadata` on a question; what is not said stays."""
        return self._send("PATCH", f"/v1/{kind}/{question_id}", notes)

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
            layout: `table`, `caption`, `label`, `names`, as `sigtest.render.formats` has them; of a
                comparison `metric`, `test` and `system` (one or several) for a part of it.
        """
        path = f"/v1/{kind}/{question_id}/report"
        return self._request("GET", path, params={"format": form, **layout}).content

    def distribution(
        self, comparison_id: str, a: str, b: str, metric: str, test: str, values: bool = False
    ) -> dict[str, Any]:
        """Bins, counts and the observed difference of one pair; on demand every value."""
        path, options = f"/v1/{COMPARISONS}/{comparison_id}", {"metric": metric, "test": test}
        return self._distribution(path, a, b, values, options)

    def plot(
        self,
        question_id: str,
        name: str,
        *,
        kind: str = COMPARISONS,
        suffix: str = "svg",
        **params: str,
    ) -> bytes:
        """One of the pictures of a kind of question, as SVG, PDF or PNG by the suffix."""
        path = f"/v1/{kind}/{question_id}/plots/{name}.{suffix}"
        return self._request("GET", path, params=params).content

    def remove(self, question_id: str, kind: str = COMPARISONS) -> None:
        """Cancel a question, or delete a finished one with its texts."""
        self._request("DELETE", f"/v1/{kind}/{question_id}")

    def _followed(self, answer: httpx.Response) -> dict[str, Any]:
        """A comparison's state; a service that did not wait for its end is not asked at once."""
        status = self._object(answer, "id", "status", "progress")
        running = status["status"] in {"queued", "running"}
        if running and "Preference-Applied" not in answer.headers:
            self._sleep(seconds_of(answer, default=WAIT_SECONDS))
        return status

    # test sets, their systems and their leaderboards

    def create_testset(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Make a test set for systems that arrive over time; the answer says its `id`.

        Args:
            body: `name`, `references`, the settings, and what is written on it, as POST
                /v1/testsets takes them.
        """
        return self._send("POST", TESTSETS, body)

    def testset(self, testset_id: str) -> dict[str, Any]:
        """A test set: its settings and how many of its systems are pending."""
        return self._read("GET", f"{TESTSETS}/{testset_id}")

    def testsets(self, **wanted: str | Sequence[str]) -> Iterator[dict[str, Any]]:
        """The caller's test sets, newest first; `wanted` are `title` and `tag`."""
        return self._pages(TESTSETS, wanted)

    def describe_testset(self, testset_id: str, **notes: Any) -> dict[str, Any]:
        """Write `title`, `tags` or `metadata` on a test set; what is not said stays."""
        return self._send("PATCH", f"{TESTSETS}/{testset_id}", notes)

    def raise_resamples(self, testset_id: str, resamples: int) -> dict[str, Any]:
        """Draw more resamples for a test set; the first ones stay."""
        body = {"resamples": resamples}
        return self._send("PATCH", f"{TESTSETS}/{testset_id}", body)

    def delete_testset(self, testset_id: str) -> None:
        """Delete a test set with its systems."""
        self._request("DELETE", f"{TESTSETS}/{testset_id}")

    def put_system(
        self, testset_id: str, name: str, body: Mapping[str, Any], replace: bool = False
    ) -> dict[str, Any]:
        """Put a system to a test set; the answer says its `status`.

        Args:
            testset_id: The test set.
            name: The system's name.
            body: `hypotheses` or `scores` or both, or `replicas`; and what is written on it.
            replace: Whether other content under this name may be replaced.
        """
        path = f"{_system_path(testset_id, name)}?replace={str(replace).lower()}"
        return self._send("PUT", path, body)

    def system(self, testset_id: str, name: str) -> dict[str, Any]:
        """A system of a test set: pending, measured or failed, and its scores."""
        return self._read("GET", _system_path(testset_id, name))

    def measured(self, testset_id: str, name: str) -> dict[str, Any]:
        """A system of a test set, once it is no longer pending."""
        found = self.system(testset_id, name)
        while found["status"] == "pending":
            self._sleep(PENDING_SECONDS)
            found = self.system(testset_id, name)
        return found

    def systems(self, testset_id: str) -> Iterator[dict[str, Any]]:
        """The systems of a test set in the order of their names."""
        return self._pages(f"{TESTSETS}/{testset_id}/systems", {})

    def remove_system(self, testset_id: str, name: str) -> None:
        """Delete a system of a test set."""
        self._request("DELETE", _system_path(testset_id, name))

    def leaderboard(
        self, testset_id: str, form: str = "json", wait: int = 50, **options: str | Sequence[str]
    ) -> bytes:
        """The leaderboard of a test set in one of the formats.

        Args:
            testset_id: The test set.
            form: The format.
            wait: Most seconds until every system that is measured is in it.
            options: `metric`, `test`, `alpha`, `correction`, as far as not the test set's own; and
                a layout as for `report`.
        """
        path = f"{TESTSETS}/{testset_id}/leaderboard"
        headers, params = {"Prefer": f"wait={wait}"}, {"format": form, **options}
        return self._request("GET", path, headers=headers, params=params).content

    def leaderboard_distribution(
        self, testset_id: str, a: str, b: str, values: bool = False, **options: str
    ) -> dict[str, Any]:
        """As `distribution`, of a leaderboard; `options` are `metric` and `test`."""
        return self._distribution(f"{TESTSETS}/{testset_id}/leaderboard", a, b, values, options)

    def leaderboard_plot(
        self, testset_id: str, name: str, *, suffix: str = "svg", **params: str
    ) -> bytes:
        """As `plot`, of a leaderboard."""
        path = f"{TESTSETS}/{testset_id}/leaderboard/plots/{name}.{suffix}"
        return self._request("GET", path, params=params).content

    def _distribution(
        self, path: str, a: str, b: str, values: bool, options: Mapping[str, str]
    ) -> dict[str, Any]:
        params = {"a": a, "b": b, "values": str(values).lower(), **options}
        return self._read("GET", f"{path}/distribution", params=params)

    # races, whose scores arrive in batches

    def create_race(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Make a race; the answer says its `id`.

        Args:
            body: `name`, `systems`, and how it is decided, as POST /v1/races takes them.
        """
        return self._send("POST", RACES, body)

    def observe(self, race_id: str, scores: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
        """Send a batch of scores: by system, an object by name of the item."""
        return self._send("POST", f"{RACES}/{race_id}/observations", {"scores": scores})

    def race(self, race_id: str, wait: int = 50) -> dict[str, Any]:
        """A race, and what came; waits so many seconds until its report has all scores."""
        headers = {"Prefer": f"wait={wait}"}
        return self._read("GET", f"{RACES}/{race_id}", headers=headers)

    def race_report(self, race_id: str) -> Any:
        """The report of a race, as `sigtest.Race` gives it."""
        return KINDS["sequential-comparisons"].read(self._read("GET", f"{RACES}/{race_id}/report"))

    def races(self, **wanted: str | Sequence[str]) -> Iterator[dict[str, Any]]:
        """The caller's races, newest first; `wanted` are `title` and `tag`."""
        return self._pages(RACES, wanted)

    def delete_race(self, race_id: str) -> None:
        """Delete a race with its scores."""
        self._request("DELETE", f"{RACES}/{race_id}")

    # webhooks: who is told of what happens

    def add_webhook(self, url: str, events: Sequence[str] | None = None) -> dict[str, Any]:
        """Have events told to an address; the answer says its `id`, and once its `secret`.

        Args:
            url: Where messages are sent.
            events: Their names; all by default.
        """
        body = {"url": url, **({} if events is None else {"events": list(events)})}
        return self._send("POST", WEBHOOKS, body)

    def webhooks(self) -> list[dict[str, Any]]:
        """The caller's webhooks, newest first."""
        return list(self._read("GET", WEBHOOKS)["webhooks"])

    def test_webhook(self, webhook_id: str) -> dict[str, Any]:
        """Have a test message sent."""
        return self._read("POST", f"{WEBHOOKS}/{webhook_id}/test")

    def remove_webhook(self, webhook_id: str) -> None:
        """Delete a webhook; messages that wait are not sent."""
        self._request("DELETE", f"{WEBHOOKS}/{webhook_id}")

    # requests

    def _pages(
        self, path: str, wanted: Mapping[str, str | Sequence[str]]
    ) -> Iterator[dict[str, Any]]:
        """All entries of a listing, called as the end of its path, that pass its filters."""
        params = dict(wanted)
        while True:
            page = self._read("GET", path, params=params)
            yield from page[path.rpartition("/")[2]]
            if page["next_cursor"] is None:
                return
            params["cursor"] = page["next_cursor"]

    def _send(self, method: str, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """The JSON object that answers a JSON body; see `_request`."""
        headers = {"Content-Type": "application/json"}
        return self._read(method, path, headers=headers, content=encoded(body))

    def _read(self, method: str, path: str, **content: Any) -> dict[str, Any]:
        """The JSON object that one answer holds; see `_request`."""
        return self._object(self._request(method, path, **content))

    def _request(self, method: str, path: str, **content: Any) -> httpx.Response:
        """One answer, good or a `SigtestError`; asks again where that may help.

        It waits as long as `Retry-After` says; where nothing does, longer and longer.
        """
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
                wait = min(pause, longest)
            else:
                self._met = True
                wait = seconds_of(answer, default=min(pause, longest))
                # the service is busy, or is still computing what is asked for
                computing = answer.status_code == 409 and "Retry-After" in answer.headers
                again = computing or answer.status_code in _BUSY
                if not again or not left or wait > PATIENCE:
                    return self._checked(answer)
            self._sleep(wait)
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

    def _object(self, answer: httpx.Response, *needed: str) -> dict[str, Any]:
        """The JSON object that an answer holds.

        Raises:
            ServiceError: It holds none with these fields, as no sigtest service answers.
        """
        try:
            body = answer.json()
        except ValueError:
            body = None
        if not isinstance(body, dict) or not {*needed} <= body.keys():
            raise ServiceError(f"{self.url} does not answer like a sigtest service.")
        return body


def encoded(body: Mapping[str, Any]) -> bytes:
    """A request as it is sent; arrays and numbers of NumPy and pandas as JSON has them.

    Raises:
        InputError: Something that JSON cannot hold.
    """
    try:
        return json.dumps(body, ensure_ascii=False, allow_nan=False, default=_plain).encode()
    except (TypeError, ValueError) as error:  # also of half a surrogate pair
        raise InputError(f"The request cannot be sent as JSON: {error}.") from error


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"it has a {type(value).__name__}")


def seconds_of(answer: httpx.Response, default: float) -> float:
    """What `Retry-After` asks for: seconds, or a time (RFC 9110, 10.2.3)."""
    asked = answer.headers.get("Retry-After", "").strip()
    if asked.isascii() and asked.isdigit():
        return float(asked)
    try:
        moment = parsedate_to_datetime(asked)
    except ValueError:
        return default
    if moment.tzinfo is None:  # a zone of -0000
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())


def _system_path(testset_id: str, name: str) -> str:
    """Where a system is; a name like ".." would lead elsewhere."""
    return f"{TESTSETS}/{testset_id}/systems/{quote(check_name(name), safe='')}"
