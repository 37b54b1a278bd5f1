"""Every key in Redis, and how long it lives.

    sigtest:question:ID            hash    facts about a question: kind, caller, outline, outcome
    sigtest:contents:ID            hash    what was brought, by field, compressed
    sigtest:blocks:ID              hash    blocks of resamples, by make and "start-stop"
    sigtest:attempts:ID            hash    how often a worker died with each task
    sigtest:report:ID              string  canonical JSON of the report, compressed
    sigtest:gone:ID                string  the caller; outlives a question or a test set
    sigtest:pending                set     ids of unfinished questions
    sigtest:pending:CALLER         hash    predicted seconds and bytes of unfinished questions
    sigtest:listing:CALLER:KIND    sorted  a caller's questions of one kind, or test sets, by time
    sigtest:idempotency:HASH       string  id and `asked` that an idempotency key stands for; caller
    sigtest:cache:SPACE:HASH       string  statistics of one output, a distribution, or shares
    sigtest:views:CALLER           list    a caller's newest distributions and shares, as totals
    sigtest:news:ID                channel says that something of a question was finished
    sigtest:erase                  string  something was deleted that the disk still has
    sigtest:probe                  string  written to see that it can be
    sigtest:bytes:CALLER           hash    what a caller holds by the hour when that expires; caller
    sigtest:access                 hash    API keys by their hash; never a key itself
    sigtest:tallies                hash    how often tasks ended how, and their seconds
    sigtest:tallies:cache          hash    how often statistics were found in a cache, or not
    sigtest:tallies:callers        hash    seconds that tasks took, by caller

    sigtest:session:HASH           string  hash of the key that a browser signed in with
    sigtest:sessions:HASH          list    keys of the newest sessions of a key

    sigtest:webhook:ID             hash    a webhook: caller, url, events, secret, how it went
    sigtest:webhooks:CALLER        set     ids of a caller's webhooks
    sigtest:deliveries:ID          hash    messages that are to be delivered to a webhook
    sigtest:delivery-attempts:ID   hash    how often each was sent
    sigtest:due                    sorted  webhooks and messages, by when to send them next

    sigtest:waiting                sorted  callers with tasks that wait, by seconds handed out
    sigtest:waiting:CALLER         sorted  ids whose tasks wait, the next one first
    sigtest:waiting-since          sorted  ids whose tasks wait, by when they began to
    sigtest:tasks:ID               list    tasks that wait, the next one first
    sigtest:drained                string  an operator lets all of them wait
    sigtest:held                   string  long tasks hold all workers, for a moment

    sigtest:testset:ID             hash    facts about a test set: caller, plan, resamples
    sigtest:testset-text:ID        string  references, documents, labels; compressed
    sigtest:testset-systems:ID     hash    digest of each system's content, by name
    sigtest:testset-outputs:ID     hash    hypotheses and scores by digest, compressed
    sigtest:testset-rows:ID        hash    rows of systems and pairs, by R and digests
    sigtest:testset-failures:ID    hash    why a digest cannot be measured
    sigtest:testset-shown:ID       hash    ids of the comparisons that leaderboards show
    sigtest:testset-reports:ID     set     ids of all comparisons that were made for leaderboards
    sigtest:testset-left:ID        set     digests and names of what was deleted or replaced
    sigtest:testset-claims:ID      hash    p-values and first claims of all pairs ever shown
    sigtest:testset-envelopes:ID   hash    what was written on systems, by part and name
    sigtest:testset-receipts:ID    list    what teams of a shared task submitted and withdrew, when
    sigtest:joining                set     ids of test sets with systems to be measured
    sigtest:race:ID                hash    facts about a race: caller, systems, choices, sizes
    sigtest:race-items:ID          hash    row, scores and when each came, by name of the item
    sigtest:race-facts:ID          list    pairs that were decided, in that order
    sigtest:racing                 set     ids of races with scores to be looked at
    sigtest:totals:ID:V:R:DIGEST   hash    totals by make V of one system under R resamples
    sigtest:totals                 list    bytes and keys of the newest totals

    sigtest:shared-task:ID         hash    facts about a shared task: caller, settings, published
    sigtest:shared-task-teams:ID   hash    its teams, with the hashes of their tokens, by name

Everything of a question expires with it, whatever happens to those who wrote it; everything of a
test set, or a race, expires some time after its last change. A SPACE is a caller, or a test
set: what one of them has cached tells another nothing. Caches hold no text, and expire some time
after their last use. Totals may go earlier: they follow from the outputs. Webhooks stay until they
are deleted, their messages until they are delivered or given up.
"""

import hashlib
import json
from collections.abc import Mapping

from sigtest.metrics.sacre import VERSION
from sigtest.version import __version__

PREFIX = "sigtest:"
PENDING = PREFIX + "pending"
WAITING = PREFIX + "waiting"
WAITING_SINCE = PREFIX + "waiting-since"
DRAINED = PREFIX + "drained"
HELD = PREFIX + "held"
JOINING = PREFIX + "joining"
RACING = PREFIX + "racing"
ACCESS = PREFIX + "access"
ERASE = PREFIX + "erase"
TALLIES = PREFIX + "tallies"
TALLIES_CACHE = TALLIES + ":cache"
TALLIES_CALLERS = TALLIES + ":callers"
DUE = PREFIX + "due"
TOTALS = PREFIX + "totals"
OLDER = [f"{TOTALS}-{part}" for part in ("used", "sizes", "bytes")]  # how 0.2.0 counted them
PROBE = PREFIX + "probe"
ANONYMOUS = "anonymous"  # the caller where there are no API keys
ID_DIGITS = 32
NEWS = PREFIX + "news:*"

OF_QUESTION = ("question", "contents", "blocks", "attempts", "report")
OF_WEBHOOK = ("webhook", "deliveries", "delivery-attempts")
OF_SHARED_TASK = ("shared-task", "shared-task-teams")
OF_RACE = ("race", "race-items", "race-facts", "attempts")
OF_TESTSET = (
    "testset",
    "testset-text",
    "testset-systems",
    "testset-outputs",
    "testset-rows",
    "testset-failures",
    "attempts",
    "testset-shown",
    "testset-reports",
    "testset-left",
    "testset-claims",
    "testset-envelopes",
    "testset-receipts",
)


def key(kind: str, name: str) -> str:
    """The key of one kind of thing."""
    return f"{PREFIX}{kind}:{name}"


def of_caller(kind: str, caller: str, *more: str) -> str:
    """The key of something that a caller has; names of callers may hold anything."""
    return ":".join((f"{PREFIX}{kind}", hashed(caller), *more))


def cached(space: str, name: str) -> str:
    """The key of something cached inside one space."""
    return key("cache", f"{space}:{name}")


def space_of(caller: str) -> str:
    """The space of what a caller asks."""
    return hashed("caller", caller)


def totals(testset_id: str, resamples: int, digest: str) -> str:
    """The key of one system's totals."""
    return key("totals", f"{testset_id}:{MAKE}:{resamples}:{digest}")


def hashed(*parts: str) -> str:
    """32 hexadecimal digits that stand for some text."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:ID_DIGITS]


def question_digest(caller: str, kind: str, fields: Mapping[str, str | bytes]) -> str:
    """32 hexadecimal digits that stand for what a caller asks, whatever version is asked."""
    digest = hashlib.sha256(hashed(caller, kind).encode())
    for name, data in sorted(fields.items()):
        for part in (name, data):
            own = part if isinstance(part, bytes) else part.encode()
            digest.update(hashlib.sha256(own).digest())
    return digest.hexdigest()[:ID_DIGITS]


MAKE = f"{__version__}+sacrebleu.{VERSION}"  # without spaces, as names of rows have it
