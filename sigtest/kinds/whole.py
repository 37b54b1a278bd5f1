"""Questions that one task computes whole; their pictures are drawn of reports alone."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, TypeVar

from sigtest.kinds.base import About, Kind
from sigtest.report import decode, encode


class WholeQuestion(ABC):
    """A question that one task computes whole: a frozen dataclass, stored as it is encoded."""

    @property
    @abstractmethod
    def key(self) -> str:
        """Hash of content, choices and version."""

    @property
    @abstractmethod
    def about(self) -> About:
        """What a listing tells of it."""

    @property
    @abstractmethod
    def seconds(self) -> float:
        """About how long one core computes it."""

    def contents(self) -> Mapping[str, Any]:
        """All of it, under one name."""
        return {"asked": encode(self)}

    def outline(self) -> Mapping[str, Any]:
        """Nothing: workers read the contents."""
        return {}


W = TypeVar("W", bound=WholeQuestion)


class WholeKind(Kind[W]):
    """A kind of such questions.

    Attributes:
        content: Class of its questions.
    """

    content: ClassVar[type[Any]]

    def load(self, outline: Mapping[str, Any], contents: Mapping[str, Any]) -> W:
        question: W = decode(self.content, contents["asked"])
        return question

    def read(self, body: Mapping[str, Any]) -> Any:
        return decode(self.reports[0], body)
