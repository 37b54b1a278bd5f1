"""What of a report a page shows: all of it lives in the address."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import Depends, Query

from app.http.state import InDigits
from app.questions.deciding import Decided
from app.questions.drawing import Options
from workers.store.boards import Choice as Decision

DECIDES = ("alpha", "correction")
SINGLE = ("metric", "test", "a", "b", "testset", *DECIDES)


@dataclass(frozen=True)
class Choice:
    """What of a report is shown; all of it lives in the address.

    Attributes:
        metric: Label of a metric.
        test: Name of a significance test.
        beside: Whether all metrics are shown side by side.
        hide: Systems that are left out.
        a: First system of the pair that is opened.
        b: Second.
        alpha: Level of the decisions, where not as asked.
        correction: Of the p-values, where not as asked.
        sort: Order of the tables: a column's heading, falling where a hyphen stands before it.
        first: Rows that are passed over, of tables with very many.
        testset: Of several, the one that the opened pair is looked at on.
    """

    metric: str | None = None
    test: str | None = None
    beside: bool = False
    hide: tuple[str, ...] = ()
    a: str | None = None
    b: str | None = None
    alpha: float | None = None
    correction: str | None = None
    sort: str = ""
    first: int = 0
    testset: str | None = None

    @property
    def fields(self) -> list[tuple[str, str]]:
        """Names and values, as a form sends them."""
        told = [(name, getattr(self, name)) for name in SINGLE]
        beside = [("beside", "1")] if self.beside else []
        hidden = [("hide", name) for name in self.hide]
        sort = [("sort", self.sort)] if self.sort else []
        first = [("first", str(self.first))] if self.first else []
        return [*((k, str(v)) for k, v in told if v is not None), *beside, *hidden, *sort, *first]

    def without(self, *names: str) -> list[tuple[str, str]]:
        """The same, but for the fields that a form has itself."""
        return [(name, value) for name, value in self.fields if name not in names]

    def downloaded(self, form: str) -> str:
        """The report in a format, decided like the page, as part of an address."""
        decided = [(name, value) for name, value in self.fields if name in DECIDES]
        return urlencode([("format", form), *decided])

    @property
    def decided(self) -> Decision:
        """How the report is decided."""
        return Decision(self.alpha, self.correction)

    @property
    def options(self) -> Options:
        """The pair that is opened, as the service asks for one."""
        alpha = None if self.alpha is None else str(self.alpha)
        return Options(
            self.metric, self.test, self.testset, self.a, self.b, alpha=alpha,
            correction=self.correction,
        )  # fmt: skip

    def query(self, **changed: Any) -> str:
        """The same as part of an address, some of it changed."""
        return urlencode(replace(self, **changed).fields)


async def _choice(
    decided: Decided,
    metric: Annotated[str | None, Query()] = None,
    test: Annotated[str | None, Query()] = None,
    beside: Annotated[bool, Query()] = False,
    hide: Annotated[list[str] | None, Query()] = None,
    a: Annotated[str | None, Query()] = None,
    b: Annotated[str | None, Query()] = None,
    sort: Annotated[str, Query()] = "",
    first: Annotated[int, Query(ge=0), InDigits] = 0,
    testset: Annotated[str | None, Query()] = None,
) -> Choice:
    return Choice(
        metric,
        test,
        beside,
        tuple(hide or ()),
        a,
        b,
        decided.alpha,
        decided.correction,
        sort,
        first,
        testset,
    )


Chosen = Annotated[Choice, Depends(_choice)]
