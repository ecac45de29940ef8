"""A database for MLflow: metrics, parameters, findings and actions as artifacts. Needs mlflow or mlflow-skinny."""

from __future__ import annotations

import itertools
import logging
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from debugtracer.errors import UsageError
from debugtracer.exports.export import Export, clock_of, ending_of, second_of, series_of
from debugtracer.exports.progress import Progress
from debugtracer.trace.store.reader import Trace
from debugtracer.views.view import findings
from debugtracer.views.words.action_lines import COLUMNS, action_lines

BATCH = 1000  # metrics that one call takes (MLflow's limit)
LONGEST = 250  # of a metric's name (MLflow's limit)
REFUSED = re.compile(r"[^\w\-. :/]")


@dataclass(frozen=True)
class MlFlow(Export):
    """One run a rank: `mlflow ui --backend-store-uri sqlite:///FOLDER/mlflow.db`."""

    word: ClassVar[str] = "mlflow"

    def write(self, trace: Trace, folder: Path, progress: Progress | None = None) -> Path:
        """Write a database in which each rank is a run. Raises UsageError without the package."""
        os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"  # it would tell its makers of its use, read at import
        try:
            import alembic  # noqa: F401
            import sqlalchemy  # noqa: F401
            from mlflow import MlflowClient
            from mlflow.entities import Metric, Param
        except ImportError:
            raise UsageError(
                "export --to mlflow: mlflow is not installed: pip install 'torch-debug-tracer[mlflow]'"
            ) from None
        logging.getLogger("mlflow").setLevel(logging.WARNING)
        logging.getLogger("alembic").setLevel(logging.WARNING)
        path = folder.resolve() / "mlflow.db"
        client = MlflowClient(tracking_uri=f"sqlite:///{path}")
        known = client.get_experiment_by_name("debug-tracer")
        experiment = (
            known.experiment_id
            if known is not None
            else client.create_experiment("debug-tracer", artifact_location=(folder.resolve() / "artifacts").as_uri())
        )
        progress = progress or Progress()
        found, ending = findings(trace), ending_of(trace)
        for rank in trace.ranks:
            began, clock = trace.manifest.started_at, clock_of(trace, rank)
            run = progress.open.get(rank) or client.create_run(
                experiment, start_time=ms(began), run_name=f"{trace.path.name}-rank{rank}"
            )
            progress.open[rank] = run
            points = (
                Metric(name, value, ms(began + second_of(clock, step)), step)
                for name, steps, values in named(series_of(trace, rank, progress), progress.names.setdefault(rank, {}))
                for step, value in zip(steps, values, strict=True)
            )
            for batch in batches(points):
                client.log_batch(run.info.run_id, metrics=batch)
            if not progress.over:
                continue
            client.log_batch(run.info.run_id, params=[Param(name, str(value)) for name, value in ending.items()])
            mine = [[f.step, f.severity, f.check, f.message] for f in found if f.rank == rank]
            if mine:
                table = {"columns": ["step", "severity", "check", "message"], "data": mine}
                client.log_dict(run.info.run_id, table, "findings.json")
            done = [line.cells for line in action_lines(trace, rank)]
            if done:
                client.log_dict(run.info.run_id, {"columns": COLUMNS, "data": done}, "actions.json")
            failed = trace.manifest.exit_code not in (0, None)
            client.set_terminated(run.info.run_id, "FAILED" if failed else "FINISHED", ms(began + last(clock)))
        return path


def named(
    series: Iterable[tuple[str, list[int], list[float]]], known: dict[str, str] | None = None
) -> Iterator[tuple[str, list[int], list[float]]]:
    """Give each series a name that MLflow takes, the one that it has in `known`; two that would become one are
    numbered."""
    known = {} if known is None else known
    for name, steps, values in series:
        if name in known:
            yield known[name], steps, values
            continue
        taken = set(known.values())
        plain = REFUSED.sub("_", name)[: LONGEST - 6].strip("/. ") or "_"
        plain = "/".join(part if part.strip(".") else "_" for part in plain.split("/"))  # a name is a path there
        free = next(one for n in itertools.count(1) if (one := plain if n == 1 else f"{plain} {n}") not in taken)
        known[name] = free
        yield free, steps, values


def batches(points: Iterable[Any]) -> Iterator[list[Any]]:
    """Yield lists of at most BATCH points."""
    every = iter(points)
    while batch := list(itertools.islice(every, BATCH)):
        yield batch


def ms(seconds: float) -> int:
    """The same time in milliseconds, as MLflow counts it."""
    return int(1000 * seconds)


def last(clock: dict[int, float]) -> float:
    """The seconds at the end of the last step."""
    return max(clock.values(), default=0.0)
