"""Who waits is told at once, also after the server was away."""

import threading
from collections.abc import Iterator

import pytest
from service import CALLER, example, synthetic, until

from workers.observing import News
from workers.settings import Settings
from workers.store.server import EmbeddedServer, connect


@pytest.fixture
def news(server: EmbeddedServer, settings: Settings) -> Iterator[News]:
    news = News.connect(settings)
    listened_to(settings)
    yield news
    news.close()


def listened_to(settings: Settings) -> None:
    redis = connect(settings)
    until(lambda: redis.execute_command("PUBSUB", "NUMPAT") == 1)
    redis.close()


def test_everybody_who_waits_for_a_comparison_is_woken(jobs, news):
    record, _ = jobs.submit(example(), CALLER)
    other, _ = jobs.submit(synthetic(3), CALLER)
    first, second, third = threading.Event(), threading.Event(), threading.Event()
    with (
        news.about(record.id, first.set),
        news.about(record.id, second.set),
        news.about(other.id, third.set),
    ):
        jobs.remove(record.id, CALLER)
        assert first.wait(10)
        assert second.wait(10)
        assert not third.is_set()
        jobs.remove(other.id, CALLER)
        assert third.wait(10)


def test_who_waits_no_longer_is_left_alone(jobs, news):
    record, _ = jobs.submit(example(), CALLER)
    gone, there = threading.Event(), threading.Event()
    with news.about(record.id, there.set):
        with news.about(record.id, gone.set):
            pass
        jobs.remove(record.id, CALLER)
        assert there.wait(10)
    assert not gone.is_set()


def test_a_server_that_comes_back_is_heard_again(jobs, news, server, settings):
    record, _ = jobs.submit(example(), CALLER)
    server.stop()
    server.ensure()
    listened_to(settings)
    woken = threading.Event()
    with news.about(record.id, woken.set):
        jobs.remove(record.id, CALLER)
        assert woken.wait(10)
