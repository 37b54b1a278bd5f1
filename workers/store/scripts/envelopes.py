"""Title, tags and metadata of a question or a test set."""

# KEYS: question, or test set
# ARGV: fields and values of its envelope
# Returns whether there is such a thing.
DESCRIBE = """
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
if #ARGV > 0 then redis.call('HSET', KEYS[1], unpack(ARGV)) end
return 1
"""
