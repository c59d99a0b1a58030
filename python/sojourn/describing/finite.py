"""Values that JSON can represent."""

from __future__ import annotations

import math
from typing import Any


def without_nan(value: Any) -> Any:
    """The same value with None for NaN and infinities, which JSON does not have."""
    if isinstance(value, dict):
        return {key: without_nan(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [without_nan(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
