"""Names for the arrays that travel between modules.

Axes are always in this order: M metrics, P pairs, S systems, R resamples, n units, k statistics.
Inside the kernel, sums lie as (k, S, R), so that the resamples of one statistic are contiguous.
"""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[np.float64]
Weights: TypeAlias = npt.NDArray[np.float32]
Counts: TypeAlias = npt.NDArray[np.int64]
Flags: TypeAlias = npt.NDArray[np.bool_]
