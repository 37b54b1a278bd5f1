"""Questions in Redis: what is asked, which pieces of it exist, what became of it, its report.

A piece is one statistics array (of an output and a metric) or one block of resamples. Pieces are
addressed by what they hold, never by a running number, so that a piece written late or twice, or
for a question that was meanwhile cut differently, changes nothing. A question of another kind than
comparison has no pieces; one task computes it whole.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from itertools import chain, compress
from typing import Any, cast

from redis import Redis
from redis.exceptions import OutOfMemoryError

from sigtest.comparison.plan import Part, Plan
from sigtest.kinds import About, Question
from sigtest.kinds.comparisons import ComparisonQuestion
from sigtest.requests.notes import PARTS, Noted
from sigtest.version import __version__
from workers.errors import NO_PROBLEM, GoneError, gone
from workers.process import REQUEST
from workers.settings import Settings
from workers.store import codec, keys, records
from workers.store.cache import Cache
from workers.store.codec import decoded
from workers.store.keys import MAKE, hashed
from workers.store.lasting import Shelf
from workers.store.usage import TOMBSTONE, WEIGH, check_lasting, stay
from workers.store.webhooks import ANNOUNCE, Message, announcing

# Seconds of work that are worth a task of their own: starting one takes about 0.02 s.
SHORT = 0.2
BLOCK_SECONDS = 0.5
# A long question gives way to others more often, which costs it a tenth.
LONG = 60.0
SHORT_BLOCK_SECONDS = 0.15
BATCH_SECONDS = 2.0
# A block is predicted to take so many times what loading its statistics takes, at least; ordinary
# texts are drawn several times as fast as is predicted.
LOADINGS = 8.0

Run = tuple[int, int]


@dataclass(frozen=True)
class Cut:
    """How a question is cut; stored with it, since workers may have other settings.

    Attributes:
        keys: Key of each statistics array, by output and metric.
        batch: Outputs that one task measures; they share the work on the references.
        resamples: R; 0 where nothing is resampled piece by piece.
        rows: Resamples that one task draws.
        measuring: Predicted seconds of measuring everything.
        computing: Predicted seconds of everything else.
        bytes: Of what blocks and statistics hold in the store until the report is written, at most.
    """

    keys: tuple[tuple[str, ...], ...]
    batch: int
    resamples: int
    rows: int
    measuring: float
    computing: float
    bytes: int = 0

    @classmethod
    def of(cls, question: Question, workers: int, rows: int | None = None) -> Cut:
        """Cut a question so that small ones stay whole and large ones occupy every worker.

        Args:
            question: What is to be computed.
            workers: Processes to share large work between.
            rows: Resamples a task draws, where that is a setting.
        """
        if not isinstance(question, ComparisonQuestion):
            return cls((), 1, 0, 1, 0.0, question.seconds)
        plan, comparison = question.comparison.plan, question.comparison
        measuring, drawing = question.measuring, question.drawing
        each = BLOCK_SECONDS if drawing < LONG else SHORT_BLOCK_SECONDS
        blocks = _tasks(drawing, max(each, LOADINGS * question.loading), workers)
        outputs = len(plan.parts) * len(plan.systems)
        scores = plan.numbers_per_draw * len(plan.recipe.metrics)
        return cls(
            keys=statistics_keys(plan),
            batch=math.ceil(outputs / _tasks(measuring, BATCH_SECONDS, workers)),
            resamples=plan.resamples,
            rows=rows or math.ceil(plan.resamples / blocks),
            measuring=measuring,
            computing=question.resampling,
            bytes=8 * (scores * plan.parts[0].draws + comparison.statistic_count),
        )

    @property
    def batches(self) -> list[Run]:
        """Outputs that are measured together: first, and first of the next batch."""
        return _runs(len(self.keys), self.batch)

    @property
    def blocks(self) -> list[Run]:
        """Resamples that are drawn together: first, and first of the next block."""
        return _runs(self.resamples, self.rows)

    @property
    def distinct_keys(self) -> list[str]:
        """Keys of the statistics, each once: equal texts are measured once."""
        return list(dict.fromkeys(key for row in self.keys for key in row))

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> Cut:
        """The cut whose attributes were written as JSON."""
        return cls(**{**body, "keys": tuple(tuple(row) for row in body["keys"])})


@dataclass(frozen=True)
class Pieces:
    """Which pieces of an unfinished question exist.

    Attributes:
        cut: Which there will be.
        measured: Keys of the statistics arrays that exist.
        drawn: Blocks that exist.
    """

    cut: Cut
    measured: frozenset[str]
    drawn: frozenset[Run]

    @property
    def unmeasured(self) -> list[Run]:
        """Batches of outputs with statistics missing."""
        return [
            (first, last)
            for first, last in self.cut.batches
            if any(key not in self.measured for row in self.cut.keys[first:last] for key in row)
        ]

    def tasks(self, owner: str) -> list[records.Task]:
        """What to do next; all of it can be done at the same time."""
        cut = self.cut
        if batches := self.unmeasured:
            each = cut.measuring / len(cut.batches)
            return [records.Task("measure", owner, run, each) for run in batches]
        if blocks := [block for block in cut.blocks if block not in self.drawn]:
            each = cut.computing / len(cut.blocks)
            return [records.Task("resample", owner, run, each) for run in blocks]
        return [records.Task("conclude", owner, seconds=0.0 if cut.resamples else cut.computing)]

    @property
    def progress(self) -> records.Progress:
        """How much of the current phase exists."""
        keys = self.cut.distinct_keys
        done = sum(key in self.measured for key in keys)
        if done < len(keys):
            return records.Progress("statistics", done, len(keys))
        drawn = sum(stop - start for start, stop in self.cut.blocks if (start, stop) in self.drawn)
        if drawn < self.cut.resamples:
            return records.Progress("resampling", drawn, self.cut.resamples)
        return records.Progress("report", 0, 1)


def statistics_keys(plan: Plan) -> tuple[tuple[str, ...], ...]:
    """Key of each statistics array of a comparison, by output and metric."""
    return tuple(
        tuple(part.statistics_key(s, own) for own in plan.recipe.measured)
        for part in plan.parts
        for s in range(len(plan.systems))
    )


def shares_key(part: Part, a: int, b: int, metric: int) -> str:
    """Key of the segments' shares of the difference between two systems of a test set."""
    scored = part.recipe.metrics[metric]
    measured = (part.statistics_key(system, scored) for system in (a, b))
    return hashed("shares", *measured, str(part.replicas))


def block_name(run: Run) -> str:
    """What a block is called; see `make`."""
    start, stop = run
    return f"{MAKE} {start}-{stop}"


def blocks_named(names: Iterable[bytes | str]) -> frozenset[Run]:
    """Blocks of this make, from what all are called."""
    ends = []
    for name in map(decoded, names):
        make, _, run = name.rpartition(" ")
        if make == MAKE:
            start, _, stop = run.partition("-")
            ends.append((int(start), int(stop)))
    return frozenset(ends)


def _tasks(seconds: float, each: float, workers: int) -> int:
    """Into how many tasks to cut work that takes one worker so long."""
    if seconds < SHORT:
        return 1
    return workers * math.ceil(seconds / (each * workers))


def _runs(total: int, step: int) -> list[Run]:
    return [(first, min(first + step, total)) for first in range(0, total, step)]


def finished(
    kind: str, about: About, outline: Any, pictures: Sequence[str], make: str | None = __version__
) -> dict[str, Any]:
    """Fields of a question that has its report.

    Args:
        kind: Path of its kind.
        about: Names and labels of what it is about.
        outline: What is known of it without its contents.
        pictures: Names of those that can be drawn of the report.
        make: Version of sigtest that computed it.
    """
    return {
        "kind": kind,
        "about": json.dumps(asdict(about)),
        "outline": codec.pack_json(outline),
        "outcome": records.Status.SUCCEEDED.value,
        "progress": json.dumps(vars(records.Progress("report", 1, 1))),
        "computed_with": make or "",
        "pictures": json.dumps(pictures),
    }


def finish(
    pipe: Any,
    settings: Settings,
    question_id: str,
    facts: Mapping[str, Any],
    report: bytes,
    expiry: int,
) -> None:
    """Let a pipeline store a question that nobody waits for, with its report.

    Args:
        pipe: To send it with.
        settings: How long is remembered what was there.
        question_id: Where.
        facts: From `finished`, and whose it is.
        report: Canonical JSON.
        expiry: When it expires, in ms.
    """
    question = keys.key("question", question_id)
    pipe.hset(question, mapping=facts)
    pipe.hsetnx(question, "created", repr(time.time()))
    pipe.set(keys.key("report", question_id), codec.pack_bytes(report))
    stay(pipe, settings, facts["caller"], "question", question_id, facts["kind"], expiry)


WRITTEN = (*PARTS, "expiry", "bytes")  # of a question where it is created
PUT_FIELDS = """
local CHUNK = 4000
local function put(key, first, last)
    for i = first, last, CHUNK do
        redis.call('HSET', key, unpack(ARGV, i, math.min(i + CHUNK - 1, last)))
    end
end
"""

# KEYS: question, contents, blocks, attempts, report, tombstone, pending, pending of the caller,
#       listing, idempotency, tallies of caches, bytes of the caller, each of the statistics where
#       it would be cached
# It lasts until its `expires` where that is later than the expiry.
# ARGV: id, expiry, end of the tombstone (both in ms), most pending of a caller, most predicted
#       seconds and bytes of a caller, predicted seconds and bytes, place in the listing, caller, 1
#       with an idempotency key, hash of what is asked, number of fields of the question times two,
#       bytes that the store has left, these and their values, then those of the contents. What the
#       caller has pending is held as seconds and bytes; what an idempotency key stands for, as id,
#       hash and caller.
# Returns the verdict, seconds and bytes of what the caller has pending where it is too much, the
# id of the question that the key stands for, or this one's, and where it was created each part of
# its envelope, its expiry and bytes, then of each of the statistics whether it is cached, which is
# counted.
CREATE = (
    PUT_FIELDS
    + WEIGH
    + f"local TOMBSTONE, PARTS = {TOMBSTONE}, {{{', '.join(map(repr, PARTS))}}}\n"
    + f"local WRITTEN = {{{', '.join(map(repr, WRITTEN))}}}"
    + """
local id, expiry = ARGV[1], ARGV[2]
local prefix = string.sub(KEYS[1], 1, -#id - 1)
local bound = ARGV[11] == '1' and redis.call('GET', KEYS[10])
local held, content = string.match(bound or '', '(%S+) (%S+)')
if held and held ~= id then
    if content ~= ARGV[12] then return {'conflict', '0', '0', held} end
    -- another version accepted it, for which equal content has another id
    local other = prefix .. held
    local ended = redis.call('HGET', other, 'outcome')
    local lasts = redis.call('EXISTS', other) == 1 and (not ended or ended == 'succeeded')
    if lasts then return {'known', '0', '0', held} end
end
local outcome = redis.call('HGET', KEYS[1], 'outcome')
local verdict = 'known'
if redis.call('EXISTS', KEYS[1]) == 0 or outcome == 'failed' or outcome == 'cancelled' then
    local seconds, bytes = 0, 0
    for _, held in ipairs(redis.call('HVALS', KEYS[8])) do
        local s, b = string.match(held, '(%S+) (%S+)')
        seconds, bytes = seconds + tonumber(s), bytes + tonumber(b)
    end
    local load = {tostring(seconds), tostring(bytes), id}
    if redis.call('HLEN', KEYS[8]) >= tonumber(ARGV[4]) then return {'many', unpack(load)} end
    if seconds + tonumber(ARGV[7]) > tonumber(ARGV[5]) then return {'seconds', unpack(load)} end
    if bytes + tonumber(ARGV[8]) > tonumber(ARGV[6]) then return {'bytes', unpack(load)} end
    local left = tonumber(ARGV[14])
    for _, other in ipairs(redis.call('SMEMBERS', KEYS[7])) do
        left = left - (redis.call('HGET', prefix .. other, 'promised') or 0)
    end
    if tonumber(ARGV[8]) > left then return {'full', '0', tostring(left), id} end
    local place = redis.call('HGET', KEYS[1], 'place')
    if place then redis.call('ZREM', KEYS[9], place) end
    local before = redis.call('HMGET', KEYS[1], unpack(PARTS))
    weigh(KEYS[12], KEYS[1])
    redis.call('DEL', KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5])
    local last = 14 + tonumber(ARGV[13])
    put(KEYS[1], 15, last)
    for i, part in ipairs(PARTS) do
        if before[i] then redis.call('HSETNX', KEYS[1], part, before[i]) end
    end
    put(KEYS[2], last + 1, #ARGV)
    local more = math.max(0, (redis.call('HGET', KEYS[1], 'expires') or 0) - expiry)
    expiry = string.format('%.0f', expiry + more)
    redis.call('HSET', KEYS[1], 'expiry', expiry)
    redis.call('PEXPIREAT', KEYS[1], expiry)
    redis.call('PEXPIREAT', KEYS[2], expiry)
    redis.call('SET', KEYS[6], ARGV[10], 'PXAT', string.format('%.0f', ARGV[3] + more))
    redis.call('SADD', KEYS[7], id)
    redis.call('HSET', KEYS[8], id, ARGV[7] .. ' ' .. ARGV[8])
    redis.call('ZADD', KEYS[9], 0, ARGV[9])
    for _, name in ipairs({KEYS[8], KEYS[9]}) do  -- which others last as long as
        outlast(name, expiry)
    end
    weigh(KEYS[12], KEYS[1], KEYS[2])
    hold(KEYS[12], ARGV[10], ARGV[3], TOMBSTONE)
    verdict = 'created'
end
local meant = table.concat({id, ARGV[12], ARGV[10]}, ' ')
if ARGV[11] == '1' then
    redis.call('SET', KEYS[10], meant, 'PXAT', ARGV[2])
    if not bound then hold(KEYS[12], ARGV[10], ARGV[2], TOMBSTONE) end
end
local told = {verdict, '0', '0', id}
if verdict == 'created' then
    for _, written in ipairs(redis.call('HMGET', KEYS[1], unpack(WRITTEN))) do
        told[#told + 1] = written
    end
end
if verdict == 'created' and #KEYS > 12 then
    local found = 0
    for i = 13, #KEYS do
        local there = redis.call('EXISTS', KEYS[i])
        found, told[#told + 1] = found + there, there
    end
    redis.call('HINCRBY', KEYS[11], 'hit', found)
    redis.call('HINCRBY', KEYS[11], 'miss', #KEYS - 12 - found)
end
return told
"""
)

# KEYS: question, tombstone
# ARGV: time
# Notes that a question is worked on; returns whether it is unfinished, its request and its caller.
START = """
local known, outcome = unpack(redis.call('HMGET', KEYS[1], 'caller', 'outcome'))
local unfinished = known and not outcome
if unfinished then redis.call('HSETNX', KEYS[1], 'started', ARGV[1]) end
local request = redis.call('HGET', KEYS[1], 'request') or ''
return {unfinished and 1 or 0, request, redis.call('GET', KEYS[2]) or ''}
"""

# KEYS: question, blocks
# ARGV: block, its bytes
# Returns which blocks exist after this one was added. Nothing is added to a question that is
# finished or gone.
ADD_BLOCK = """
local expiry = redis.call('HGET', KEYS[1], 'expiry')
if expiry and redis.call('HEXISTS', KEYS[1], 'outcome') == 0 then
    redis.call('HSETNX', KEYS[2], ARGV[1], ARGV[2])
    redis.call('PEXPIREAT', KEYS[2], expiry)
end
return redis.call('HKEYS', KEYS[2])
"""

# KEYS: question, contents, blocks, attempts, report, pending, pending of the caller, webhooks of
#       the caller, messages that are due, what the keys of a webhook and of its messages begin
#       with, bytes of the caller
# ARGV: id, outcome, error, report, channel, progress, version, names of pictures, problem, event
#       and message
# The first outcome stays; returns whether it was this one. A success keeps its contents, for the
# distributions that may be asked for; a failure, for an operator who lets it run again.
COMMIT = (
    ANNOUNCE
    + """
local expiry = redis.call('HGET', KEYS[1], 'expiry')
if not expiry or redis.call('HEXISTS', KEYS[1], 'outcome') == 1 then return 0 end
redis.call('DEL', KEYS[3], KEYS[4])  -- first: a server without memory lets go on who began so
redis.call('HSET', KEYS[1], 'outcome', ARGV[2])
redis.call('HSET', KEYS[1], 'progress', ARGV[6], 'computed_with', ARGV[7], 'pictures', ARGV[8])
if ARGV[2] == 'succeeded' then
    redis.call('SET', KEYS[5], ARGV[4], 'PXAT', expiry)
else
    redis.call('HSET', KEYS[1], 'error', ARGV[3], 'problem', ARGV[9])
    if ARGV[2] == 'cancelled' then redis.call('DEL', KEYS[2]) end
end
redis.call('SREM', KEYS[6], ARGV[1])
redis.call('HDEL', KEYS[7], ARGV[1])
redis.call('PUBLISH', ARGV[5], ARGV[2])
weigh(KEYS[12], KEYS[1], KEYS[2], KEYS[5])
announce(KEYS[8], KEYS[9], KEYS[10], KEYS[11], KEYS[12], 10)
return 1
"""
)


@dataclass(frozen=True)
class Verdict:
    """Whether a question was stored.

    Attributes:
        word: See `QuestionStore.accept`.
        id: Of the question; another one's where the idempotency key stands for that.
        seconds: Predicted for what its caller has pending.
        bytes: The same of the store.
        size: Bytes predicted for the question.
        stored: The question, where it was created.
        measured: Keys of its statistics that are cached, where it was created.
    """

    word: str
    id: str
    seconds: float
    bytes: float
    size: int
    stored: records.Record | None = None
    measured: frozenset[str] = frozenset()


class QuestionStore(Shelf[records.Record]):
    """Reads and writes questions. Raises what redis raises."""

    kind, noun, listed, busy = "question", "question", "", keys.PENDING
    body = "report"

    def __init__(self, redis: Redis, settings: Settings) -> None:
        super().__init__(redis, settings)
        self._add_block = redis.register_script(ADD_BLOCK)
        self._create = redis.register_script(CREATE)
        self._commit = redis.register_script(COMMIT)
        self._start = redis.register_script(START)

    def cache(self, space: str) -> Cache:
        """What is cached in a space."""
        return Cache(self.redis, space, self.settings.cache)

    # questions

    def accept(
        self,
        question_id: str,
        kind: str,
        question: Question,
        cut: Cut,
        caller: str,
        idempotency_key: str | None,
        budget: int,
        left: float,
        notes: Noted,
    ) -> Verdict:
        """Store a question and count it as pending.

        Args:
            question_id: Where.
            kind: Path of its kind.
            question: What is asked.
            cut: How it is cut into pieces.
            caller: Who asks.
            idempotency_key: Stands for the question from now on.
            budget: Most predicted seconds of what the caller has pending.
            left: Bytes that the store has left for what is unfinished of all callers, and this.
            notes: What its caller writes on it.

        Returns:
            `created`; `known` where it exists and has not failed or been cancelled; `conflict`
            where the idempotency key stands for another one; `many` where the caller has too many
            pending, `seconds` or `bytes` where these are predicted to take too much, `full` where
            the store has not so much left.

        Raises:
            InputError: It would have expired already.
            BudgetError: It is to last, and the caller has too much that does.
        """
        now = time.time()
        contents = codec.pack_fields(question.contents())
        brought = sum(map(len, contents.values()))
        size = brought + cut.bytes
        expiry = int((now + self.settings.retention) * 1000)
        place = records.place_of(question_id, now)
        facts: dict[str, str | bytes] = {
            "caller": caller,
            "kind": kind,
            "created": repr(now),
            "expiry": str(expiry),
            "size": str(brought),
            "promised": str(cut.bytes),
            "place": place,
            "request": REQUEST.get(),
            "cut": codec.pack_json(vars(cut)),
            "about": json.dumps(asdict(question.about)),
            "accepted_with": MAKE,
            "outline": codec.pack_json(question.outline()),
            **records.fields_of(notes),
        }
        until = int(facts.get("expires", 0))
        name = keys.key("question", question_id)
        check_lasting(self.redis, self.settings, caller, until, size, name)
        listing = keys.of_caller("listing", caller, kind)
        names = [
            *(keys.key(part, question_id) for part in (*keys.OF_QUESTION, "gone")),
            keys.PENDING,
            keys.of_caller("pending", caller),
            listing,
            keys.key("idempotency", hashed(caller, idempotency_key or "")),
            keys.TALLIES_CACHE,
            keys.of_caller("bytes", caller),
            *(keys.cached(keys.space_of(caller), name) for name in cut.distinct_keys),
        ]
        options: list[str | int] = [
            question_id,
            expiry,
            expiry + self.settings.remembrance * 1000,
            self.settings.pending,
            budget,
            self.settings.room,
            repr(question.seconds),
            size,
            place,
            caller,
            int(idempotency_key is not None),
            keys.question_digest(caller, kind, {**contents, "outline": facts["outline"]}),
            2 * len(facts),
            int(min(left, 2**53)),  # scripts of the store have no larger whole numbers
        ]
        told = self._create(names, [*options, *chain(*facts.items(), *contents.items())])
        records.shorten(self.redis, listing, "question")
        word, seconds, held, known = map(decoded, told[:4])
        stored = None
        written = dict(zip(WRITTEN, told[4:], strict=False))
        if word == "created":
            stored = records.stored_of(known, {**facts, **written})
        measured = frozenset(compress(cut.distinct_keys, told[4 + len(WRITTEN) :]))
        return Verdict(word, known, float(seconds), float(held), size, stored, measured)

    def gone(self, name: str) -> GoneError:
        """The error for a question that was there."""
        return gone(name)

    def stored(self, name: str, how_far: bool = True) -> records.Record | None:
        """A question, unless it expired, was deleted or never was.

        Args:
            name: Its id.
            how_far: Whether to look which pieces of an unfinished one exist; its progress is
                NOTHING_SEEN otherwise.
        """
        stored, _ = self._facts(name)
        if stored is not None and how_far and not stored.status.finished:
            with suppress(GoneError):
                return replace(stored, progress=self.pieces(name).progress)
        return stored

    def with_report(self, question_id: str) -> tuple[records.Record | None, bytes | None]:
        """A question, not how far it is, and its canonical JSON where it is finished."""
        with self.redis.pipeline(transaction=False) as pipe:
            pipe.hmget(keys.key("question", question_id), records.SHOWN)
            pipe.get(keys.key("report", question_id))
            found, data = pipe.execute()
        stored = records.stored_of(question_id, dict(zip(records.SHOWN, found, strict=True)))
        return stored, None if data is None else codec.unpack_bytes(data)

    def read(self, question_id: str) -> tuple[records.Record, dict[str, Any]]:
        """A question, not how far it is, and what is known of it without its contents.

        Raises:
            GoneError: It expired or was deleted.
        """
        stored, (outline,) = self._facts(question_id, "outline")
        if stored is None:
            raise gone(question_id)
        return stored, codec.unpack_json(outline)

    def _facts(self, question_id: str, *more: str) -> tuple[records.Record | None, list[Any]]:
        """A question, not how far it is, unless it is gone; and further fields."""
        found = self.redis.hmget(keys.key("question", question_id), (*records.SHOWN, *more))
        held = dict(zip(records.SHOWN, found, strict=False))
        return records.stored_of(question_id, held), found[len(records.SHOWN) :]

    def start(self, name: str) -> tuple[bool, str, str | None]:
        """Note that a worker works for a question or test set.

        Returns:
            Whether it is a question without an outcome; id of the request that it came with, empty
            where there is none; and whose it is or was, nothing where that is not known any more.
        """
        names = [keys.key("question", name), keys.key("gone", name)]
        unfinished, request, caller = self._start(names, [repr(time.time())])
        return bool(unfinished), decoded(request), decoded(caller) or None

    def drop_pending(self, question_id: str) -> None:
        """Stop caring for a question that expired before it was finished."""
        caller = self.redis.get(keys.key("gone", question_id))
        with self.redis.pipeline() as pipe:
            pipe.srem(keys.PENDING, question_id)
            if caller is not None:
                pipe.hdel(keys.of_caller("pending", decoded(caller)), question_id)
            pipe.execute()

    def commit(
        self,
        question_id: str,
        outcome: records.Status,
        error: str = "",
        report: bytes = b"",
        pictures: Sequence[str] = (),
        problem: Mapping[str, Any] = NO_PROBLEM,
    ) -> bool:
        """Give a question its outcome, unless it has one; with the report where it succeeded.

        The progress of one that failed or was cancelled stays where it was.

        Args:
            question_id: The question.
            outcome: How it ended.
            error: Why it failed.
            report: Canonical JSON.
            pictures: Names of those that can be drawn of the report.
            problem: The same for programs; see `problem_of`.
        """
        stored = self.stored(question_id, how_far=outcome is not records.Status.SUCCEEDED)
        if stored is None:
            return False
        progress = records.Progress("report", 1, 1)
        if outcome is not records.Status.SUCCEEDED:
            progress = stored.progress
        names = [
            *(keys.key(part, question_id) for part in keys.OF_QUESTION),
            keys.PENDING,
            keys.of_caller("pending", stored.caller),
            *announcing(stored.caller),
        ]
        packed = codec.pack_bytes(report)
        channel = keys.key("news", question_id)
        told = json.dumps(vars(progress))
        facts = [question_id, outcome.value, error, packed, channel, told, __version__]
        facts += [json.dumps(pictures), json.dumps(dict(problem))]
        about = {"kind": stored.kind, "id": question_id, "status": outcome.value}
        if outcome is records.Status.FAILED:
            about |= {"error": error, "type": problem["type"]}
        event = f"question.{outcome.value}"
        message = Message.of(event, {**about, **vars(stored.envelope)})
        facts += [event, message.id, message.body]
        done = bool(self._commit(names, facts))
        if done and outcome is records.Status.CANCELLED:  # whose texts are deleted
            with suppress(OutOfMemoryError):
                self.redis.set(keys.ERASE, 1)
        return done

    def unfinished(self, question_id: str) -> bool:
        """Whether the question exists and has no outcome."""
        return bool(self.redis.sismember(keys.PENDING, question_id))

    def packed(self, question_id: str, fields: Sequence[str]) -> list[bytes]:
        """Some of what was brought, as it is stored.

        Raises:
            GoneError: It was deleted with the question.
        """
        found = self.redis.hmget(keys.key("contents", question_id), fields)
        if None in found:
            raise gone(question_id)
        return cast("list[bytes]", found)

    def contents(self, question_id: str) -> dict[str, Any]:
        """Everything that was brought; raises as `packed` does."""
        packed = self.redis.hgetall(keys.key("contents", question_id))
        if not packed:
            raise gone(question_id)
        return {decoded(field): codec.unpack_json(data) for field, data in packed.items()}

    def revive(self, question_id: str, caller: str) -> bool:
        """Let a question that failed or is unfinished start as if never tried; whether it may.

        One that was cancelled has no contents, and one that succeeded needs no other start.
        """
        question, contents = (keys.key(part, question_id) for part in ("question", "contents"))
        packed = self.redis.hget(question, "cut")
        if packed is None:
            return False
        cut = Cut.from_json(codec.unpack_json(packed))
        sizes = (self.redis.hstrlen(contents, field) for field in self.redis.hkeys(contents))
        load = f"{cut.measuring + cut.computing!r} {sum(map(int, sizes)) + cut.bytes}"

        def write(pipe: Any) -> bool:
            outcome, expiry = pipe.hmget(question, ["outcome", "expiry"])
            may = bool(pipe.exists(contents)) and outcome in (None, b"failed")
            pending = keys.of_caller("pending", caller)
            lasting = pipe.exists(pending)
            pipe.multi()
            if may:
                pipe.delete(keys.key("attempts", question_id))
            if may and outcome is not None:
                pipe.hdel(
                    question, "outcome", "progress", "error", "problem", "computed_with", "started"
                )
                pipe.sadd(keys.PENDING, question_id)
                pipe.hset(pending, question_id, load)
                if not lasting:
                    pipe.pexpireat(pending, int(expiry))
                records.delete_first(pipe)
            return may

        transaction: Any = self.redis.transaction
        return bool(transaction(write, question, value_from_callable=True))

    # pieces

    def died(self, owner: str, task: str) -> int:
        """Count a worker that died with a task; how many did."""
        name = keys.key("attempts", owner)
        with self.redis.pipeline() as pipe:
            pipe.hincrby(name, task, 1)
            pipe.expire(name, self.settings.retention)
            return int(pipe.execute()[0])

    def pieces(self, question_id: str, measured: frozenset[str] = frozenset()) -> Pieces:
        """Which pieces of a question exist.

        Args:
            question_id: The question.
            measured: Keys of statistics that are known to exist.

        Raises:
            GoneError: It expired or was deleted.
        """
        name = keys.key("question", question_id)
        fields = ["cut", "caller", "testset", "accepted_with", "outline"]
        with self.redis.pipeline(transaction=False) as pipe:
            pipe.hmget(name, fields)
            pipe.hkeys(keys.key("blocks", question_id))
            (packed, caller, testset, make, outline), names = pipe.execute()
        if packed is None or caller is None:
            raise gone(question_id)
        cut = Cut.from_json(codec.unpack_json(packed))
        if cut.resamples and decoded(make or b"") != MAKE:
            # another make calls statistics by other names
            plan = Plan.of(codec.unpack_json(outline))
            cut = replace(cut, keys=statistics_keys(plan))
        cache = self.cache(decoded(testset or b"") or keys.space_of(decoded(caller)))
        others = [key for key in cut.distinct_keys if key not in measured]
        return Pieces(cut, measured | cache.existing(others), blocks_named(names))

    def place(self, question_id: str, caller: str) -> records.Place | None:
        """Where a question stands among its caller's, unless it has ended."""
        held = cast("Mapping[bytes, bytes]", self.redis.hgetall(keys.of_caller("pending", caller)))
        predicted = {decoded(name): float(said.split()[0]) for name, said in held.items()}
        own = predicted.get(question_id)
        if own is None:
            return None
        smaller = [seconds for seconds in predicted.values() if seconds < own]
        return records.Place(own, len(smaller), sum(smaller))

    def add_blocks(self, question_id: str, drawn: Sequence[Any]) -> frozenset[Run]:
        """Keep what a run of resamples gave; which runs exist afterwards."""
        name = block_name((drawn[0].start, drawn[0].stop))
        names = [keys.key("question", question_id), keys.key("blocks", question_id)]
        return blocks_named(self._add_block(names, [name, codec.pack_blocks(drawn)]))

    def blocks(self, question_id: str, runs: Sequence[Run]) -> list[Any]:
        """What these runs of resamples gave, as far as it exists."""
        found = []
        for start, stop in runs:
            data = self.redis.hget(keys.key("blocks", question_id), block_name((start, stop)))
            if data is not None:
                found.append(codec.unpack_blocks(start, stop, data))
        return found
