"""Messages to webhooks: which are due, and what became of them, by the clock of the store."""

from workers.store.scripts.parts import MESSAGES, NOW

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
SETTLE = (
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
