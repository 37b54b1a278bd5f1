"""What redis raises is said in our words, whichever method of a guarded class meets it."""

import inspect

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import OutOfMemoryError

from workers.access import Access, Sessions
from workers.errors import FullError, StorageError, guarded
from workers.questions import Questions
from workers.testsets import TestSets
from workers.webhooks import Webhooks


@guarded
class Store:
    def full(self) -> None:
        raise OutOfMemoryError

    def away(self) -> None:
        self._away()

    def _away(self) -> None:
        raise RedisConnectionError("refused by 10.0.0.1")


def test_every_public_method_says_that_the_store_failed():
    with pytest.raises(FullError):
        Store().full()
    with pytest.raises(StorageError):
        Store().away()
    with pytest.raises(RedisConnectionError):
        Store()._away()


def test_the_log_says_what_failed(caplog):
    with pytest.raises(StorageError):
        Store().away()
    assert caplog.messages == ["the store does not answer: refused by 10.0.0.1"]


@pytest.mark.parametrize("kind", [Access, Questions, Sessions, TestSets, Webhooks])
def test_what_the_front_end_calls_is_guarded(kind):
    methods = inspect.getmembers(kind, inspect.isfunction)
    public = [method for name, method in methods if not name.startswith("_")]
    assert public
    assert all(hasattr(method, "__wrapped__") for method in public)
