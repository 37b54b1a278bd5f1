"""Python runs this at the start of each process of a service that is tortured, and no other.

`torture/service.py` puts this folder on the PYTHONPATH of the services that it starts. It plants
the fault of TORTURE_FAULT and the version of TORTURE_VERSION; without them it does nothing.
"""

import os

if os.environ.get("TORTURE_FAULT") or os.environ.get("TORTURE_VERSION"):
    from torture import plant

    plant.install(os.environ)
