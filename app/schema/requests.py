"""Wire models of forms, described for people and for code generators."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from app.schema.fragments import file_field, files_field
from sigtest.requests.notes import Notes
from sigtest.requests.recipe import Choices


class FilesRequest(Notes, Choices):
    """What to compute, and how files are put together."""

    builtin: str | None = Field(
        default=None,
        description="Instead of references: a test set that sacreBLEU knows, such as "
        "`wmt17/en-de`. The operator must have it or allow downloads.",
    )
    testset: str | None = Field(
        default=None,
        description="Instead of references, documents and labels: the id of a test set of the "
        "caller's, which has them.",
    )
    missing: Literal["error", "drop"] = Field(
        default="error",
        description="About segments that not all files have, or without a score: refuse them, or "
        "leave them out for every system and say so.",
    )
    select: str | None = Field(
        default=None, description="One of the test sets in the files, where there are several."
    )


class FormRequest(BaseModel):
    """The same as files of any format, which their content says, perhaps `.gz`.

    A system's name is that in the file, or else the file's without `.gz` and the last suffix.
    """

    references: list[bytes] = files_field("Files with a reference set each.")
    systems: list[bytes] = files_field("Files with the hypotheses of a system each.")
    scores: list[bytes] = files_field(
        "Files of scores, called `[LABEL:]SYSTEM.tsv`: numbers, one line a segment, or any format."
    )
    documents: bytes | None = file_field("A file with the document of each segment.")
    labels: bytes | None = file_field("A file with the label of each segment.")
    source: bytes | None = file_field("A file with the source of each segment.")
    archive: list[bytes] = files_field(
        "Files of any format or archives of several, which say what they bring: a zip, tar or "
        "tar.gz with `reference*` and `systems/*`, WMT XML, tables, logs of evaluations."
    )
    request: FilesRequest | None = Field(default=None, description="The rest, as JSON.")
