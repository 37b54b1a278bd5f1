"""Changes that must happen whole or not at all, as Lua that the server runs undivided.

The server's append-only file keeps the writes of one script together, so that a crash cannot leave
half of them behind. Fields and values come one after the other.
"""
