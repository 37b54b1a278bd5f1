"""What a document's methods cite, as a bibliography."""

from __future__ import annotations

from sigtest.render.model import Document
from sigtest.render.names import printable


def render(document: Document) -> str:
    """The entries, and above them the methods as a comment."""
    if document.methods is None:
        return f"% {_inert(document.title)}: nothing to cite.\n"
    entries = [own.bibtex for own in document.methods.references]
    return "\n\n".join([f"% {_inert(document.methods.text)}", *entries]) + "\n"


def _inert(text: str) -> str:
    """A comment: BibTeX skips what stands outside entries, but for the sign that opens one."""
    return printable(text, "?").replace("@", "(at)")
