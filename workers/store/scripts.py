"""Changes that must happen whole or not at all, as Lua that the server runs undivided.

The server's append-only file keeps the writes of one script together, so that a crash cannot leave
half of them behind. Fields and values come in JSON-free pairs, in chunks that Lua can unpack.
"""

_COMMON = """
local CHUNK = 4000
local function put(key, first, last)
    for i = first, last, CHUNK do
        redis.call('HSET', key, unpack(ARGV, i, math.min(i + CHUNK - 1, last)))
    end
end
"""

# KEYS: question, contents, blocks, attempts, report, tombstone, pending, pending of the caller,
#       listing, idempotency, tallies of caches, each of the statistics where it would be cached
# ARGV: id, expiry, end of the tombstone (both in ms), most pending of a caller, most predicted
#       seconds and bytes of a caller, predicted seconds and bytes, place in the listing, caller, 1
#       with an idempotency key, hash of what is asked, number of fields of the question times two,
#       these and their values, then those of the contents. What the caller has pending is held as
#       seconds and bytes; what an idempotency key stands for, as id and hash.
# Returns the verdict, seconds and bytes of what the caller has pending where it is too much, the
# id of the question that the key stands for, or this one's, and where it was created of each of the
# statistics whether it is cached, which is counted.
CREATE = (
    _COMMON
    + """
local id, expiry = ARGV[1], ARGV[2]
local bound = ARGV[11] == '1' and redis.call('GET', KEYS[10])
local held, content = string.match(bound or '', '(%S+) (%S+)')
if held and held ~= id then
    if content ~= ARGV[12] then return {'conflict', '0', '0', held} end
    -- another version accepted it, for which equal content has another id
    local other = string.sub(KEYS[1], 1, -#id - 1) .. held
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
    local place = redis.call('HGET', KEYS[1], 'place')
    if place then redis.call('ZREM', KEYS[9], place) end
    redis.call('DEL', KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5])
    local last = 13 + tonumber(ARGV[13])
    put(KEYS[1], 14, last)
    put(KEYS[2], last + 1, #ARGV)
    redis.call('PEXPIREAT', KEYS[1], expiry)
    redis.call('PEXPIREAT', KEYS[2], expiry)
    redis.call('SET', KEYS[6], ARGV[10], 'PXAT', ARGV[3])
    redis.call('SADD', KEYS[7], id)
    redis.call('HSET', KEYS[8], id, ARGV[7] .. ' ' .. ARGV[8])
    redis.call('PEXPIREAT', KEYS[8], expiry)
    redis.call('ZADD', KEYS[9], 0, ARGV[9])
    redis.call('PEXPIREAT', KEYS[9], expiry)
    verdict = 'created'
end
if ARGV[11] == '1' then redis.call('SET', KEYS[10], id .. ' ' .. ARGV[12], 'PXAT', expiry) end
local told = {verdict, '0', '0', id}
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

# An event becomes a message to each webhook of its caller that is told of it, undivided with what
# happened. ARGV from `at`: event, id of the message, body, time. Beyond MOST messages that wait, a
# webhook counts what it is not told.
_ANNOUNCE = """
local MOST = 10000
local function announce(webhooks, due, record, deliveries, at)
    local event, message, body, now = unpack(ARGV, at, at + 3)
    for _, id in ipairs(redis.call('SMEMBERS', webhooks)) do
        local events = ' ' .. (redis.call('HGET', record .. id, 'events') or '') .. ' '
        if string.find(events, ' ' .. event .. ' ', 1, true) then
            if redis.call('HLEN', deliveries .. id) < MOST then
                redis.call('HSET', deliveries .. id, message, body)
                redis.call('ZADD', due, now, id .. ' ' .. message)
            else
                redis.call('HINCRBY', record .. id, 'dropped', 1)
            end
        end
    end
end
"""

# KEYS: question, contents, blocks, attempts, report, pending, pending of the caller, webhooks of
#       the caller, messages that are due, what the keys of a webhook and of its messages begin with
# ARGV: id, outcome, error, report, channel, progress, version, names of pictures, event and message
# The first outcome stays; returns whether it was this one. A success keeps its contents, for the
# distributions that may be asked for; a failure, for an operator who lets it run again.
COMMIT = (
    _ANNOUNCE
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

# KEYS: callers that wait, the list of the queue, when ids began to wait, whether all of them are
#       to, starts of tasks, tasks that were taken and are not started yet, names of the workers
# ARGV: time, prefixes of the keys of a caller and of an id
# Gives a task to each worker that has none, and no worker another one ahead: who comes next would
# wait for it. Takes callers in turn, by the seconds of work that they were given; returns these
# callers and their tasks, one after the other.
FEED = """
local taken = {}
if redis.call('EXISTS', KEYS[4]) == 1 then return taken end
local busy = {}
for _, start in ipairs(redis.call('ZRANGEBYSCORE', KEYS[5], ARGV[1], '+inf')) do
    busy[string.match(start, '^[^:]*')] = true
end
for _, task in ipairs(redis.call('LRANGE', KEYS[6], 0, -1)) do busy[task] = true end
local room = math.max(1, redis.call('SCARD', KEYS[7])) - redis.call('LLEN', KEYS[2])
for _ in pairs(busy) do room = room - 1 end
while room > 0 do
    local caller = redis.call('ZRANGE', KEYS[1], 0, 0)[1]
    if not caller then break end
    local ids = ARGV[2] .. caller
    local id = redis.call('ZRANGE', ids, 0, 0)[1]
    if id then
        local tasks = ARGV[3] .. id
        local task = redis.call('LPOP', tasks)
        if task then
            redis.call('ZINCRBY', KEYS[1], string.match(task, '^[^ ]+'), caller)
            taken[#taken + 1] = caller
            taken[#taken + 1] = task
            room = room - 1
        end
        if redis.call('LLEN', tasks) == 0 then
            redis.call('ZREM', ids, id)
            redis.call('ZREM', KEYS[3], id)
        end
    end
    if redis.call('ZCARD', ids) == 0 then redis.call('ZREM', KEYS[1], caller) end
end
return taken
"""

# KEYS: as FEED, ids of this caller that wait, tasks of this id
# ARGV: as FEED, caller, id, predicted seconds of all that the id still needs, 1 to go behind, tasks
# A caller starts just before where the least served one stands; of a caller's questions small ones
# come first, but none waits for ever: what comes later starts later. A question that goes behind
# waits until the caller's others had their turn. A task that waits is not added again. Goes on as
# FEED.
WAIT = (
    """
local caller, id, ids, tasks = ARGV[4], ARGV[5], KEYS[8], KEYS[9]
local least = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')[2] or 0
redis.call('ZADD', KEYS[1], 'NX', least - 1e-6, caller)
local served = redis.call('ZSCORE', KEYS[1], caller)
if ARGV[7] == '1' then
    local last = redis.call('ZRANGE', ids, -1, -1, 'WITHSCORES')[2] or served
    redis.call('ZADD', ids, last + tonumber(ARGV[6]), id)
else
    redis.call('ZADD', ids, 'NX', served + tonumber(ARGV[6]), id)
end
local held = {}
for _, task in ipairs(redis.call('LRANGE', tasks, 0, -1)) do held[task] = true end
for i = 8, #ARGV do
    if not held[ARGV[i]] then redis.call('RPUSH', tasks, ARGV[i]) end
end
redis.call('ZADD', KEYS[3], 'NX', redis.call('TIME')[1], id)
"""
    + FEED
)

_TESTSET = """
local record, text, systems, outputs, rows, failures, attempts, shown = unpack(KEYS, 1, 8)
local reports, left, seen, claims, envelopes, gone, joining = unpack(KEYS, 9, 15)
local function live(expiry, remembered)
    redis.call('HSET', record, 'expiry', expiry)
    for i = 1, 13 do redis.call('PEXPIREAT', KEYS[i], expiry) end
    redis.call('SET', gone, redis.call('HGET', record, 'caller'), 'PXAT', remembered)
end
local function forget(digest)
    for _, other in ipairs(redis.call('HVALS', systems)) do
        if other == digest then return end
    end
    for _, key in ipairs({outputs, failures, attempts}) do redis.call('HDEL', key, digest) end
end
"""

# KEYS of the scripts below: those of OF_TESTSET, tombstone, joining
# ARGV: id, expiry, end of the tombstone, listing, place, text, fields and values of the record
CREATE_TESTSET = (
    _TESTSET
    + """
local verdict = 'known'
if redis.call('EXISTS', record) == 0 then
    redis.call('HSET', record, unpack(ARGV, 7))
    redis.call('SET', text, ARGV[6])
    redis.call('ZADD', ARGV[4], 0, ARGV[5])
    verdict = 'created'
end
live(ARGV[2], ARGV[3])
redis.call('PEXPIREAT', ARGV[4], ARGV[3])
return verdict
"""
)

# ARGV: id, expiry, end of the tombstone, name, digest, output, 1 to replace, most systems, then
#       parts and values of its envelope
PUT = (
    _TESTSET
    + """
if redis.call('EXISTS', record) == 0 then return 'gone' end
local name, digest = ARGV[4], ARGV[5]
local held = redis.call('HGET', systems, name)
if held and held ~= digest and ARGV[7] ~= '1' then return 'taken' end
if not held and redis.call('HLEN', systems) >= tonumber(ARGV[8]) then return 'full' end
if held ~= digest then
    -- what comes back has its place still: its pairs never left the family
    if redis.call('SISMEMBER', left, digest .. ' ' .. name) == 0 then
        local taken = tonumber(redis.call('HGET', record, 'submissions') or 0)
        if taken >= tonumber(redis.call('HGET', record, 'capacity')) then return 'spent' end
        redis.call('HINCRBY', record, 'submissions', 1)
    end
    if held then redis.call('SADD', left, held .. ' ' .. name) end
end
local verdict = 'known'
if held == digest then
    if redis.call('HDEL', failures, digest) == 1 then
        redis.call('HDEL', attempts, digest)
        verdict = 'again'
    end
else
    verdict = held and 'replaced' or 'created'
    redis.call('HSET', systems, name, digest)
    redis.call('HSET', outputs, digest, ARGV[6])
    if held then forget(held) end
end
if verdict ~= 'known' then redis.call('SADD', joining, ARGV[1]) end
for i = 9, #ARGV, 2 do redis.call('HSET', envelopes, ARGV[i] .. ' ' .. name, ARGV[i + 1]) end
live(ARGV[2], ARGV[3])
return verdict
"""
)

# ARGV: id, expiry, end of the tombstone, name, parts of envelopes
REMOVE = (
    _TESTSET
    + """
local held = redis.call('HGET', systems, ARGV[4])
if not held then return 'absent' end
redis.call('HDEL', systems, ARGV[4])
for i = 5, #ARGV do redis.call('HDEL', envelopes, ARGV[i] .. ' ' .. ARGV[4]) end
redis.call('SADD', left, held .. ' ' .. ARGV[4])
forget(held)
redis.call('SADD', joining, ARGV[1])
live(ARGV[2], ARGV[3])
return 'removed'
"""
)

# ARGV: id, expiry, end of the tombstone, resamples
RAISE = (
    _TESTSET
    + """
if redis.call('EXISTS', record) == 0 then return 'gone' end
local now, asked = tonumber(redis.call('HGET', record, 'resamples')), tonumber(ARGV[4])
if asked < now then return 'fewer' end
live(ARGV[2], ARGV[3])
if asked == now then return 'same' end
redis.call('HSET', record, 'resamples', ARGV[4])
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
    _COMMON
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

# KEYS: what the keys of a test set's totals begin with, those used, their sizes, bytes of all
DROP = (
    _TOTALS
    + """
for _, key in ipairs(redis.call('HKEYS', KEYS[3])) do
    if string.sub(key, 1, #KEYS[1]) == KEYS[1] then drop(key) end
end
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

# KEYS: question
# ARGV: what its public link holds; nothing to take the link back
# Returns whether there is such a question.
SHARE = """
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
if ARGV[1] == '' then redis.call('HDEL', KEYS[1], 'link')
else redis.call('HSET', KEYS[1], 'link', ARGV[1]) end
return 1
"""

# KEYS: comparisons that a test set shows, all that were made for it, its record, webhooks of the
#       caller, messages that are due, what the keys of a webhook and of its messages begin with
# ARGV: choice, comparison, channel, 1 to announce it, event and message
# Notes which comparison is to be shown, and announces it where it is another one.
SHOW = (
    _ANNOUNCE
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

# KEYS: messages that are due
# ARGV: time, when those that are taken are due again, how many to take
TAKE_DUE = """
local taken = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, ARGV[3])
for _, entry in ipairs(taken) do redis.call('ZADD', KEYS[1], ARGV[2], entry) end
return taken
"""

# KEYS: messages that are due, webhook, its messages, their attempts
# ARGV: webhook and message, message, time, until when no other worker sends it
# Returns its body, the number of the attempt, address and secret; nothing where it is delivered,
# gone, or being sent.
ATTEMPT = """
local body = redis.call('HGET', KEYS[3], ARGV[2])
if not body then
    redis.call('ZREM', KEYS[1], ARGV[1])
    return false
end
local sent = redis.call('HGET', KEYS[4], ARGV[2] .. ' until')
if sent and tonumber(sent) > tonumber(ARGV[3]) then return false end
redis.call('HSET', KEYS[4], ARGV[2] .. ' until', ARGV[4])
redis.call('ZADD', KEYS[1], ARGV[4], ARGV[1])
local number = redis.call('HINCRBY', KEYS[4], ARGV[2], 1)
local url, secret = unpack(redis.call('HMGET', KEYS[2], 'url', 'secret'))
return {body, number, url, secret}
"""

# KEYS: as of ATTEMPT
# ARGV: webhook and message, message, outcome, when it is due again, seconds, error
SETTLE = """
if redis.call('EXISTS', KEYS[2]) == 0 then return 0 end
redis.call('HDEL', KEYS[4], ARGV[2] .. ' until')
if ARGV[3] == 'again' then
    redis.call('ZADD', KEYS[1], 'XX', ARGV[4], ARGV[1])
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
