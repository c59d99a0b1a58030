"""Dataclasses and arrays as JSON."""

from __future__ import annotations

import math
from dataclasses import fields, is_dataclass
from typing import Any


def to_json(value: Any) -> Any:
    """A value in dicts, lists, numbers and texts; None for non-finite numbers."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_json(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, dict):
        return {str(key): to_json(item) for key, item in value.items()}
    if hasattr(value, "tolist"):
        return to_json(value.tolist())
    if isinstance(value, list | tuple):
        return [to_json(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
