"""The rows of a database, by what stands in some of their columns, and how much work a question may make."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from margent.errors import MeaningError
from margent.meaning.facts import Database, Facts, Index, IndexKey, Row, Value, in_order


class IndexedRows:
    """A database and indexes over its rows, made when they are first needed."""

    def __init__(self, database: Database, most_steps: int) -> None:
        self.database = database
        self._left = most_steps
        self._indexes: dict[IndexKey, Index] = database.indexes if isinstance(database, Facts) else {}
        self._things: list[Value] | None = None

    def step(self, n: int = 1) -> None:
        """Count work. MeaningError if it is more than allowed."""
        self._left -= n
        if self._left < 0:
            raise MeaningError("the question takes too long to answer; expected one that says more of what it is for")

    def has_relation(self, name: str, n_arguments: int) -> bool:
        return self.database.relation(name, n_arguments) is not None

    def has_function(self, name: str, n_arguments: int) -> bool:
        return self.database.function(name, n_arguments) is not None

    def matching(self, name: str, n_arguments: int, is_function: bool, known: Mapping[int, Value]) -> list[Row]:
        """The rows that have these values in these columns."""
        columns = tuple(sorted(known))
        key = (name, n_arguments, is_function, columns)
        index = self._indexes.get(key)
        if index is None:
            index = {}
            for row in self._rows(name, n_arguments, is_function):
                index.setdefault(tuple(row[column] for column in columns), []).append(row)
            self._indexes[key] = index
        return index.get(tuple(known[column] for column in columns), [])

    def things(self) -> list[Value]:
        """All things and numbers, in order."""
        if self._things is None:
            self._things = in_order(set(self.database.things()))
        return self._things

    def _rows(self, name: str, n_arguments: int, is_function: bool) -> Collection[Row]:
        found = (self.database.function if is_function else self.database.relation)(name, n_arguments)
        if found is None:
            kind = "function" if is_function else "relation"
            plural = "" if n_arguments == 1 else "s"
            raise MeaningError(f"the database has no {kind} {name} of {n_arguments} argument{plural}")
        return found
