"""Human evaluations: from people's judgements of systems to conclusions about them."""

import sys

from sigtest.callable import CallablePackage
from sigtest.human.evaluate import compute
from sigtest.human.files import INPUTS
from sigtest.human.report import HumanReport
from sigtest.human.request.asked import Asked
from sigtest.human.request.parse import parse

sys.modules[__name__].__class__ = CallablePackage

__all__ = ["INPUTS", "Asked", "HumanReport", "compute", "parse"]
