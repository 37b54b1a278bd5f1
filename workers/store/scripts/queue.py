"""Which task is next."""

# Takes the next task of a caller out of those that wait, if there is one.
TAKE = """
local function take(caller)
    local ids = ARGV[2] .. caller
    local id = redis.call('ZRANGE', ids, 0, 0)[1]
    local task
    if id then
        local tasks = ARGV[3] .. id
        task = redis.call('LPOP', tasks)
        if task then redis.call('ZINCRBY', KEYS[1], string.match(task, '^[^ ]+'), caller) end
        if redis.call('LLEN', tasks) == 0 then
            redis.call('ZREM', ids, id)
            redis.call('ZREM', KEYS[3], id)
        end
    end
    if redis.call('ZCARD', ids) == 0 then redis.call('ZREM', KEYS[1], caller) end
    return task
end
"""

# A start counts as long as RQ's record of it, which each sign of life of its worker prolongs: by
# the clock of the store, as those of machines may differ.
RUNNING = """
local function running(starts)
    local found = {}
    for _, start in ipairs(redis.call('ZRANGE', starts, 0, -1)) do
        if redis.call('EXISTS', ARGV[1] .. start) == 1 then found[#found + 1] = start end
    end
    return found
end
"""

# KEYS: starts of tasks
# ARGV: prefix of the keys of their records
STARTS = RUNNING + "return running(KEYS[1])"

# KEYS: callers that wait, the list of the queue, when ids began to wait, whether all of them are
#       to, starts of tasks, tasks that were taken and are not started yet, names of the workers,
#       tasks of extra workers, which are not among these
# ARGV: prefixes of the keys of a start's record, of a caller and of an id
# Gives a task to each worker that has none, and no worker another one ahead: who comes next would
# wait for it. Takes callers in turn, by the seconds of work that they were given; returns these
# callers and their tasks, one after the other.
FEED = (
    TAKE
    + RUNNING
    + """
local taken = {}
if redis.call('EXISTS', KEYS[4]) == 1 then return taken end
local busy = {}
for _, start in ipairs(running(KEYS[5])) do
    busy[string.match(start, '^[^:]*')] = true
end
for _, task in ipairs(redis.call('LRANGE', KEYS[6], 0, -1)) do busy[task] = true end
local room = math.max(1, redis.call('SCARD', KEYS[7])) - redis.call('LLEN', KEYS[2])
for task in pairs(busy) do
    if redis.call('SISMEMBER', KEYS[8], task) == 0 then room = room - 1 end
end
while room > 0 do
    local caller = redis.call('ZRANGE', KEYS[1], 0, 0)[1]
    if not caller then break end
    local task = take(caller)
    if task then
        taken[#taken + 1] = caller
        taken[#taken + 1] = task
        room = room - 1
    end
end
return taken
"""
)

# KEYS: as FEED, of which the queue's and the workers' are left alone
# ARGV: as FEED, seconds of a short task, callers for whom workers work
# Takes one task for an extra worker: the next short one, or that of a caller for whom none works.
ASIDE = (
    TAKE
    + """
if redis.call('EXISTS', KEYS[4]) == 1 then return {} end
local served = {}
for i = 5, #ARGV do served[ARGV[i]] = true end
for _, caller in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
    local id = redis.call('ZRANGE', ARGV[2] .. caller, 0, 0)[1]
    local first = id and redis.call('LINDEX', ARGV[3] .. id, 0)
    local seconds = first and tonumber(string.match(first, '^[^ ]+'))
    if seconds and (not served[caller] or seconds <= tonumber(ARGV[4])) then
        return {caller, take(caller)}
    end
end
return {}
"""
)

# KEYS: the list of the queue, tasks that were taken and are not started yet, those of extra workers
# ARGV: id of a task
# Takes one task out of the queue for an extra worker, unless another worker did.
CLAIM = """
if redis.call('LREM', KEYS[1], 1, ARGV[1]) == 0 then return 0 end
redis.call('LPUSH', KEYS[2], ARGV[1])
redis.call('SADD', KEYS[3], ARGV[1])
return 1
"""

# KEYS: as FEED, ids of this caller that wait, tasks of this id
# ARGV: as FEED, caller, id, 1 to go behind, tasks
# A caller starts just before where the least served one stands; of a caller's questions small ones
# come first, but none waits for ever: what comes later starts later. How small one is follows from
# all of its tasks, also from those that came while others waited, as on a leaderboard. A question
# that goes behind waits until the caller's others had their turn. A task that waits is not added
# again. Goes on as FEED.
WAIT = (
    """
local caller, id, ids, tasks = ARGV[4], ARGV[5], KEYS[9], KEYS[10]
local least = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')[2] or 0
redis.call('ZADD', KEYS[1], 'NX', least - 1e-6, caller)
local served = redis.call('ZSCORE', KEYS[1], caller)
local held, added = {}, 0
for _, task in ipairs(redis.call('LRANGE', tasks, 0, -1)) do held[task] = true end
for i = 7, #ARGV do
    if not held[ARGV[i]] then
        redis.call('RPUSH', tasks, ARGV[i])
        added = added + tonumber(string.match(ARGV[i], '^[^ ]+'))
    end
end
local place = redis.call('ZSCORE', ids, id) or served
if ARGV[6] == '1' then place = redis.call('ZRANGE', ids, -1, -1, 'WITHSCORES')[2] or served end
redis.call('ZADD', ids, place + added, id)
redis.call('ZADD', KEYS[3], 'NX', redis.call('TIME')[1], id)
"""
    + FEED
)
