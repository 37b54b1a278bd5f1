"""What organisers have already, read as the test set and systems of a comparison.

A directory of one-segment-per-line files, WMT's XML, either of them in a zip or tar archive, and
sacreBLEU's built-in test sets. Nothing is written to disk, and no name in an archive is trusted.
"""

from sigtest.data.imports.archive import read_archive
from sigtest.data.imports.bounds import Bounds
from sigtest.data.imports.builtin import read_builtin
from sigtest.data.imports.folder import read_folder
from sigtest.data.imports.material import Material
from sigtest.data.imports.path import read_path
from sigtest.data.imports.wmt import read_wmt

__all__ = [
    "Bounds",
    "Material",
    "read_archive",
    "read_builtin",
    "read_folder",
    "read_path",
    "read_wmt",
]
