"""Questions that one task computes whole; their pictures are drawn of reports alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from sigtest.kinds.base import About, Kind
from sigtest.report import decode, encode


class Keyed(Protocol):
    """What such a question holds: a dataclass."""

    @property
    def key(self) -> str:
        """Hash of content, choices and version."""


Content = TypeVar("Content", bound=Keyed)


@dataclass(frozen=True)
class Whole(Generic[Content]):
    """A question that one task computes whole.

    Attributes:
        asked: What is asked.
        about: What a listing tells of it.
        seconds: About how long one core computes it.
    """

    asked: Content
    about: About
    seconds: float

    @property
    def key(self) -> str:
        """Hash of content, choices and version."""
        return self.asked.key

    def contents(self) -> Mapping[str, Any]:
        """All of it, under one name."""
        return {"asked": encode(self.asked)}

    def outline(self) -> Mapping[str, Any]:
        """Nothing: workers read the contents."""
        return {}


class WholeKind(Kind[Whole[Content]]):
    """A kind of such questions.

    Attributes:
        content: Class of what is asked.
    """

    content: ClassVar[type[Any]]

    def load(self, outline: Mapping[str, Any], contents: Mapping[str, Any]) -> Whole[Content]:
        return Whole(decode(self.content, contents["asked"]), About(), 0.0)

    def read(self, body: Mapping[str, Any]) -> Any:
        return decode(self.reports[0], body)
