"""What can be wrong with a request before anybody looks at what it asks for.

SigtestError
├── InputError
│   └── MalformedError       a body that is not the JSON or the form it claims to be
├── AuthenticationError      no key, or one that nobody has
├── NotAcceptableError       a representation that does not exist here
├── UnsupportedMediaError    a body of a kind that is not read
└── UnreadyError             nobody is there to do the work
"""

from sigtest.errors import InputError, SigtestError


class MalformedError(InputError):
    """A body that is not the JSON or the form it claims to be."""


class AuthenticationError(SigtestError):
    """No key, or one that nobody has."""


class NotAcceptableError(SigtestError):
    """A representation that does not exist here."""


class UnsupportedMediaError(SigtestError):
    """A body of a kind that is not read."""


class UnreadyError(SigtestError):
    """Nobody is there to do the work."""
