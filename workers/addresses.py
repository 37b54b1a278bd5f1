"""Which addresses messages may be sent to: those of everybody, and private ones that are allowed.

A webhook's address is its owner's word. Without this, it could make workers speak to what only this
machine or its network can reach.
"""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network

from workers.settings import NETWORKS, Network

Address = IPv4Address | IPv6Address

ROUTED = IPv6Network("2000::/3")  # all global unicast addresses that IANA has handed out
# of IANA's special-purpose registries, what some versions of Python take for global
SPECIAL = tuple(map(ip_network, ("192.0.0.0/24", "192.88.99.0/24", "2001::/23", "3fff::/20")))
TRANSLATED = IPv6Network("64:ff9b::/96")  # holds an IPv4 address (RFC 6052)


def parse(host: str) -> Address | None:
    """The address that a host is, if it is one and no name."""
    try:
        return ip_address(host.strip("[]").partition("%")[0])
    except ValueError:
        return None


def allowed(address: Address, networks: Sequence[Network]) -> bool:
    """Whether messages may be sent to an address.

    Args:
        address: The one that is connected to.
        networks: Private ones that are allowed.
    """
    meant = _meant(address)
    if any(meant in network for network in networks):
        return True
    everybodys = isinstance(meant, IPv4Address) or meant in ROUTED
    special = meant.is_multicast or any(meant in network for network in SPECIAL)
    return everybodys and meant.is_global and not special


def refusal(host: str) -> str:
    """What is said of a host with an address that is not allowed."""
    return (
        f"{host} is or leads to a private address; the operator may allow its network with "
        f"{NETWORKS}."
    )


def _meant(address: Address) -> Address:
    """The IPv4 address that an IPv6 address stands for, where it does."""
    if isinstance(address, IPv4Address):
        return address
    if address in TRANSLATED:
        return IPv4Address(address.packed[-4:])
    return address.ipv4_mapped or address.sixtofour or address
