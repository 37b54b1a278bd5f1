"""Test sets of a service, their systems and their leaderboards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from sigtest.client.connection import Connection
from sigtest.data.names import check_name

TESTSETS = "/v1/testsets"
PENDING_SECONDS = 0.1


class TestSets:
    """What a client does with test sets.

    Attributes:
        connection: To the service.
    """

    __test__ = False  # pytest: not a test class

    connection: Connection

    def create_testset(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Make a test set for systems that arrive over time; the answer says its `id`.

        Args:
            body: `name`, `references`, the settings, and what is written on it, as POST
                /v1/testsets takes them.
        """
        return self.connection.send("POST", TESTSETS, body)

    def testset(self, testset_id: str) -> dict[str, Any]:
        """A test set: its settings and how many of its systems are pending."""
        return self.connection.told("GET", f"{TESTSETS}/{testset_id}")

    def testsets(self, **wanted: str | Sequence[str]) -> Iterator[dict[str, Any]]:
        """The caller's test sets, newest first; `wanted` are `title` and `tag`."""
        return self.connection.pages(TESTSETS, "testsets", wanted)

    def describe_testset(self, testset_id: str, **said: Any) -> dict[str, Any]:
        """Write `title`, `tags` or `metadata` on a test set; what is not said stays."""
        return self.connection.send("PATCH", f"{TESTSETS}/{testset_id}", said)

    def raise_resamples(self, testset_id: str, resamples: int) -> dict[str, Any]:
        """Draw more resamples for a test set; the first ones stay."""
        body = {"resamples": resamples}
        return self.connection.send("PATCH", f"{TESTSETS}/{testset_id}", body)

    def delete_testset(self, testset_id: str) -> None:
        """Delete a test set with its systems."""
        self.connection.ask("DELETE", f"{TESTSETS}/{testset_id}")

    def put_system(
        self, testset_id: str, name: str, body: Mapping[str, Any], replace: bool = False
    ) -> dict[str, Any]:
        """Put a system to a test set; the answer says its `status`.

        Args:
            testset_id: The test set.
            name: The system's name.
            body: `hypotheses` or `scores` or both, or `replicas`; and what is written on it.
            replace: Whether other content under this name may be replaced.
        """
        path = f"{_system_path(testset_id, name)}?replace={str(replace).lower()}"
        return self.connection.send("PUT", path, body)

    def system(self, testset_id: str, name: str) -> dict[str, Any]:
        """A system of a test set: pending, measured or failed, and its scores."""
        return self.connection.told("GET", _system_path(testset_id, name))

    def measured(self, testset_id: str, name: str) -> dict[str, Any]:
        """A system of a test set, once it is no longer pending."""
        found = self.system(testset_id, name)
        while found["status"] == "pending":
            self.connection.sleep(PENDING_SECONDS)
            found = self.system(testset_id, name)
        return found

    def systems(self, testset_id: str) -> Iterator[dict[str, Any]]:
        """The systems of a test set in the order of their names."""
        return self.connection.pages(f"{TESTSETS}/{testset_id}/systems", "systems", {})

    def remove_system(self, testset_id: str, name: str) -> None:
        """Delete a system of a test set."""
        self.connection.ask("DELETE", _system_path(testset_id, name))

    def leaderboard(
        self, testset_id: str, form: str = "json", wait: int = 50, **shown: str | Sequence[str]
    ) -> bytes:
        """The leaderboard of a test set in one of the formats.

        Args:
            testset_id: The test set.
            form: The format.
            wait: Most seconds until every system that is measured is in it.
            shown: `metric`, `test`, `alpha`, `correction`, as far as not the test set's own; and
                a layout as for `report`.
        """
        path = f"{TESTSETS}/{testset_id}/leaderboard"
        headers, params = {"Prefer": f"wait={wait}"}, {"format": form, **shown}
        return self.connection.ask("GET", path, headers=headers, params=params).content

    def leaderboard_distribution(
        self, testset_id: str, a: str, b: str, values: bool = False, **shown: str
    ) -> dict[str, Any]:
        """As `distribution`, of a leaderboard; `shown` are `metric` and `test`."""
        path = f"{TESTSETS}/{testset_id}/leaderboard/distribution"
        params = {"a": a, "b": b, "values": str(values).lower(), **shown}
        return self.connection.told("GET", path, params=params)

    def leaderboard_plot(self, testset_id: str, name: str, **params: str) -> bytes:
        """As `plot`, of a leaderboard."""
        path = f"{TESTSETS}/{testset_id}/leaderboard/plots/{name}.svg"
        return self.connection.ask("GET", path, params=params).content


def _system_path(testset_id: str, name: str) -> str:
    """Where a system is; a name like ".." would lead elsewhere."""
    return f"{TESTSETS}/{testset_id}/systems/{quote(check_name(name), safe='')}"
