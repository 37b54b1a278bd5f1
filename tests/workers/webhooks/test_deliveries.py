"""Messages are delivered whatever dies, and to nobody who must not be reached."""

import json
import os
import random
import socket
import threading
import time
from collections.abc import Iterator
from ipaddress import ip_address, ip_network
from pathlib import Path

import pytest
from byhand import died_with, finish, perform, register, waiting
from service import CALLER, Service, children, example, kill, started, synthetic, until

from benchmarks.deliveries import LOOPBACK, Receiver, deliver_all, receiving
from workers.queue import NAME, Context, Jobs
from workers.settings import Settings
from workers.store import keys
from workers.store.records import Status, Task
from workers.store.webhooks import EVENTS, TEST, Message
from workers.webhooks import ATTEMPTS, Webhooks, allowed, hand_out, pause_after

SOON = {"webhook_timeout": 1, "webhook_pause": 1, "webhook_longest": 1}


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(state=tmp_path, workers=2, webhook_networks=LOOPBACK, **SOON)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as made:
        yield made


def hooked(context: Context, receiver: Receiver, url: str = "", events: str = TEST) -> str:
    """A webhook of that receiver."""
    webhook_id, receiver.secret = context.webhooks.add(CALLER, url or receiver.url, [events])
    return webhook_id


def sent(context: Context, webhook_id: str) -> Task:
    """The task that delivers a new message."""
    message = Message.of(TEST, {"id": webhook_id})
    context.webhooks.put(webhook_id, CALLER, message)
    return Task("deliver", webhook_id, (message.id,))


def handed_out_when_due(context: Context, task: str, since: float) -> None:
    """The one message that is not delivered waits for a worker after a pause, and not before."""
    ((_, due),) = context.questions.redis.zrange(keys.DUE, 0, -1, withscores=True)
    assert due >= since + SOON["webhook_pause"]
    hand_out(context)
    assert waiting(context) == set() or time.time() >= due

    def handed_out() -> bool:
        hand_out(context)
        return waiting(context) == {task}

    until(handed_out)
    assert time.time() >= due


def test_a_webhook_can_be_deleted_from_a_full_store(context, jobs, receiver):
    webhook_id = hooked(context, receiver)
    for seed in (1, 2):
        jobs.submit(example(seed=seed), CALLER)
    redis = context.questions.redis
    redis.delete(
        *context.feed.jobs.lists.values()
    )  # a worker took the first, the second is to follow
    redis.config_set("maxmemory", 1)
    Webhooks(context).remove(webhook_id, CALLER)
    assert context.webhooks.find(webhook_id) is None


def test_a_message_that_is_delivered_leaves_a_full_store(context, receiver):
    webhook_id = hooked(context, receiver)
    task = sent(context, webhook_id)
    attempt = context.webhooks.attempt(webhook_id, *task.arguments)
    assert attempt is not None
    context.redis.config_set("maxmemory", 1)
    context.webhooks.end(attempt, "delivered", 0.1)
    record = context.webhooks.find(webhook_id)
    assert record is not None
    assert (record.delivered, record.pending) == (1, 0)
    assert context.redis.zcard(keys.DUE) == 0


def test_nothing_is_left_of_a_webhook_that_is_removed_while_messages_come(context, receiver):
    store, redis = context.webhooks, context.questions.redis
    for _ in range(5):
        webhook_id, removed = hooked(context, receiver), threading.Event()

        def tell(webhook_id: str = webhook_id, removed: threading.Event = removed) -> None:
            while not removed.is_set():
                store.put(webhook_id, CALLER, Message.of(TEST, {"id": webhook_id}))
            store.put(webhook_id, CALLER, Message.of(TEST, {"id": webhook_id}))

        telling = threading.Thread(target=tell)
        telling.start()
        until(lambda webhook_id=webhook_id: redis.hlen(keys.key("deliveries", webhook_id)) > 3)
        store.remove(webhook_id, CALLER)
        removed.set()
        telling.join()
    assert redis.keys("sigtest:deliver*") + redis.keys("sigtest:webhook*") == []
    assert redis.zcard(keys.DUE) == 0


def test_what_was_delivered_is_never_sent_again(context, receiver):
    webhook_id = hooked(context, receiver)
    task = sent(context, webhook_id)
    perform(context, [task, task])
    assert receiver.seen.total() == 1
    record = context.webhooks.find(webhook_id)
    assert record is not None
    assert (record.delivered, record.pending, record.error) == (1, 0, None)
    time.sleep(1.1)
    hand_out(context)
    assert waiting(context) == set()


def test_one_worker_at_a_time_sends_a_message(context, receiver):
    """Also where it takes so long that the message is handed out once more."""
    redis, webhook_id = context.redis, hooked(context, receiver)
    sent(context, webhook_id)
    hand_out(context)
    task = died_with(context, "first")
    register(redis, "second")
    for _ in range(3):
        redis.zadd(keys.DUE, dict.fromkeys(redis.zrange(keys.DUE, 0, -1), 0))
        hand_out(context)
        assert redis.llen(context.feed.jobs.lists[NAME]) == 0
    register(redis, "first")
    context.feed.jobs.forget([task])  # it ended
    redis.zadd(keys.DUE, dict.fromkeys(redis.zrange(keys.DUE, 0, -1), 0))
    hand_out(context)
    assert waiting(context) == {task}


def test_what_is_due_is_taken_once(context, receiver):
    webhook_id = hooked(context, receiver)
    sent_out = {str(sent(context, webhook_id).arguments[0]) for _ in range(400)}
    taken: list[str] = []
    begin = threading.Barrier(8)

    def take() -> None:
        begin.wait()
        for messages in context.webhooks.take_due().values():
            taken.extend(messages)

    threads = [threading.Thread(target=take) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(taken) == sorted(sent_out)


@pytest.mark.parametrize("status", [302, 400, 429, 500])
def test_what_is_not_accepted_is_sent_again_later(context, receiver, status):
    webhook_id = hooked(context, receiver)
    receiver.answers = [status]
    task = sent(context, webhook_id)
    since = time.time()
    perform(context, [task])
    record = context.webhooks.find(webhook_id)
    assert record is not None
    assert record.error == f"The receiver answered {status}."
    assert (record.delivered, record.pending) == (0, 1)
    handed_out_when_due(context, task.key, since)
    perform(context, [task])
    assert len(set(receiver.seen)) == 1  # under the same id, and nowhere else
    assert receiver.bodies[0] == receiver.bodies[1]


@pytest.mark.parametrize("clock", [-3600.0, 3600.0])
def test_clocks_of_machines_may_differ(context, receiver, monkeypatch, clock):
    """A pause has its length."""
    webhook_id = hooked(context, receiver)
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + clock)
    task = sent(context, webhook_id)
    attempt = context.webhooks.attempt(webhook_id, *task.arguments)
    assert attempt is not None
    context.webhooks.end(attempt, "again", 0.1, "The receiver answered 500.", 1.0)
    monkeypatch.undo()
    handed_out_when_due(context, task.key, real() - 1.0)


def test_a_receiver_that_says_gone_loses_its_webhook(context, receiver):
    webhook_id = hooked(context, receiver)
    receiver.answers = [410]
    first, second = sent(context, webhook_id), sent(context, webhook_id)
    perform(context, [first, second])
    assert receiver.seen.total() == 1
    assert context.webhooks.find(webhook_id) is None
    assert not [k for k in context.questions.redis.keys("sigtest:*") if webhook_id in k.decode()]
    assert context.questions.redis.zcard(keys.DUE) == 0


def test_a_slow_receiver_has_its_time_and_no_more(context, receiver):
    webhook_id = hooked(context, receiver)
    receiver.pause = 20.0
    perform(context, [sent(context, webhook_id)])
    record = context.webhooks.find(webhook_id)
    assert record is not None
    assert record.error == "The receiver gave no answer within 1 seconds."
    assert record.seconds > 0.9  # what the next attempt is priced at


def test_a_receiver_that_trickles_has_no_more(context, receiver):
    """Each byte in time, and never the last: limits on single reads would wait for ever."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        over = threading.Event()

        def trickle() -> None:
            connection, _ = listening.accept()
            with connection:
                for byte in b"HTTP/1.1 200 OK\r\nX: " + b"x" * 200:
                    if over.wait(0.1):
                        return
                    connection.sendall(bytes([byte]))

        thread = threading.Thread(target=trickle, daemon=True)
        thread.start()
        webhook_id = hooked(context, receiver, f"http://127.0.0.1:{listening.getsockname()[1]}/")
        perform(context, [sent(context, webhook_id)])
        assert thread.is_alive()  # it still sends
        over.set()
        thread.join()
    record = context.webhooks.find(webhook_id)
    assert record is not None
    assert record.delivered == 0


def test_after_enough_attempts_a_message_is_given_up(context, receiver):
    webhook_id = hooked(context, receiver)
    receiver.answers = [500]
    task = sent(context, webhook_id)
    message = str(task.arguments[0])
    attempts = keys.key("delivery-attempts", webhook_id)
    context.questions.redis.hset(attempts, message, ATTEMPTS - 1)
    perform(context, [task])
    record = context.webhooks.find(webhook_id)
    assert record is not None
    assert (record.delivered, record.pending, record.dropped) == (0, 0, 1)
    assert context.questions.redis.exists(attempts) == 0


def test_pauses_double_up_to_the_longest():
    usual = Settings()
    pauses = [pause_after(number, usual) for number in range(1, ATTEMPTS)]
    assert pauses[:4] == [5.0, 10.0, 20.0, 40.0]
    assert pauses[-1] == 6 * 3600
    assert 2.5 * 86_400 < sum(pauses) < 3.5 * 86_400


def test_the_outcome_and_its_messages_are_one_step(context, jobs, receiver):
    """So that nothing that dies between them can lose a message."""
    webhook_id = hooked(context, receiver, events="question.succeeded")
    others = hooked(context, receiver, events="question.failed")
    record, _ = jobs.submit(synthetic(1, segments=5, systems=2), CALLER)
    since = time.time()
    finish(context, record.id)
    assert context.questions.redis.hlen(keys.key("deliveries", webhook_id)) == 1
    assert context.questions.redis.hlen(keys.key("deliveries", others)) == 0
    (task,) = (key for key in waiting(context) if key.startswith(webhook_id))
    message = task.rpartition("-")[2]

    # all that was handed out is lost; after its time it is handed out once more
    context.feed.drop(webhook_id)
    Jobs(context.questions.redis, context.settings).forget([task])
    handed_out_when_due(context, task, since)
    receiver.secret = str(
        (context.questions.redis.hget(keys.key("webhook", webhook_id), "secret") or b"").decode()
    )
    perform(context, [Task("deliver", webhook_id, (message,))])
    told = receiver.bodies[0]
    assert (told["type"], told["data"]["id"]) == ("question.succeeded", record.id)


def test_messages_of_failures_have_their_type(context, jobs, receiver):
    webhook_id = hooked(context, receiver, events="question.failed")
    record, _ = jobs.submit(synthetic(1, segments=5, systems=2), CALLER)
    problem = {"type": "urn:sigtest:problem:task-timeout"}
    context.questions.commit(record.id, Status.FAILED, "Too slow.", problem=problem)
    (message,) = context.questions.redis.hvals(keys.key("deliveries", webhook_id))
    data = json.loads(message[message.index(b"{") :])["data"]
    assert (data["error"], data["type"]) == ("Too slow.", problem["type"])


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.1", "2130706433", "[::1]"])
def test_private_addresses_are_never_reached(context, receiver, host):
    """However they are spelled: what counts is the address that would be connected to."""
    object.__setattr__(context.settings, "webhook_networks", ())
    url = f"http://{host}:{receiver.server_port}/hook"
    webhook_id = hooked(context, receiver, url)
    perform(context, [sent(context, webhook_id)])
    record = context.webhooks.find(webhook_id)
    assert record is not None
    assert "private address" in str(record.error)
    assert receiver.seen.total() == 0


def test_a_name_is_looked_up_once_for_check_and_connection(context, receiver, monkeypatch):
    """A name server that answers otherwise the second time (DNS rebinding) leads nowhere else."""
    looked = []
    real = socket.getaddrinfo

    def once(host: object, *further: object, **more: object) -> object:
        looked.append(host)
        leads = "127.0.0.1" if host == "receiver.example" and looked.count(host) == 1 else host
        return real(leads, *further, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(socket, "getaddrinfo", once)
    webhook_id = hooked(context, receiver, f"http://receiver.example:{receiver.server_port}/hook")
    perform(context, [sent(context, webhook_id)])
    assert receiver.taken.total() == 1
    assert looked.count("receiver.example") == 1


def test_a_silent_name_server_has_no_more_time_than_a_receiver(context, receiver, monkeypatch):
    real, over = socket.getaddrinfo, threading.Event()

    def silent(host: object, *further: object, **more: object) -> object:
        if host == "receiver.example":
            over.wait(20)
        return real("127.0.0.1", *further, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(socket, "getaddrinfo", silent)
    webhook_id = hooked(context, receiver, f"http://receiver.example:{receiver.server_port}/hook")
    since = time.monotonic()
    perform(context, [sent(context, webhook_id)])
    took = time.monotonic() - since
    over.set()
    record = context.webhooks.find(webhook_id)
    assert record is not None
    assert record.error == "The receiver gave no answer within 1 seconds."
    assert took < 10


# IANA IPv4 and IPv6 Special-Purpose Address Registries (2025-10): the first and last addresses of
# all that is not globally reachable, and of what is deprecated; what IPv6 carries of IPv4
PRIVATE = """0.0.0.0 0.255.255.255 10.0.0.1 10.255.255.255 100.64.0.1 100.127.255.255 127.0.0.1
    169.254.169.254 172.16.0.1 172.31.255.255 192.0.0.1 192.0.0.8 192.0.0.170 192.0.0.192 192.0.2.1
    192.88.99.1 192.168.1.1 198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.1 224.0.0.1
    239.255.255.255 240.0.0.1 255.255.255.255
    :: ::1 ::8.8.8.8 ::ffff:10.0.0.1 ::ffff:192.0.0.192 ::ffff:0:8.8.8.8 64:ff9b::10.0.0.1
    64:ff9b::127.0.0.1 64:ff9b:1::1 64:ff9b:1::8.8.8.8 100::1 100:0:0:1::1 2001::1
    2001:0:808:808::1 2001:2::1 2001:10::1 2001:20::1 2001:db8::1 2002:a00:1:: 2002:7f00:1::
    2002:c000:c0:: 3fff::1 3fff:fff:ffff::1 4000::1 5f00::1 fc00::1 fdff::1 fe80::1 fec0::1
    feff::1 ff02::1 ff0e::1"""


@pytest.mark.parametrize("address", PRIVATE.split())
def test_addresses_that_only_some_can_reach(address):
    """IANA's special-purpose registries, and what IPv6 addresses carry of IPv4."""
    assert not allowed(ip_address(address), ())


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "192.0.1.1", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8"]
)
def test_addresses_that_everybody_can_reach(address):
    assert allowed(ip_address(address), ())


def test_a_network_that_is_allowed_allows_no_other():
    networks = (ip_network("10.1.0.0/16"),)
    assert allowed(ip_address("10.1.2.3"), networks)
    assert allowed(ip_address("::ffff:10.1.2.3"), networks)
    assert not allowed(ip_address("10.2.2.3"), networks)


@pytest.fixture(scope="module")
def working(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    state = tmp_path_factory.mktemp("state")
    with started(Settings(state=state, workers=2, webhook_networks=LOOPBACK, **SOON)) as service:
        yield service


def test_each_is_delivered_though_workers_die_and_receivers_fail(working):
    """`python -m benchmarks.deliveries` does it with 500."""
    chance = random.Random(int.from_bytes(os.urandom(4)))
    over = threading.Event()

    def strike() -> None:
        for _ in range(3):
            over.wait(0.7)
            for worker in chance.sample(alive := working.workers(), min(1, len(alive))):
                kill(worker, *children(worker))

    with receiving(failing=0.5) as receiver:
        thread = threading.Thread(target=strike)
        thread.start()
        try:
            deliver_all(working.jobs.questions.context, receiver, 20)
        finally:
            over.set()
            thread.join()
    assert len(receiver.seen) == len({body["data"]["number"] for body in receiver.bodies}) == 20
    # one that was killed between the answer and its note sends the message again
    assert min(receiver.taken.values()) == 1
    assert receiver.taken.total() <= 20 + 3
    assert receiver.forged == []


def test_a_question_is_told_at_once(working):
    with receiving() as receiver:
        webhooks = working.jobs.questions.context.webhooks
        _, receiver.secret = webhooks.add(CALLER, receiver.url, list(EVENTS))
        record, _ = working.jobs.submit(synthetic(3, segments=5, systems=2), CALLER)
        until(lambda: receiver.bodies)
        assert receiver.bodies[0]["data"]["id"] == record.id
