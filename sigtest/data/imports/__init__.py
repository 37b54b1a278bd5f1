"""What people have already, read as the test set, systems and scores of a comparison.

Files of many formats, recognised by their content, alone, with gzip, in folders or in archives, and
sacreBLEU's built-in test sets. Nothing is written to disk, and no name in an archive is trusted.
`FORMATS_READ`, `FORMATS_REFUSED` and `TREES_READ` list what is known.
"""

from sigtest.data.imports.archive import read_bytes
from sigtest.data.imports.bounds import Bounds
from sigtest.data.imports.builtin import read_builtin
from sigtest.data.imports.content import in_order, metrics_of, outputs_of, told_of
from sigtest.data.imports.given import Gathered, Given, Role, Upload, gather
from sigtest.data.imports.join import STRICT, Joining, join
from sigtest.data.imports.material import Material, Scores
from sigtest.data.imports.path import read_path
from sigtest.data.imports.registry import FORMATS_READ, FORMATS_REFUSED, Reader
from sigtest.data.imports.trees import TREES_READ
from sigtest.data.imports.wmt import read_wmt

__all__ = [
    "FORMATS_READ",
    "FORMATS_REFUSED",
    "STRICT",
    "TREES_READ",
    "Bounds",
    "Gathered",
    "Given",
    "Joining",
    "Material",
    "Reader",
    "Role",
    "Scores",
    "Upload",
    "gather",
    "in_order",
    "join",
    "metrics_of",
    "outputs_of",
    "read_builtin",
    "read_bytes",
    "read_path",
    "read_wmt",
    "told_of",
]
