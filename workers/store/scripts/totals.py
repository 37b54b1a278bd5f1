"""Sums that test sets keep, the oldest of which go where there are too many."""

from workers.store.scripts.parts import PUT_FIELDS

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
