"""The errors of stored comparisons, below sigtest's own tree.

    SigtestError
    ├── SettingError        an environment variable that cannot be used
    ├── NotFoundError       no comparison with this id belongs to the caller
    │   └── GoneError       there was one; it expired or was deleted
    ├── NotReadyError       not computed yet, or never will be: see its record
    ├── UnfinishedError     not computed yet; it is being done
    ├── ConflictError       an idempotency key used again with different content
    ├── TakenError          the name belongs to a system with other content
    ├── BusyError           more unfinished comparisons than this installation accepts
    ├── StorageError        Redis cannot be reached, cannot write or is missing
    └── VersionError        stored by another version, whose results could differ

Like sigtest's own they know no status codes.
"""

from sigtest.errors import LimitError, SigtestError
from workers.records import Record


class SettingError(SigtestError):
    """An environment variable with a value that cannot be used."""


class NotFoundError(SigtestError):
    """No comparison with this id belongs to the caller."""


class GoneError(NotFoundError):
    """The comparison expired or was deleted."""


def gone(comparison_id: str) -> GoneError:
    """The error for a comparison that was there."""
    return GoneError(f"The comparison {comparison_id} expired or was deleted; submit it again.")


class NotReadyError(SigtestError):
    """What was asked for is not there (yet).

    Args:
        record: The comparison as it stands: unfinished, failed or cancelled.
    """

    def __init__(self, message: str, record: Record) -> None:
        super().__init__(message)
        self.record = record


class ConflictError(SigtestError):
    """An idempotency key was used before, with different content."""


class UnfinishedError(SigtestError):
    """What was asked for is being computed; ask again."""


class TakenError(SigtestError):
    """The name belongs to a system with other content."""


class BusyError(LimitError):
    """More unfinished comparisons than this installation accepts."""


class StorageError(SigtestError):
    """Redis cannot be reached or cannot write."""


class VersionError(SigtestError):
    """A comparison was stored by another version, whose results could differ."""
