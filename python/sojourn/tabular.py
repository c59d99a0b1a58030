"""Base classes of results: the main table for Arrow, pandas and polars."""

from __future__ import annotations

import math
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

if TYPE_CHECKING:
    import pyarrow as pa


class _HasArrow(Protocol):
    def to_arrow(self) -> pa.Table: ...


class Tabular:
    """A result with a main table; `to_arrow` of the class documents its rows and columns."""

    def to_pandas(self: _HasArrow) -> Any:
        """The table of `to_arrow` as a pandas data frame.

        Raises:
            ImportError: pandas is not installed; it is not a dependency of Sojourn.
        """
        return as_pandas(self.to_arrow())

    def to_polars(self: _HasArrow) -> Any:
        """The table of `to_arrow` as a polars data frame.

        Raises:
            ImportError: polars is not installed; it is not a dependency of Sojourn.
        """
        return as_polars(self.to_arrow())


class _HasTables(Protocol):
    main_table: ClassVar[str]

    def table(self, name: str) -> pa.Table: ...


class TabularByName:
    """A result with several tables, one of them the default."""

    main_table: ClassVar[str]

    def to_arrow(self: _HasTables, name: str | None = None) -> pa.Table:
        """A table as an Arrow table, the same as `table`.

        Args:
            name: of the table; `main_table` by default.

        Raises:
            KeyError: the table does not exist.
        """
        return self.table(self.main_table if name is None else name)

    def to_pandas(self: _HasTables, name: str | None = None) -> Any:
        """A table as a pandas data frame; arguments and errors are those of `to_arrow`.

        Raises:
            ImportError: pandas is not installed; it is not a dependency of Sojourn.
        """
        return as_pandas(self.table(self.main_table if name is None else name))

    def to_polars(self: _HasTables, name: str | None = None) -> Any:
        """A table as a polars data frame; arguments and errors are those of `to_arrow`.

        Raises:
            ImportError: polars is not installed; it is not a dependency of Sojourn.
        """
        return as_polars(self.table(self.main_table if name is None else name))


def known(value: float) -> float | None:
    """A number for a table; None if unknown."""
    return None if math.isnan(value) else value


def as_pandas(table: pa.Table) -> Any:
    """An Arrow table as a pandas data frame.

    Raises:
        ImportError: pandas is not installed.
    """
    try:
        import_module("pandas")  # checked here, because the message of pyarrow names no remedy
    except ImportError:
        raise ImportError("to_pandas: pandas is not installed; pip install pandas") from None
    return table.to_pandas()


def as_polars(table: pa.Table) -> Any:
    """An Arrow table as a polars data frame, without a copy where types allow it.

    Raises:
        ImportError: polars is not installed.
    """
    try:
        polars = import_module("polars")
    except ImportError:
        raise ImportError("to_polars: polars is not installed; pip install polars") from None
    return polars.from_arrow(table)
