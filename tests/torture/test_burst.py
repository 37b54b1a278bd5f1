"""Teams of a shared task submit all at once while every process of the service is killed."""

import pytest

from torture.burst import KILLS, Sizes, announced

pytestmark = pytest.mark.slow


def test_a_burst_under_kills_loses_and_doubles_nothing():
    sizes = Sizes(tracks=2, teams=8, systems=2)
    with announced(sizes, seed=0) as (task, _):
        task.at_once(KILLS[::3])
        task.account()
    ledger = task.ledger
    assert not ledger.faults, ledger.findings
    assert ledger.counts["kills"] == len(KILLS[::3])
    assert ledger.counts["receipts held against their calls"] == 2 * 8 * 2
    assert ledger.counts["reports compared byte for byte"] == 2
