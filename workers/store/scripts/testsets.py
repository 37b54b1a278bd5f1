"""A test set, its systems, and which comparison it shows."""

from workers.store.scripts.parts import ANNOUNCE, SHORTEN

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
SETTLE = (
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
