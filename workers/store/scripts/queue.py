"""Which task is next."""

# Takes the next task of a caller out of those that wait, if there is one.
TAKE = """
local function take(caller)
    local ids = ARGV[1] .. caller
    local id = redis.call('ZRANGE', ids, 0, 0)[1]
    local task
    if id then
        local tasks = ARGV[2] .. id
        task = redis.call('LPOP', tasks)
        if task then redis.call('ZINCRBY', KEYS[1], string.match(task, '^[^ ]+'), caller) end
        if redis.call('LLEN', tasks) == 0 then
            redis.call('ZREM', ids, id)
            redis.call('ZREM', KEYS[2], id)
        end
    end
    if redis.call('ZCARD', ids) == 0 then redis.call('ZREM', KEYS[1], caller) end
    return task
end
"""

# KEYS: callers that wait, when ids began to wait, whether all of them are to, tasks that were taken
#       and are not started yet, whether long tasks hold all workers; list and names of workers of
#       the queue, and of the one for short tasks
# ARGV: prefixes of the keys of a caller and of an id
# Gives a task to each worker that has none, and no worker another one ahead: who comes next would
# wait for it. Where no worker is, one waits for the first that comes. Takes callers in turn, by the
# seconds of work that they were given; returns each caller, its task and the name of a queue.
FEED = (
    TAKE
    + """
local SHORT_SECONDS = 1
local taken = {}
if redis.call('EXISTS', KEYS[3]) == 1 then return taken end
local function room(list, workers, least)
    local there, free = 0, 0
    for _, worker in ipairs(redis.call('SMEMBERS', workers)) do
        there = there + redis.call('EXISTS', worker)
        free = free + redis.call('EXISTS', worker) - redis.call('HEXISTS', worker, 'current_job')
    end
    if there == 0 then free = least end
    return free - redis.call('LLEN', list)
end
local function give(caller, queue)
    local task = take(caller)
    if task then
        for _, part in ipairs({caller, task, queue}) do taken[#taken + 1] = part end
    end
    return task
end
local left = room(KEYS[6], KEYS[7], 1) - redis.call('LLEN', KEYS[4])
while left > 0 do
    local caller = redis.call('ZRANGE', KEYS[1], 0, 0)[1]
    if not caller then break end
    if give(caller, 'sigtest') then left = left - 1 end
end
if redis.call('EXISTS', KEYS[5]) == 0 or room(KEYS[8], KEYS[9], 0) < 1 then return taken end
for _, caller in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
    local id = redis.call('ZRANGE', ARGV[1] .. caller, 0, 0)[1]
    local first = id and redis.call('LINDEX', ARGV[2] .. id, 0)
    local seconds = first and tonumber(string.match(first, '^[^ ]+'))
    if seconds and seconds <= SHORT_SECONDS then
        give(caller, 'sigtest-short')
        break
    end
end
return taken
"""
)

# KEYS: as FEED, ids of this caller that wait, tasks of this id
# ARGV: as FEED, caller, id, 1 to go behind, tasks
# A caller starts just before where the least served one stands; of a caller's questions small ones
# come first, but none waits for ever: what comes later starts later. How small one is follows from
# all of its tasks, also from those that came while others waited, as on a leaderboard. A question
# that goes behind waits until the caller's others had their turn. A task that waits is not added
# again. Goes on as FEED.
WAIT = (
    """
local caller, id, ids, tasks = ARGV[3], ARGV[4], KEYS[10], KEYS[11]
local least = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')[2] or 0
redis.call('ZADD', KEYS[1], 'NX', least - 1e-6, caller)
local served = redis.call('ZSCORE', KEYS[1], caller)
local held, added = {}, 0
for _, task in ipairs(redis.call('LRANGE', tasks, 0, -1)) do held[task] = true end
for i = 6, #ARGV do
    if not held[ARGV[i]] then
        redis.call('RPUSH', tasks, ARGV[i])
        added = added + tonumber(string.match(ARGV[i], '^[^ ]+'))
    end
end
local place = redis.call('ZSCORE', ids, id) or served
if ARGV[5] == '1' then place = redis.call('ZRANGE', ids, -1, -1, 'WITHSCORES')[2] or served end
redis.call('ZADD', ids, place + added, id)
redis.call('ZADD', KEYS[2], 'NX', redis.call('TIME')[1], id)
"""
    + FEED
)
