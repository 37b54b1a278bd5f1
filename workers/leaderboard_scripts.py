"""Changes to test sets that must happen whole or not at all, as Lua that the server runs undivided.

Every script takes the keys of one test set in the order that the first lines of
_COMMON name them, and its id as ARGV[1].
"""

_COMMON = """
local record, text, systems, outputs, measured, rows = unpack(KEYS, 1, 6)
local failures, attempts, views, gone, joining, used, sizes, bytes = unpack(KEYS, 7, 14)
local distributions = KEYS[15]
local id = ARGV[1]

local function totals(digest)
    local resamples = redis.call('HGET', record, 'resamples')
    return 'sigtest:totals:' .. id .. ':' .. resamples .. ':' .. digest
end

local function drop(key)
    local size = redis.call('HGET', sizes, key)
    if size then
        redis.call('HDEL', sizes, key)
        redis.call('ZREM', used, key)
        redis.call('DECRBY', bytes, size)
    end
    redis.call('DEL', key)
end

-- something else than a system joining: what was shown is no longer true
local function turn_over()
    redis.call('HINCRBY', record, 'revision', 1)
    redis.call('HINCRBY', record, 'era', 1)
    redis.call('DEL', views, distributions)
end

local function settle()
    local all = redis.call('HGETALL', systems)
    for i = 1, #all, 2 do
        if redis.call('SISMEMBER', measured, all[i]) == 0
            and redis.call('HEXISTS', failures, all[i + 1]) == 0 then
            redis.call('SADD', joining, id)
            return false
        end
    end
    redis.call('SREM', joining, id)
    return true
end

local function live_until(expiry, remembered)
    redis.call('HSET', record, 'expiry', expiry)
    for i = 1, 9 do redis.call('PEXPIREAT', KEYS[i], expiry) end
    redis.call('SET', gone, redis.call('HGET', record, 'caller'), 'PXAT', remembered)
end

-- forget a system; its digest where no other system has the same content
local function forget(name)
    local digest = redis.call('HGET', systems, name)
    redis.call('HDEL', systems, name)
    redis.call('SREM', measured, name)
    turn_over()
    local others = redis.call('HVALS', systems)
    local same = 0
    for _, other in ipairs(others) do
        if other == digest then same = same + 1 end
    end
    if same == 1 then redis.call('HDEL', rows, digest .. digest) end -- no equal pair any longer
    if same > 0 then return '' end
    redis.call('HDEL', outputs, digest)
    redis.call('HDEL', failures, digest)
    redis.call('HDEL', attempts, digest)
    drop(totals(digest))
    redis.call('HDEL', rows, digest, digest .. digest)
    for _, other in ipairs(others) do
        redis.call('HDEL', rows, digest .. other, other .. digest)
    end
    return digest
end
"""

# ARGV: id, expiry, end of the tombstone, listing, place, text, fields and values of the record
CREATE = (
    _COMMON
    + """
local verdict = 'known'
if redis.call('EXISTS', record) == 0 then
    redis.call('HSET', record, unpack(ARGV, 7))
    redis.call('SET', text, ARGV[6])
    redis.call('ZADD', ARGV[4], 0, ARGV[5])
    verdict = 'created'
end
live_until(ARGV[2], ARGV[3])
redis.call('PEXPIREAT', ARGV[4], ARGV[3])
return verdict
"""
)

# ARGV: id, expiry, end of the tombstone, name, digest, output, 1 to replace, most systems
# Returns a verdict, and the digest that nobody has any longer.
PUT = (
    _COMMON
    + """
if redis.call('EXISTS', record) == 0 then return {'gone', ''} end
local name, digest = ARGV[4], ARGV[5]
local held = redis.call('HGET', systems, name)
if held and held ~= digest and ARGV[7] ~= '1' then return {'taken', ''} end
if not held and redis.call('HLEN', systems) >= tonumber(ARGV[8]) then return {'full', ''} end
local verdict, unused = 'known', ''
if held == digest then
    if redis.call('HDEL', failures, digest) == 1 then
        redis.call('HDEL', attempts, digest)
        verdict = 'again'
    end
else
    if held then unused = forget(name) end
    verdict = held and 'replaced' or 'created'
    redis.call('HSET', systems, name, digest)
    redis.call('HSET', outputs, digest, ARGV[6])
end
live_until(ARGV[2], ARGV[3])
settle()
return {verdict, unused}
"""
)

# ARGV: id, expiry, end of the tombstone, name
# Returns whether it was there, and the digest that nobody has any longer.
REMOVE = (
    _COMMON
    + """
if redis.call('HEXISTS', systems, ARGV[4]) == 0 then return {'absent', ''} end
local unused = forget(ARGV[4])
live_until(ARGV[2], ARGV[3])
settle()
return {'removed', unused}
"""
)

# ARGV: id, expiry, end of the tombstone, resamples
RAISE = (
    _COMMON
    + """
if redis.call('EXISTS', record) == 0 then return 'gone' end
local now, asked = tonumber(redis.call('HGET', record, 'resamples')), tonumber(ARGV[4])
if asked < now then return 'fewer' end
live_until(ARGV[2], ARGV[3])
if asked == now then return 'same' end
for _, digest in ipairs(redis.call('HVALS', systems)) do drop(totals(digest)) end
redis.call('HSET', record, 'resamples', ARGV[4])
redis.call('DEL', measured, rows, failures, attempts)
turn_over()
settle()
return 'raised'
"""
)

# ARGV: id, listing, caller, end of the tombstone
DELETE = (
    _COMMON
    + """
local place = redis.call('HGET', record, 'place')
if not place then return 0 end
for _, digest in ipairs(redis.call('HVALS', systems)) do drop(totals(digest)) end
redis.call('ZREM', ARGV[2], place)
for i = 1, 9 do redis.call('DEL', KEYS[i]) end
redis.call('DEL', distributions)
redis.call('SREM', joining, id)
redis.call('SET', gone, ARGV[3], 'PXAT', ARGV[4])
return 1
"""
)

# ARGV: id, digest
# Returns how often joining was started, 0 where nobody has this content or all are measured.
BEGIN = (
    _COMMON
    + """
local all = redis.call('HGETALL', systems)
for i = 1, #all, 2 do
    if all[i + 1] == ARGV[2] and redis.call('SISMEMBER', measured, all[i]) == 0 then
        if redis.call('HEXISTS', failures, ARGV[2]) == 1 then return 0 end
        local attempt = redis.call('HINCRBY', attempts, ARGV[2], 1)
        redis.call('PEXPIREAT', attempts, redis.call('HGET', record, 'expiry'))
        return attempt
    end
end
return 0
"""
)

# ARGV: id, resamples, digest, time, most bytes, bytes of these totals, their parts and bytes
# Totals that were not used for the longest time go where there are too many of all test sets.
KEEP = (
    _COMMON
    + """
if redis.call('HGET', record, 'resamples') ~= ARGV[2] then return 0 end
if redis.call('HEXISTS', outputs, ARGV[3]) == 0 then return 0 end
local key = totals(ARGV[3])
drop(key)
redis.call('HSET', key, unpack(ARGV, 7))
redis.call('PEXPIREAT', key, redis.call('HGET', record, 'expiry'))
redis.call('ZADD', used, ARGV[4], key)
redis.call('HSET', sizes, key, ARGV[6])
local sum = redis.call('INCRBY', bytes, ARGV[6])
while sum > tonumber(ARGV[5]) do
    local oldest = redis.call('ZRANGE', used, 0, 0)[1]
    if not oldest then break end
    drop(oldest)
    sum = tonumber(redis.call('GET', bytes))
end
return 1
"""
)

# ARGV: id, resamples, name, digest, row of the system, number of others, and of each other its
# name, digest, and field and row of the pair, both empty where the row exists already
# The system counts as measured if the others are all who do. Returns `more` if they are not, `last`
# where nobody else is to be measured and the caller puts the leaderboard together.
JOIN = (
    _COMMON
    + """
local name, digest = ARGV[3], ARGV[4]
if redis.call('HGET', record, 'resamples') ~= ARGV[2]
    or redis.call('HGET', systems, name) ~= digest then return 'stale' end
redis.call('HSET', rows, digest, ARGV[5])
local compared = {}
for i = 7, 6 + 4 * tonumber(ARGV[6]), 4 do
    if redis.call('HGET', systems, ARGV[i]) == ARGV[i + 1] then
        compared[ARGV[i]] = true
        if ARGV[i + 2] ~= '' then redis.call('HSET', rows, ARGV[i + 2], ARGV[i + 3]) end
    end
end
redis.call('PEXPIREAT', rows, redis.call('HGET', record, 'expiry'))
for _, other in ipairs(redis.call('SMEMBERS', measured)) do
    if other ~= name and not compared[other] then return 'more' end
end
if redis.call('SADD', measured, name) == 1 then
    redis.call('HINCRBY', record, 'revision', 1)
    redis.call('PEXPIREAT', measured, redis.call('HGET', record, 'expiry'))
end
redis.call('HDEL', attempts, digest)
if not settle() then return 'joined' end
redis.call('HSET', record, 'showing', redis.call('HGET', record, 'revision'))
return 'last'
"""
)

# ARGV: id, digest, message
FAIL = (
    _COMMON
    + """
if redis.call('HEXISTS', outputs, ARGV[2]) == 0 then return 0 end
redis.call('HSET', failures, ARGV[2], ARGV[3])
redis.call('PEXPIREAT', failures, redis.call('HGET', record, 'expiry'))
settle()
return 1
"""
)

# ARGV: id, era, field, view, most views
ADD_VIEW = (
    _COMMON
    + """
if redis.call('HGET', record, 'era') ~= ARGV[2] then return 0 end
if redis.call('HLEN', views) >= tonumber(ARGV[5]) then redis.call('DEL', views) end
redis.call('HSET', views, ARGV[3], ARGV[4])
redis.call('PEXPIREAT', views, redis.call('HGET', record, 'expiry'))
return 1
"""
)

# ARGV: id, era, field, values, most of them, seconds after which all are forgotten
ADD_VALUES = (
    _COMMON
    + """
if redis.call('HGET', record, 'era') ~= ARGV[2] then return 0 end
if redis.call('HLEN', distributions) >= tonumber(ARGV[5]) then
    redis.call('DEL', distributions)
end
redis.call('HSET', distributions, ARGV[3], ARGV[4])
redis.call('EXPIRE', distributions, ARGV[6])
return 1
"""
)
