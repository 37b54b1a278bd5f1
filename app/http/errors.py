"""What can be wrong with a request before anybody looks at what it asks for.

SigtestError
├── InputError
│   └── MalformedError       a body that is not the JSON or the form it claims to be
├── AuthenticationError      no key, or an unknown one
├── ForbiddenError           a key that is not for this
├── BackOffError             too many wrong keys
├── SlowError                a body that takes too long to come
├── StoppingError            a request that the end of the service cuts short
├── NotAcceptableError       a representation that does not exist here
├── PreconditionError        something has changed since the client looked at it
├── UnsupportedMediaError    a body of a kind that is not read
└── UnreadyError             no worker is there
"""

from sigtest.errors import InputError, SigtestError


class MalformedError(InputError):
    """A body that is not the JSON or the form it claims to be."""


class AuthenticationError(SigtestError):
    """No key, or an unknown one."""


class ForbiddenError(SigtestError):
    """A key that is not for this."""


class BackOffError(SigtestError):
    """Too many wrong keys.

    Args:
        message: How many.
        seconds: How long to wait.
    """

    def __init__(self, message: str, seconds: int) -> None:
        super().__init__(message)
        self.seconds = seconds


class SlowError(SigtestError):
    """A body that takes too long to come."""


class StoppingError(SigtestError):
    """A request that the end of the service cuts short."""


class NotAcceptableError(SigtestError):
    """A representation that does not exist here."""


class PreconditionError(SigtestError):
    """Something has changed since the client looked at it."""


class UnsupportedMediaError(SigtestError):
    """A body of a kind that is not read."""


class UnreadyError(SigtestError):
    """No worker is there."""
