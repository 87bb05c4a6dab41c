"""The table of a run as JSON lines and Parquet: a row for each model. It is not held in memory."""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, overload

from .ledger import Row
from .output import Output

#: Columns of every row, before the metrics.
FACTS = (
    "model source status error error_kind report shards bytes seconds fetch_seconds tries nodes"
).split()
_WHOLE_FACTS = {"shards", "bytes", "tries"}
_REAL_FACTS = {"seconds", "fetch_seconds"}
#: Units of integers, which give the type of a column without values.
_COUNTS = {"count", "op", "byte"}

ROWS_NAME, PARQUET_NAME = "models.jsonl", "models.parquet"
#: The most rows of a Parquet file. A longer table is a folder of such files.
ROWS_EACH = 50_000
#: The most rows that are kept in memory. A longer table is read on demand.
_IN_MEMORY = 10_000
#: The offset of every 256th row is kept.
_OFFSET_STEP = 256


class Rows(Sequence[Row]):
    """The rows of ``models.jsonl``, in the order of the models."""

    def __init__(self, output: Output, count: int, places: array[int], size: int) -> None:
        """places: offsets of every 256th line; size: bytes of the file."""
        self._output, self._count, self._places, self._size = output, count, places, size
        self._rows_in_memory: list[Row] | None = None
        if count <= _IN_MEMORY:
            self._rows_in_memory = list(self._from(0, count))

    @classmethod
    def read(cls, output: Output) -> Rows:
        """Reads the file to find its lines. Raises FileNotFoundError.

        A cut line at the end (the disk was full) is ignored.
        """
        places = array("q")
        count = size = 0
        with output.open(ROWS_NAME) as file:
            for line in file:
                if not line.endswith(b"\n"):
                    break
                if count % _OFFSET_STEP == 0:
                    places.append(size)
                count += 1
                size += len(line)
        return cls(output, count, places, size)

    @classmethod
    def reopened(cls, output: Output, location: Any) -> Rows:
        """Opens the file by `location` of an earlier `Rows`, if that describes it. Raises FileNotFoundError."""
        try:
            count, size, places = location["rows"], location["bytes"], array("q", location["places"])
            if size == output.size(ROWS_NAME) and len(places) == -(-count // _OFFSET_STEP):
                return cls(output, count, places, size)
        except (KeyError, TypeError, OverflowError):
            pass
        return cls.read(output)

    @property
    def location(self) -> Row:
        """Data by which `reopened` opens the file without reading it."""
        return {"rows": self._count, "bytes": self._size, "places": self._places.tolist()}

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Row]: ...
    def __getitem__(self, index: int | slice) -> Row | Sequence[Row]:
        if self._rows_in_memory is not None:
            return self._rows_in_memory[index]
        indices = range(self._count)[index]
        if isinstance(indices, int):
            return next(self._from(indices, indices + 1))
        if indices.step < 0:
            return list(reversed(self[indices[-1] : indices[0] + 1 : -indices.step])) if indices else []
        return list(self._from(indices.start, indices.stop, indices.step))

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows_in_memory) if self._rows_in_memory is not None else self._from(0, self._count)

    def _from(self, start: int, stop: int, step: int = 1) -> Iterator[Row]:
        if start >= stop:
            return
        with self._output.open(ROWS_NAME) as file:
            file.seek(self._places[start // _OFFSET_STEP])
            skipped = start % _OFFSET_STEP
            for line in islice(file, skipped, skipped + stop - start, step):
                yield json.loads(line)

    def __repr__(self) -> str:
        return f"<{len(self):,} rows>"


class Columns:
    """The columns and the types of their values, collected row by row."""

    def __init__(self, metrics: Sequence[Row]) -> None:
        self._metrics = list(metrics)
        self._kinds: dict[str, set[type]] = {}
        self.statuses: set[str] = set()

    def add_row(self, row: Row) -> None:
        for metric in self._metrics:
            key = metric["id"]
            value = row.get(key)
            if value is not None:
                kind = type(value)
                if kind is int and not -(2**63) <= value < 2**63:
                    kind = float
                self._kinds.setdefault(key, set()).add(kind)
            if row.get(f"{key}_status") is not None:
                self.statuses.add(key)

    @property
    def metrics(self) -> list[Row]:
        """Metrics that apply to at least one row."""
        return [m for m in self._metrics if m["id"] in self._kinds or m["id"] in self.statuses]

    @property
    def names(self) -> list[str]:
        """All columns, without columns of statuses that are empty."""
        out = list(FACTS)
        for metric in self.metrics:
            out.append(metric["id"])
            if metric["id"] in self.statuses:
                out.append(f"{metric['id']}_status")
        return out

    def kind(self, name: str) -> type:
        """int, float or str, the same in every part of the table."""
        metric = next((m for m in self.metrics if m["id"] == name), None)
        if metric is None:
            return int if name in _WHOLE_FACTS else float if name in _REAL_FACTS else str
        kinds = self._kinds.get(name)
        if not kinds:
            return int if metric["unit_kind"] in _COUNTS else float
        return int if kinds <= {int, bool} else float if kinds <= {int, bool, float} else str


def write_rows(output: Output, rows: Iterable[Row], columns: Columns) -> Rows:
    """Writes ``models.jsonl``."""
    places = array("q")
    count = size = 0
    with output.writing(ROWS_NAME) as new, open(new, "wb") as file:
        for row in rows:
            columns.add_row(row)
            if count % _OFFSET_STEP == 0:
                places.append(size)
            count += 1
            size += file.write(json.dumps(row).encode() + b"\n")
    return Rows(output, count, places, size)


def write_parquet(output: Output, rows: Iterable[Row], count: int, columns: Columns) -> bool:
    """Writes ``models.parquet``; a large table becomes a folder of files with one schema. False: pyarrow is missing."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        return False
    schema = _schema(columns)
    names = [PARQUET_NAME]
    if count > ROWS_EACH:
        names = [f"{PARQUET_NAME}/part-{n:05}.parquet" for n in range(-(-count // ROWS_EACH))]
        output.remove(PARQUET_NAME)
    remaining = iter(rows)
    for name in names:
        with (
            output.writing(name) as new,
            open(new, "wb") as file,  # pyarrow accepts UTF-8 paths only
            pyarrow.parquet.ParquetWriter(file, schema) as writer,
        ):
            written = 0
            while written < min(ROWS_EACH, max(count, 1)):
                chunk = [row for _, row in zip(range(_CHUNK), remaining)]
                if not chunk:
                    break
                written += len(chunk)
                writer.write_table(_table(chunk, columns, schema))
    return True


_CHUNK = 5_000


def _schema(columns: Columns) -> Any:
    import pyarrow

    types = {int: pyarrow.int64(), float: pyarrow.float64(), str: pyarrow.string()}
    descriptions = {
        m["id"]: f"{m['title']} [{m['unit'] or m['unit_kind']}]: {m['convention']}"
        for m in columns.metrics
    }
    return pyarrow.schema(
        pyarrow.field(n, types[columns.kind(n)], metadata={"tmeter": descriptions[n]} if n in descriptions else None)
        for n in columns.names
    )


def _table(rows: Sequence[Row], columns: Columns, schema: Any) -> Any:
    import pyarrow

    arrays = []
    for field in schema:
        kind = columns.kind(field.name)
        values = [row.get(field.name) for row in rows]
        if kind is str:
            values = [None if v is None else _storable(str(v)) for v in values]
        elif kind is float:
            values = [None if v is None else float(v) for v in values]
        arrays.append(pyarrow.array(values, field.type))
    return pyarrow.Table.from_arrays(arrays, schema=schema)


def _storable(value: str) -> str:
    """Replaces bytes that are not UTF-8, which names of files may have and Parquet's text may not."""
    return value.encode("utf-8", "backslashreplace").decode("utf-8")
