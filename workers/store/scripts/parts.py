"""What several scripts begin with."""

PUT_FIELDS = """
local CHUNK = 4000
local function put(key, first, last)
    for i = first, last, CHUNK do
        redis.call('HSET', key, unpack(ARGV, i, math.min(i + CHUNK - 1, last)))
    end
end
"""

# An event becomes a message to each webhook of its caller that is told of it, undivided with what
# happened. ARGV from `at`: event, id of the message, body, time. Beyond MOST messages that wait, a
# webhook counts what it is not told.
ANNOUNCE = """
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
