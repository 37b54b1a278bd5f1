"""What several scripts begin with."""

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
