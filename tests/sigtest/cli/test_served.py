"""Reports of services that run another version."""

import pytest

from sigtest.cli.compare import understood
from sigtest.errors import ServiceError
from sigtest.report import Report


@pytest.mark.parametrize("told", [b'{"version": "9.9"}', b'{"version": "9.9", "testsets": 3}'])
def test_report_of_another_version_is_one_clear_error(told):
    with pytest.raises(ServiceError, match=r"runs sigtest 9\.9 .* take --format json"):
        understood(told, Report.from_json)
