"""Array types of this package."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Complexes = NDArray[np.complexfloating[Any, Any]]
Bools = NDArray[np.bool_]
Indices = NDArray[np.intp]

__all__ = ["ArrayLike", "Bools", "Complexes", "Floats", "Indices", "floats"]


def floats(value: ArrayLike) -> Floats:
    """Numbers as an array of floats."""
    return np.asarray(value, np.float64)
