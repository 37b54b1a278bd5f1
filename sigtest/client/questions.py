"""Questions of a service: asked, followed, read, listed, deleted."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import httpx

from sigtest.client.connection import WAIT_SECONDS, Connection, encoded, seconds_of
from sigtest.comparison.comparison import Comparison
from sigtest.data.choices import choose
from sigtest.errors import ServiceError
from sigtest.kinds import KINDS, File
from sigtest.kinds.comparisons import ComparisonReport
from sigtest.progress import Progress
from sigtest.requests.notes import Notes

COMPARISONS = "comparisons"
PLAIN = Notes()

Asked = Comparison | Mapping[str, Any]


class Questions:
    """What a client does with questions.

    Attributes:
        connection: To the service.
    """

    connection: Connection

    def compare(
        self,
        comparison: Asked,
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
        stored = json.loads(self.report(self.run(comparison, progress, envelope=envelope)))
        report: ComparisonReport = KINDS[COMPARISONS].read(stored)
        return report

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
            files: What it brings besides: part of the form, name and bytes of each file
                (`sigtest.kinds.File`).
            progress: Called with phase, done and total.

        Returns:
            The same report as the notebook's function of the kind gives.

        Raises:
            SigtestError: As `compare`; or no such kind.
        """
        known = KINDS[choose(kind, KINDS, "kind", "kind of question")]
        stored = json.loads(self.report(self.run(request, progress, kind, files), kind=kind))
        return known.read(stored)

    def run(
        self,
        asked: Asked,
        progress: Progress | None = None,
        kind: str = COMPARISONS,
        files: Sequence[File] = (),
        envelope: Notes = PLAIN,
    ) -> str:
        """Ask a question and wait for its end; its id, by which its report can be fetched.

        Args:
            asked: A comparison, or the JSON of a request.
            progress: Called with phase, done and total.
            kind: Path of the kind of question.
            files: What the request brings besides, sent as a form.
            envelope: What to write on it.
        """
        status = self.submit(asked, kind, files, envelope)
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
        self,
        asked: Asked,
        kind: str = COMPARISONS,
        files: Sequence[File] = (),
        envelope: Notes = PLAIN,
    ) -> dict[str, Any]:
        """Ask a question; the answer says its `id`, `status` and `progress`."""
        body = asked if isinstance(asked, Mapping) else asked.as_json()
        content = encoded({**body, **envelope.as_json()})
        headers = {"Idempotency-Key": uuid.uuid4().hex}
        sent: dict[str, Any] = {"content": content}
        if files:
            form = [(file.part, (file.name, file.data)) for file in files]
            sent = {"files": [*form, ("request", ("request.json", content))]}
        else:
            headers["Content-Type"] = "application/json"
        return self._followed(self.connection.ask("POST", f"/v1/{kind}", headers=headers, **sent))

    def status(self, question_id: str, kind: str = COMPARISONS) -> dict[str, Any]:
        """How far a question is; answers when it has finished, or after a second."""
        return self._followed(self.connection.ask("GET", f"/v1/{kind}/{question_id}"))

    def listing(
        self, kind: str = COMPARISONS, **wanted: str | Sequence[str]
    ) -> Iterator[dict[str, Any]]:
        """The caller's questions of a kind, newest first.

        Args:
            kind: Of question.
            wanted: `title`, `tag` (one or several) and `status` of those that are wanted.
        """
        return self.connection.pages(f"/v1/{kind}", kind, wanted)

    def describe(self, question_id: str, kind: str = COMPARISONS, **said: Any) -> dict[str, Any]:
        """Write `title`, `tags` or `metadata` on a question; what is not said stays."""
        return self.connection.send("PATCH", f"/v1/{kind}/{question_id}", said)

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
            layout: `table`, `caption`, `label`, `names`, as `sigtest.render.layout` has them; of a
                comparison `metric`, `test` and `system` (one or several) for a part of it.
        """
        path = f"/v1/{kind}/{question_id}/report"
        return self.connection.ask("GET", path, params={"format": form, **layout}).content

    def distribution(
        self, comparison_id: str, a: str, b: str, metric: str, test: str, values: bool = False
    ) -> dict[str, Any]:
        """Bins, counts and the observed difference of one pair; on demand every value."""
        params = {"a": a, "b": b, "metric": metric, "test": test, "values": str(values).lower()}
        return self.connection.told(
            "GET", f"/v1/{COMPARISONS}/{comparison_id}/distribution", params=params
        )

    def plot(self, question_id: str, name: str, *, kind: str = COMPARISONS, **params: str) -> bytes:
        """One of the pictures of a kind of question, as SVG."""
        path = f"/v1/{kind}/{question_id}/plots/{name}.svg"
        return self.connection.ask("GET", path, params=params).content

    def remove(self, question_id: str, kind: str = COMPARISONS) -> None:
        """Cancel a question, or delete a finished one with its texts."""
        self.connection.ask("DELETE", f"/v1/{kind}/{question_id}")

    def _followed(self, answer: httpx.Response) -> dict[str, Any]:
        """A comparison's state; a service that did not wait for its end is not asked at once."""
        status = self.connection.object_of(answer)
        if not {"id", "status", "progress"} <= status.keys():
            raise self.connection.stranger()
        running = status["status"] in {"queued", "running"}
        if running and "Preference-Applied" not in answer.headers:
            self.connection.sleep(seconds_of(answer, default=WAIT_SECONDS))
        return status
