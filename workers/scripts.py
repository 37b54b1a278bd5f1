"""Changes that must happen whole or not at all, as Lua that the server runs undivided.

The server's append-only file keeps the writes of one script together, so that a crash cannot leave
half of them behind.
"""

# KEYS: record, texts, blocks, attempts, report, tombstone, pending, listing, idempotency
# ARGV: id, expiry, end of the tombstone (both in ms), most pending, place in the listing, caller,
#       1 with an idempotency key, number of fields of the record times two, these fields and
#       values, then those of the texts
CREATE = """
local id, expiry = ARGV[1], ARGV[2]
local bound = ARGV[7] == '1' and redis.call('GET', KEYS[9])
if bound and bound ~= id then return 'conflict' end
local outcome = redis.call('HGET', KEYS[1], 'outcome')
local verdict = 'known'
if redis.call('EXISTS', KEYS[1]) == 0 or outcome == 'failed' or outcome == 'cancelled' then
    if redis.call('SCARD', KEYS[7]) >= tonumber(ARGV[4]) then return 'busy' end
    local place = redis.call('HGET', KEYS[1], 'place')
    if place then redis.call('ZREM', KEYS[8], place) end
    redis.call('DEL', KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5])
    local last = 8 + tonumber(ARGV[8])
    redis.call('HSET', KEYS[1], unpack(ARGV, 9, last))
    redis.call('HSET', KEYS[2], unpack(ARGV, last + 1))
    redis.call('PEXPIREAT', KEYS[1], expiry)
    redis.call('PEXPIREAT', KEYS[2], expiry)
    redis.call('SET', KEYS[6], ARGV[6], 'PXAT', ARGV[3])
    redis.call('SADD', KEYS[7], id)
    redis.call('ZADD', KEYS[8], 0, ARGV[5])
    redis.call('PEXPIREAT', KEYS[8], expiry)
    verdict = 'created'
end
if ARGV[7] == '1' then redis.call('SET', KEYS[9], id, 'PXAT', expiry) end
return verdict
"""

# KEYS: record, attempts
# ARGV: task, time
# Returns how often the task was started, 0 where its comparison is finished or gone.
BEGIN = """
local expiry = redis.call('HGET', KEYS[1], 'expiry')
if not expiry or redis.call('HEXISTS', KEYS[1], 'outcome') == 1 then return 0 end
redis.call('HSETNX', KEYS[1], 'started', ARGV[2])
local attempt = redis.call('HINCRBY', KEYS[2], ARGV[1], 1)
redis.call('PEXPIREAT', KEYS[2], expiry)
return attempt
"""

# KEYS: record, blocks
# ARGV: block, its bytes
# Returns which blocks exist after this one was added. Nothing is added to a comparison that is
# finished or gone.
ADD_BLOCK = """
local expiry = redis.call('HGET', KEYS[1], 'expiry')
if expiry and redis.call('HEXISTS', KEYS[1], 'outcome') == 0 then
    redis.call('HSETNX', KEYS[2], ARGV[1], ARGV[2])
    redis.call('PEXPIREAT', KEYS[2], expiry)
end
return redis.call('HKEYS', KEYS[2])
"""

# KEYS: record, texts, blocks, attempts, report, pending
# ARGV: id, outcome, error, report, channel, progress
# The first outcome stays; returns whether it was this one. Only a success keeps its texts, for
# the distributions that may be asked for.
COMMIT = """
local expiry = redis.call('HGET', KEYS[1], 'expiry')
if not expiry or redis.call('HSETNX', KEYS[1], 'outcome', ARGV[2]) == 0 then return 0 end
redis.call('HSET', KEYS[1], 'progress', ARGV[6])
if ARGV[2] == 'succeeded' then
    redis.call('SET', KEYS[5], ARGV[4], 'PXAT', expiry)
else
    redis.call('HSET', KEYS[1], 'error', ARGV[3])
    redis.call('DEL', KEYS[2])
end
redis.call('DEL', KEYS[3], KEYS[4])
redis.call('SREM', KEYS[6], ARGV[1])
redis.call('PUBLISH', ARGV[5], ARGV[2])
return 1
"""
