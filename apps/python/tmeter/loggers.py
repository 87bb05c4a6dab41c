"""Totals of a result for experiment trackers. Thin: the trackers are imported when they are used.

Only numbers are logged. A lower bound (a part has no value) is logged under ``NAME_lower_bound``, a total
that rests on an assumption under ``NAME_assumed``, so that no chart mistakes it for the exact value. Unknown and
unavailable totals are left out. Units are those of ``result.totals["unit"]``.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .errors import UsageError

if TYPE_CHECKING:
    from .result import Result


def scalars(result: Result, prefix: str = "tmeter/") -> dict[str, float]:
    """Name → value of every total that is a number."""
    found: dict[str, float] = {}
    for metric in result.metrics:
        value, status = result.total(metric), result.status(metric)
        if value is None:
            continue
        suffix = f"_{status}" if status in ("lower_bound", "partial", "assumed") else ""
        found[f"{prefix}{metric}{suffix}"] = float(value)
    return found


def log_mlflow(result: Result, *, prefix: str = "tmeter/", report: bool = True) -> None:
    """Metrics of the active MLflow run, and ``tmeter.html`` as an artifact.

    Raises:
        UsageError: MLflow is not installed.
    """
    try:
        import mlflow
    except ImportError as error:
        raise UsageError("this needs MLflow: pip install mlflow") from error
    mlflow.log_metrics(scalars(result, prefix))
    if report:
        with tempfile.TemporaryDirectory(prefix="tmeter-") as folder:
            page = Path(folder) / "tmeter.html"
            result.to_html(page)
            mlflow.log_artifact(str(page))


def log_wandb(
    result: Result, run: Any = None, *, prefix: str = "tmeter/", report: bool = True
) -> None:
    """The summary of a Weights & Biases run (default: the current one), and the page as HTML.

    Raises:
        UsageError: wandb is not installed, or there is no run.
    """
    try:
        import wandb
    except ImportError as error:
        raise UsageError("this needs Weights & Biases: pip install wandb") from error
    run = run if run is not None else wandb.run
    if run is None:
        raise UsageError("no run is active: wandb.init() starts one")
    run.summary.update(scalars(result, prefix))
    if report:
        run.log({f"{prefix}report": wandb.Html(result.to_html(), inject=False)})


def log_tensorboard(
    result: Result, writer: Any, step: int = 0, *, prefix: str = "tmeter/", report: bool = True
) -> None:
    """Scalars, and the text report, of a ``torch.utils.tensorboard.SummaryWriter``."""
    for name, value in scalars(result, prefix).items():
        writer.add_scalar(name, value, step)
    if report:
        indented = "\n".join("    " + line for line in result.to_text().splitlines())
        writer.add_text(f"{prefix}report", indented, step)
