"""Properties that are computed once, and for several objects at a time."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Barrier

from sigtest.cached import cached_property


@dataclass(frozen=True)
class Thing:
    both: Barrier
    computed: list[str] = field(default_factory=list)

    @cached_property
    def name(self) -> str:
        """What it is called."""
        self.both.wait(20)  # for the other thing's
        self.computed.append("name")
        return f"thing {len(self.computed)}"


def test_two_things_are_computed_at_the_same_time_and_each_once():
    both = Barrier(2)
    things = [Thing(both), Thing(both)]
    with ThreadPoolExecutor(2) as threads:
        assert [*threads.map(lambda thing: thing.name, things)] == ["thing 1"] * 2
    assert [thing.name for thing in things] == ["thing 1"] * 2
    assert Thing.name.__doc__ == "What it is called."
