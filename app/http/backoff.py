"""Makes those wait who try one key after the other."""

from __future__ import annotations

import ipaddress
import threading
import time
from collections import OrderedDict

from app.http.errors import BackOffError

FREE = 10  # wrong keys that cost nothing
LONGEST = 60  # seconds
FORGIVEN = 600.0  # seconds without a wrong key
ADDRESSES = 10_000  # that are remembered


class BackOff:
    """Wrong keys by address; each beyond the first ones doubles the time to wait."""

    def __init__(self) -> None:
        self._seen: OrderedDict[str, tuple[int, float]] = OrderedDict()  # how many, the last time
        self._lock = threading.Lock()

    def check(self, address: str) -> None:
        """Let an address try another key.

        Raises:
            BackOffError: It has to wait; says for how long.
        """
        with self._lock:
            count, last = self._seen.get(_place(address), (0, 0.0))
        wait = min(LONGEST, 2 ** min(count - FREE, 10)) if count >= FREE else 0
        left = last + wait - time.monotonic()
        if left > 0:
            seconds = int(left) + 1
            raise BackOffError(
                f"{count:,} wrong keys came from your address; wait {seconds} s before the next.",
                seconds,
            )

    def note(self, address: str) -> None:
        """Count a wrong key."""
        now, place = time.monotonic(), _place(address)
        with self._lock:
            count, last = self._seen.pop(place, (0, 0.0))
            self._seen[place] = (count + 1 if now - last < FORGIVEN else 1, now)
            if len(self._seen) > ADDRESSES:
                self._seen.popitem(last=False)


def _place(address: str) -> str:
    """What is counted as one: of IPv6 a network of 64 bits, which one customer has."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    if found.version == 4:
        return address
    return str(ipaddress.ip_network((int(found) >> 64 << 64, 64)))
