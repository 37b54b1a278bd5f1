"""What people have already, read as the test set, systems and scores of a comparison.

Files of many formats, recognised by their content, alone, with gzip, in folders or in archives, and
sacreBLEU's built-in test sets. Nothing is written to disk, and no name in an archive is trusted.
`FORMATS_READ`, `FORMATS_REFUSED` and `TREES_READ` list what is known.
"""

from sigtest.files.folders import TREES_READ
from sigtest.files.formats.wmt import read_wmt
from sigtest.files.gathering import (
    Entry,
    Gathered,
    Role,
    Upload,
    gather,
    read_builtin,
    read_bytes,
    read_path,
)
from sigtest.files.join import STRICT, Joining, join
from sigtest.files.material import (
    Material,
    SystemScores,
    in_order,
    metric_options,
    metrics_of,
    outputs_of,
)
from sigtest.files.registry import FORMATS_READ, FORMATS_REFUSED, Reader
from sigtest.files.tree import Bounds

__all__ = [
    "FORMATS_READ", "FORMATS_REFUSED", "STRICT", "TREES_READ", "Bounds", "Entry", "Gathered",
    "Joining", "Material", "Reader", "Role", "SystemScores", "Upload", "gather", "in_order", "join",
    "metric_options", "metrics_of", "outputs_of", "read_builtin", "read_bytes", "read_path",
    "read_wmt",
]  # fmt: skip
