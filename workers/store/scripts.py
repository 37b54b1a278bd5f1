"""What the store does undivided: scripts in Lua, and what several of them begin with."""

from sigtest.requests.notes import PARTS

PUT_FIELDS = """
local CHUNK = 4000
local function put(key, first, last)
    for i = first, last, CHUNK do
        redis.call('HSET', key, unpack(ARGV, i, math.min(i + CHUNK - 1, last)))
    end
end
"""

# Seconds since the epoch by the clock of the store: those of machines may differ.
NOW = """
local function now()
    local time = redis.call('TIME')
    return time[1] + time[2] / 1e6
end
"""

# What is gone leaves a listing when it is looked at, and when anything is added: of some places at
# random, so that no more than about half of them are of what is gone, whether anybody looks or not.
SHORTEN = """
local function shorten(listing, first)
    for _, place in ipairs(redis.call('ZRANDMEMBER', listing, 2)) do
        if redis.call('EXISTS', first .. string.sub(place, 17)) == 0 then
            redis.call('ZREM', listing, place)
        end
    end
end
"""

# Messages that wait for one webhook; beyond, it counts what it is not told.
MESSAGES = "local MOST = 10000"

# An event becomes a message to each webhook of its caller that is told of it, undivided with what
# happened. ARGV from `at`: event, id of the message, body.
ANNOUNCE = (
    NOW
    + MESSAGES
    + """
local function announce(webhooks, due, record, deliveries, at)
    local event, message, body = unpack(ARGV, at, at + 2)
    for _, id in ipairs(redis.call('SMEMBERS', webhooks)) do
        local events = ' ' .. (redis.call('HGET', record .. id, 'events') or '') .. ' '
        if string.find(events, ' ' .. event .. ' ', 1, true) then
            if redis.call('HLEN', deliveries .. id) < MOST then
                redis.call('HSET', deliveries .. id, message, body)
                redis.call('ZADD', due, now(), id .. ' ' .. message)
            else
                redis.call('HINCRBY', record .. id, 'dropped', 1)
            end
        end
    end
end
"""
)


# KEYS: question, contents, blocks, attempts, report, tombstone, pending, pending of the caller,
#       listing, idempotency, tallies of caches, each of the statistics where it would be cached
# ARGV: id, expiry, end of the tombstone (both in ms), most pending of a caller, most predicted
#       seconds and bytes of a caller, predicted seconds and bytes, place in the listing, caller, 1
#       with an idempotency key, hash of what is asked, number of fields of the question times two,
#       bytes that the store has left, these and their values, then those of the contents. What the
#       caller has pending is held as seconds and bytes; what an idempotency key stands for, as id,
#       hash and caller.
# Returns the verdict, seconds and bytes of what the caller has pending where it is too much, the
# id of the question that the key stands for, or this one's, and where it was created each part of
# its envelope, then of each of the statistics whether it is cached, which is counted.
CREATE = (
    PUT_FIELDS
    + SHORTEN
    + f"local PARTS = {{{', '.join(map(repr, PARTS))}}}"
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
    redis.call('DEL', KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5])
    local last = 14 + tonumber(ARGV[13])
    put(KEYS[1], 15, last)
    for i, part in ipairs(PARTS) do
        if before[i] then redis.call('HSETNX', KEYS[1], part, before[i]) end
    end
    put(KEYS[2], last + 1, #ARGV)
    redis.call('PEXPIREAT', KEYS[1], expiry)
    redis.call('PEXPIREAT', KEYS[2], expiry)
    redis.call('SET', KEYS[6], ARGV[10], 'PXAT', ARGV[3])
    redis.call('SADD', KEYS[7], id)
    redis.call('HSET', KEYS[8], id, ARGV[7] .. ' ' .. ARGV[8])
    redis.call('PEXPIREAT', KEYS[8], expiry)
    redis.call('ZADD', KEYS[9], 0, ARGV[9])
    shorten(KEYS[9], string.sub(KEYS[1], 1, -#id - 1))
    redis.call('PEXPIREAT', KEYS[9], expiry)
    verdict = 'created'
end
local meant = table.concat({id, ARGV[12], ARGV[10]}, ' ')
if ARGV[11] == '1' then redis.call('SET', KEYS[10], meant, 'PXAT', expiry) end
local told = {verdict, '0', '0', id}
if verdict == 'created' then
    for _, written in ipairs(redis.call('HMGET', KEYS[1], unpack(PARTS))) do
        told[#told + 1] = written
    end
end
if verdict == 'created' and #KEYS > 11 then
    local found = 0
    for i = 12, #KEYS do
        local there = redis.call('EXISTS', KEYS[i])
        found, told[#told + 1] = found + there, there
    end
    redis.call('HINCRBY', KEYS[11], 'hit', found)
    redis.call('HINCRBY', KEYS[11], 'miss', #KEYS - 11 - found)
end
return told
"""
)

# KEYS: question, attempts
# ARGV: task, time
# Returns how often the task was started, 0 where its question is finished or gone.
BEGIN = """
local expiry = redis.call('HGET', KEYS[1], 'expiry')
if not expiry or redis.call('HEXISTS', KEYS[1], 'outcome') == 1 then return 0 end
redis.call('HSETNX', KEYS[1], 'started', ARGV[2])
local attempt = redis.call('HINCRBY', KEYS[2], ARGV[1], 1)
redis.call('PEXPIREAT', KEYS[2], expiry)
return attempt
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
#       the caller, messages that are due, what the keys of a webhook and of its messages begin with
# ARGV: id, outcome, error, report, channel, progress, version, names of pictures, event and message
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
    redis.call('HSET', KEYS[1], 'error', ARGV[3])
    if ARGV[2] == 'cancelled' then redis.call('DEL', KEYS[2]) end
end
redis.call('SREM', KEYS[6], ARGV[1])
redis.call('HDEL', KEYS[7], ARGV[1])
redis.call('PUBLISH', ARGV[5], ARGV[2])
announce(KEYS[8], KEYS[9], KEYS[10], KEYS[11], 9)
return 1
"""
)

# KEYS: question, contents, attempts, pending, pending of the caller
# ARGV: id, predicted seconds and bytes
# Lets what failed run again, and what is unfinished start as often again; returns whether it may.
REVIVE = """
local outcome = redis.call('HGET', KEYS[1], 'outcome')
if outcome and outcome ~= 'failed' or redis.call('EXISTS', KEYS[2]) == 0 then return 0 end
redis.call('DEL', KEYS[3])
if outcome then
    redis.call('HDEL', KEYS[1], 'outcome', 'progress', 'error', 'computed_with', 'started')
    redis.call('SADD', KEYS[4], ARGV[1])
    redis.call('HSET', KEYS[5], ARGV[1], ARGV[2])
    local expiry = redis.call('HGET', KEYS[1], 'expiry')
    if redis.call('PTTL', KEYS[5]) < 0 then redis.call('PEXPIREAT', KEYS[5], expiry) end
end
return 1
"""

# KEYS: question
# ARGV: what its public link is to hold, unless it has one; nothing to take the link back
# Returns what it holds then, nothing where there is no such question.
SHARE = """
if redis.call('EXISTS', KEYS[1]) == 0 then return false end
if ARGV[1] == '' then redis.call('HDEL', KEYS[1], 'link')
else redis.call('HSETNX', KEYS[1], 'link', ARGV[1]) end
return redis.call('HGET', KEYS[1], 'link') or ''
"""


_TESTSET = (
    SHORTEN
    + """
local record, text, systems, outputs, rows, failures, attempts, shown = unpack(KEYS, 1, 8)
local reports, left, claims, envelopes, gone, joining = unpack(KEYS, 9, 14)
local function live()  -- and stay listed as long
    local expiry, remembered, listing = unpack(ARGV, 2, 4)
    local caller, place = unpack(redis.call('HMGET', record, 'caller', 'place'))
    redis.call('HSET', record, 'expiry', expiry)
    for i = 1, 12 do redis.call('PEXPIREAT', KEYS[i], expiry) end
    redis.call('ZADD', listing, 0, place)
    shorten(listing, string.sub(record, 1, -#ARGV[1] - 1))
    redis.call('PEXPIREAT', listing, expiry)
    redis.call('SET', gone, caller, 'PXAT', remembered)
end
local function forget(digest)
    for _, other in ipairs(redis.call('HVALS', systems)) do
        if other == digest then return end
    end
    for _, key in ipairs({outputs, failures, attempts}) do redis.call('HDEL', key, digest) end
end
"""
)

# KEYS of the scripts below: those of OF_TESTSET, tombstone, joining
# ARGV: id, expiry, end of the tombstone, listing, text, fields and values of the record
CREATE_TESTSET = (
    _TESTSET
    + """
local verdict = 'known'
if redis.call('EXISTS', record) == 0 then
    redis.call('HSET', record, unpack(ARGV, 6))
    redis.call('SET', text, ARGV[5])
    verdict = 'created'
end
live()
return verdict
"""
)

# ARGV: id, expiry, end of the tombstone, listing, name, digest, output, 1 to replace, most systems,
#       then parts and values of its envelope
PUT = (
    _TESTSET
    + """
if redis.call('EXISTS', record) == 0 then return 'gone' end
local name, digest = ARGV[5], ARGV[6]
local held = redis.call('HGET', systems, name)
if held and held ~= digest and ARGV[8] ~= '1' then return 'taken' end
if not held and redis.call('HLEN', systems) >= tonumber(ARGV[9]) then return 'full' end
if held ~= digest then
    -- what comes back has its place still: its pairs never left the family
    if redis.call('SISMEMBER', left, digest .. ' ' .. name) == 0 then
        local taken = tonumber(redis.call('HGET', record, 'submissions') or 0)
        if taken >= tonumber(redis.call('HGET', record, 'capacity')) then return 'spent' end
        redis.call('HINCRBY', record, 'submissions', 1)
    end
    if held then redis.call('SADD', left, held .. ' ' .. name) end
end
local verdict = redis.call('HDEL', failures, digest) == 1 and 'again' or 'known'
if verdict == 'again' then redis.call('HDEL', attempts, digest) end
if held ~= digest then
    verdict = held and 'replaced' or 'created'
    redis.call('HSET', systems, name, digest)
    redis.call('HSET', outputs, digest, ARGV[7])
    if held then forget(held) end
end
if verdict ~= 'known' then redis.call('SADD', joining, ARGV[1]) end
for i = 10, #ARGV, 2 do redis.call('HSET', envelopes, ARGV[i] .. ' ' .. name, ARGV[i + 1]) end
live()
return verdict
"""
)

# ARGV: id, expiry, end of the tombstone, listing, name, parts of envelopes
REMOVE = (
    _TESTSET
    + """
local held = redis.call('HGET', systems, ARGV[5])
if not held then return 'absent' end
redis.call('HDEL', systems, ARGV[5])
for i = 6, #ARGV do redis.call('HDEL', envelopes, ARGV[i] .. ' ' .. ARGV[5]) end
redis.call('SADD', left, held .. ' ' .. ARGV[5])
forget(held)
redis.call('SADD', joining, ARGV[1])
live()
return 'removed'
"""
)

# ARGV: id, expiry, end of the tombstone, listing, resamples
RAISE = (
    _TESTSET
    + """
if redis.call('EXISTS', record) == 0 then return 'gone' end
local now, asked = tonumber(redis.call('HGET', record, 'resamples')), tonumber(ARGV[5])
if asked < now then return 'fewer' end
live()
if asked == now then return 'same' end
redis.call('HSET', record, 'resamples', ARGV[5])
redis.call('DEL', rows, failures, attempts)
redis.call('SADD', joining, ARGV[1])
return 'raised'
"""
)

# ARGV: id, digest
# Returns how often joining was started, 0 where no system has this content.
JOIN = (
    _TESTSET
    + """
if redis.call('HEXISTS', outputs, ARGV[2]) == 0 then return 0 end
if redis.call('HEXISTS', failures, ARGV[2]) == 1 then return 0 end
local attempt = redis.call('HINCRBY', attempts, ARGV[2], 1)
redis.call('PEXPIREAT', attempts, redis.call('HGET', record, 'expiry'))
return attempt
"""
)

# ARGV: id, expiry that was seen; empty to settle it however it is
# Nothing is left to do, unless the test set was changed since: each change moves its expiry.
SETTLE_TESTSET = (
    _TESTSET
    + """
if ARGV[2] ~= '' and redis.call('HGET', record, 'expiry') ~= ARGV[2] then return 0 end
redis.call('SREM', joining, ARGV[1])
redis.call('DEL', attempts)
return 1
"""
)

# KEYS: comparisons that a test set shows, all that were made for it, its record, webhooks of the
#       caller, messages that are due, what the keys of a webhook and of its messages begin with
# ARGV: choice, comparison, channel, 1 to announce it, event and message
# Notes which comparison is to be shown, and announces it where it is another one.
SHOW = (
    ANNOUNCE
    + """
local expiry = redis.call('HGET', KEYS[3], 'expiry')
if not expiry then return 0 end
local before = redis.call('HGET', KEYS[1], ARGV[1])
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('SADD', KEYS[2], ARGV[2])
redis.call('PEXPIREAT', KEYS[1], expiry)
redis.call('PEXPIREAT', KEYS[2], expiry)
redis.call('PUBLISH', ARGV[3], ARGV[2])
if ARGV[4] == '1' and before ~= ARGV[2] then
    announce(KEYS[4], KEYS[5], KEYS[6], KEYS[7], 5)
end
return 1
"""
)


_TOTALS = """
local function drop(key)
    local size = redis.call('HGET', KEYS[3], key)
    redis.call('DEL', key)
    if size then
        redis.call('HDEL', KEYS[3], key)
        redis.call('ZREM', KEYS[2], key)
        redis.call('DECRBY', KEYS[4], size)
    end
end
"""

# KEYS: totals, those used, their sizes, bytes of all
# ARGV: time, most bytes, bytes of these totals, expiry in ms, their parts and bytes
# Totals that were not used for the longest time go where there are too many of all test sets.
KEEP = (
    PUT_FIELDS
    + _TOTALS
    + """
drop(KEYS[1])
put(KEYS[1], 5, #ARGV)
redis.call('PEXPIREAT', KEYS[1], ARGV[4])
redis.call('ZADD', KEYS[2], ARGV[1], KEYS[1])
redis.call('HSET', KEYS[3], KEYS[1], ARGV[3])
local sum = redis.call('INCRBY', KEYS[4], ARGV[3])
while sum > tonumber(ARGV[2]) do
    local oldest = redis.call('ZRANGE', KEYS[2], 0, 0)[1]
    if not oldest then break end
    drop(oldest)
    sum = tonumber(redis.call('GET', KEYS[4]))
end
return 1
"""
)

# KEYS: some totals between those used, their sizes and bytes of all, at the places they have above
FORGET = (
    _TOTALS
    + """
drop(KEYS[1])
for i = 5, #KEYS do drop(KEYS[i]) end
return 1
"""
)


# KEYS: messages that are due
# ARGV: seconds after which those that are taken are due again, how many to take
TAKE_DUE = (
    NOW
    + """
local taken = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now(), 'LIMIT', 0, ARGV[2])
for _, entry in ipairs(taken) do redis.call('ZADD', KEYS[1], now() + ARGV[1], entry) end
return taken
"""
)

# KEYS: messages that are due, webhook, its messages
# ARGV: webhook and message, message, body
# Lets a message wait, unless its webhook was removed.
PUT_MESSAGE = (
    NOW
    + MESSAGES
    + """
if redis.call('EXISTS', KEYS[2]) == 0 then return 0 end
if redis.call('HLEN', KEYS[3]) >= MOST then return redis.call('HINCRBY', KEYS[2], 'dropped', 1) end
redis.call('HSET', KEYS[3], ARGV[2], ARGV[3])
redis.call('ZADD', KEYS[1], now(), ARGV[1])
return 1
"""
)

# KEYS: messages that are due, webhook, its messages, their attempts, webhooks of the caller
# ARGV: webhook
REMOVE_WEBHOOK = """
for _, message in ipairs(redis.call('HKEYS', KEYS[3])) do
    redis.call('ZREM', KEYS[1], ARGV[1] .. ' ' .. message)
end
redis.call('DEL', KEYS[2], KEYS[3], KEYS[4])
redis.call('SREM', KEYS[5], ARGV[1])
return 1
"""

# KEYS: messages that are due, webhook, its messages, their attempts
# ARGV: webhook and message, message, seconds in which no other worker sends it
# Returns its body, the number of the attempt, address and secret; nothing where it is delivered,
# gone, or being sent.
ATTEMPT = (
    NOW
    + """
local body = redis.call('HGET', KEYS[3], ARGV[2])
if not body then
    redis.call('ZREM', KEYS[1], ARGV[1])
    return false
end
local sent = redis.call('HGET', KEYS[4], ARGV[2] .. ' until')
if sent and tonumber(sent) > now() then return false end
local again = now() + ARGV[3]
redis.call('HSET', KEYS[4], ARGV[2] .. ' until', again)
redis.call('ZADD', KEYS[1], again, ARGV[1])
local number = redis.call('HINCRBY', KEYS[4], ARGV[2], 1)
local url, secret = unpack(redis.call('HMGET', KEYS[2], 'url', 'secret'))
return {body, number, url, secret}
"""
)

# KEYS: as of ATTEMPT
# ARGV: webhook and message, message, outcome, seconds until it is due again, seconds, error
SETTLE_MESSAGE = (
    NOW
    + """
if redis.call('EXISTS', KEYS[2]) == 0 then return 0 end
redis.call('HDEL', KEYS[4], ARGV[2] .. ' until')
if ARGV[3] == 'again' then
    redis.call('ZADD', KEYS[1], 'XX', now() + ARGV[4], ARGV[1])
else
    redis.call('ZREM', KEYS[1], ARGV[1])
    redis.call('HDEL', KEYS[3], ARGV[2])
    redis.call('HDEL', KEYS[4], ARGV[2])
    redis.call('HINCRBY', KEYS[2], ARGV[3], 1)
end
redis.call('HSET', KEYS[2], 'seconds', ARGV[5])
if ARGV[6] == '' then redis.call('HDEL', KEYS[2], 'error')
else redis.call('HSET', KEYS[2], 'error', ARGV[6]) end
return 1
"""
)


# KEYS: question, or test set
# ARGV: fields and values of its envelope
# Returns whether there is such a thing.
DESCRIBE = """
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
if #ARGV > 0 then redis.call('HSET', KEYS[1], unpack(ARGV)) end
return 1
"""
