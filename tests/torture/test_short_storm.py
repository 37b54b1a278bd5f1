"""Half a minute of the storm: everything that can be killed is, once."""

import pytest

from torture.storm import stormed

pytestmark = pytest.mark.slow

HURTS = (
    "worker killed",
    "store killed",
    "worker killed",
    "worker without memory",
    "store cut off in a write",
    "worker killed",
    "store without memory",
    "upgrade",
)


def test_a_storm_loses_nothing():
    ledger = stormed(0, 150, kinds=HURTS)
    assert not ledger.faults, ledger.findings
    assert ledger.counts["reports compared byte for byte"] > 20
    assert ledger.counts["kills"] >= 3
