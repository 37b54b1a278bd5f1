"""A question from acceptance to outcome."""

from sigtest.requests.notes import PARTS
from workers.store.scripts.parts import ANNOUNCE, PUT_FIELDS, SHORTEN

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
