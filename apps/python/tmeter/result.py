"""The result of `tmeter.analyze`."""

from __future__ import annotations

import copy
import json
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .errors import UsageError
from .module_tree import ModuleNode, tree_of
from .program import run
from .source import Page, check, saved, show
from .summary import summary
from .totals import Totals
from .wording import did_you_mean

if TYPE_CHECKING:
    import pandas
    import pyarrow

    from .diff import Diff


@dataclass(frozen=True)
class ExportInfo:
    """The export of a live module.

    Attributes:
        way: the way that worked, e.g. ``"torch.export, non-strict"``.
        failed: earlier attempts, each with the reason of its failure.
        notes: differences from the module as given (a cache switched off, hooks left out).
        seconds: duration of the export, failed ways included.
        blind: the blind spots of this way.
        compared: with ``via="all"`` the other ways that worked, each with how its totals compare.
    """

    way: str
    failed: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    seconds: float
    blind: str = ""
    compared: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        seen = f", which {self.blind}" if self.blind else ""
        lines = [f"exported by {self.way} in {self.seconds:.1f} s{seen}"]
        lines += [f"  not by {way}: {why}" for way, why in self.failed]
        lines += [f"  {note}" for note in self.notes]
        lines += [f"  {way}: {how}" for way, how in self.compared]
        return "\n".join(lines)


class Result:
    """The values of one model.

    ``print(result)`` writes the text report; `export` describes the export of a live module. A notebook
    shows a summary; `page` is the interactive report. ``result.macs``, ``result["macs"]`` and
    ``result.totals["macs"]`` are the same number: a Python integer or float in the unit of its metric
    (counts, MACs, FLOPs, bytes, joules).

    Attributes:
        export: the export of a live module; None for a file.
        warnings: notes for readers of the values.
    """

    def __init__(
        self,
        report: dict[str, Any],
        export: ExportInfo | None = None,
        messages: Sequence[str] = (),
    ) -> None:
        self._report = report
        self._tree: ModuleNode | None = None
        self.export = export
        self.warnings: tuple[str, ...] = (*report["warnings"], *messages)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Result:
        """Loads a result that `to_json` or ``tmeter --report json=FILE`` has written.

        Raises:
            ModelError: the file is not a report; the message has the reason.
        """
        with tempfile.TemporaryDirectory(prefix="tmeter-") as folder:
            file = Path(folder) / "report.json"
            run(["show", "--report", f"json={file}", "--", os.fspath(path)])
            return cls(json.loads(file.read_text(encoding="utf-8")))

    # Metrics

    def __getitem__(self, metric: str) -> int | float | None:
        """Like `total`."""
        return self.total(metric)

    if TYPE_CHECKING:  # the metrics of most reports, declared so that type checkers find misspelt names
        params: int | None
        params_trainable: int | None
        macs: int | None
        flops: int | None
        param_bytes: int | None
        output_bytes: int | None
        peak_activation_bytes: int | None
        predicted_peak_bytes: int | None
        energy: float | None
        infer_time: float | None
        throughput: float | None
    else:

        def __getattr__(self, name: str) -> int | float | None:
            """Like `total`, for every metric of this report."""
            report = self.__dict__.get("_report")
            if report is None or not any(m["id"] == name for m in report["metrics"]):
                known = [m["id"] for m in (report or {"metrics": ()})["metrics"]]
                raise AttributeError(
                    f"a result has neither an attribute nor a metric {name!r}"
                    f"{did_you_mean(name, [*known, *super().__dir__()])}; metrics: {', '.join(known)}"
                )
            return report["totals"].get(name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.metrics})

    def total(self, metric: str) -> int | float | None:
        """The metric of the whole model, e.g. ``total("macs")``; None: see `status`.

        Raises:
            UsageError: there is no such metric in this report.
        """
        self._require(metric)
        value: int | float | None = self._report["totals"].get(metric)
        return value

    def status(self, metric: str) -> str | None:
        """The status of a total; None: it is a plain number.

        ``"lower_bound"`` (a part has no value), ``"partial"``, ``"assumed"`` (it rests on an
        assumption that a warning names), ``"unknown"`` (no rule),
        ``"unavailable"``, ``"not_finite"``, ``"zero_by_rule"``.

        Raises:
            UsageError: there is no such metric in this report.
        """
        self._require(metric)
        status: str | None = self._report["totals_status"].get(metric)
        return status

    @property
    def metrics(self) -> list[str]:
        """Ids of all metrics of this report."""
        return [m["id"] for m in self._report["metrics"]]

    @property
    def coverage(self) -> dict[str, Any] | None:
        """The numbers of operators that are counted, zero by rule and unknown, and the names of unknown ones."""
        coverage: dict[str, Any] | None = copy.deepcopy(self._report["coverage"])
        return coverage

    def _require(self, metric: str) -> None:
        if metric not in self.metrics:
            raise UsageError(
                f"there is no metric {metric!r} in this report{did_you_mean(metric, self.metrics)}; "
                f"there are {', '.join(self.metrics)}; more come with plugins= and request="
            )

    # Tables

    @property
    def totals(self) -> Totals:
        """Each metric of the whole model: a mapping of metric ids, and a table by ``frame("totals")``."""
        values = self._report["totals"]
        return Totals({m: values.get(m) for m in self.metrics}, lambda: self.frame("totals"))

    @property
    def root(self) -> ModuleNode:
        """The module tree as objects with ``parent``, ``children`` and ``metrics``."""
        if self._tree is None:
            self._tree = tree_of(self._report)
        return self._tree

    def module(self, where: str) -> ModuleNode:
        """The module with a dot path (``"layer1.0"``) or an id (``"5.1"``).

        Raises:
            UsageError: no module has that path or id.
        """
        return self.root.find(where)

    def part(self, where: str) -> Result:
        """The report of one module, by path or id. Ids, totals and shares refer to this module.

        Findings about other modules are left out; `tmeter.analyze` with ``root=`` analyses the part
        itself.

        Raises:
            UsageError: there is no such module.
        """
        report = json.loads(show(self._report, "json", [f"--root={where}"]))
        return Result(report, self.export)

    @property
    def modules(self) -> pandas.DataFrame:
        """The module tree; index: dot path, ``""`` for the root. Values include the modules inside."""
        return self.frame("modules")

    @property
    def operators(self) -> pandas.DataFrame:
        """Operator calls in execution order; index: dot path of the module."""
        return self.frame("operators")

    @property
    def tensors(self) -> pandas.DataFrame:
        """Parameters, buffers and constants; index: dot path."""
        return self.frame("tensors")

    @property
    def findings(self) -> pandas.DataFrame:
        """The findings of analyses, most severe first; index: rule."""
        return self.frame("findings")

    def frame(
        self, table: str, *, leading_dot: bool = False, only: str | None = None
    ) -> pandas.DataFrame:
        """One of the tables as a data frame.

        Of modules, `leading_dot` begins each path with a dot (``.layer1.0``), and ``only="trainable"``
        keeps those that hold trainable parameters, themselves or inside.

        A cell without a number is ``<NA>``, and ``METRIC_status`` has the reason. That column exists if
        any cell of the table has a status.

        Raises:
            UsageError: no such table, or pandas is not installed.
        """
        from .frames import frame

        return frame(self._report, table, leading_dot=leading_dot, only=only)

    def to_arrow(self, table: str = "modules") -> pyarrow.Table:
        """One of the tables as an Arrow table; a cell without a number is null.

        Raises:
            UsageError: no such table, or pyarrow is not installed.
        """
        from .frames import arrow

        return arrow(self._report, table)

    def to_dict(self) -> dict[str, Any]:
        """The JSON report (docs/schema/tmeter-report-1.schema.json), a copy of its own."""
        return copy.deepcopy(self._report)

    # Reports

    def to_text(self, path: str | os.PathLike[str] | None = None, **options: Any) -> str:
        """The report for terminals; options are those of the command line, as in ``depth=2``."""
        return _written(show(self._report, "text", _view(options)), path)

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str:
        """A self-contained interactive page."""
        return _written(show(self._report, "html"), path)

    def page(self) -> Page:
        """The interactive page for a notebook, which stores all of it: 300 KB or more."""
        return Page(self.to_html())

    def to_markdown(self, path: str | os.PathLike[str] | None = None) -> str:
        """Markdown for reviews and build servers."""
        return _written(show(self._report, "markdown"), path)

    def to_csv(self, path: str | os.PathLike[str] | None = None, by: str = "module") -> str:
        """One row for each module, operator, type or tensor, with exact numbers (docs/reports/csv.md)."""
        return _written(show(self._report, "csv", [f"--by={by}"]), path)

    def to_excel(self, path: str | os.PathLike[str]) -> None:
        """A workbook with a sheet for each table (docs/reports/xlsx.md)."""
        with saved(self._report) as file:
            run(["show", "--quiet", "--report", f"xlsx={os.fspath(path)}", file])

    def to_xml(self, path: str | os.PathLike[str] | None = None) -> str:
        """The whole report by docs/schema/tmeter-report-1.xsd."""
        return _written(show(self._report, "xml"), path)

    def to_dot(self, path: str | os.PathLike[str] | None = None) -> str:
        """A graph for Graphviz; ``dot -Tsvg`` draws it."""
        return _written(show(self._report, "dot"), path)

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """The JSON report; `tmeter.Result.load` and ``tmeter show`` read it again."""
        return _written(json.dumps(self._report, ensure_ascii=False), path)

    def __str__(self) -> str:
        return self.to_text().rstrip("\n")

    def __repr__(self) -> str:
        values = [
            f"{self.status(m) or ''} {self.total(m):,} {m}".strip()
            for m in ("params", "macs")
            if m in self.metrics and self.total(m) is not None
        ]
        name = self._report["model"]["name"] or self._report["model"]["file"]
        return f"<tmeter.Result {name}: {', '.join(values)}>"

    def _repr_html_(self) -> str:
        return summary(self._report, self.warnings)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": str(self), "text/html": self._repr_html_()}

    # Judgement

    def assert_(self, *bounds: str) -> Result:
        """Raises unless every bound holds, as in ``assert_("macs<=5G", "coverage==100%")``.

        The language is that of ``--assert`` (docs/command-line.md). A bound on an unknown value does not hold.

        Returns:
            This result.

        Raises:
            BudgetError: names all failed bounds with their values; it is an ``AssertionError``.
            UsageError: a bound is malformed.
        """
        if bounds:
            check(self._report, bounds)
        return self

    def diff(self, other: Result) -> Diff:
        """The differences of `other` from this result, by the native ``tmeter diff``."""
        from .diff import Diff

        return Diff(self, other)


def _view(options: dict[str, Any]) -> list[str]:
    """Options of the text report: ``depth=2`` → ``--depth=2``, ``raw=True`` → ``--raw``."""
    arguments = []
    for key, value in options.items():
        name = "--" + key.replace("_", "-")
        if value is True:
            arguments.append(name)
        elif value is not False and value is not None:
            arguments.append(f"{name}={value}")
    return arguments


def _written(text: str, path: str | os.PathLike[str] | None) -> str:
    """Writes the text if there is a path: the whole file or none."""
    if path is None:
        return text
    target = Path(path)
    part = target.with_name(target.name + f".part-{os.getpid()}")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
    return text
