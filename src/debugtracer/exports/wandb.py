"""An offline run for Weights & Biases, which `wandb sync` sends if the user wants it. Needs the package wandb."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from debugtracer.errors import UsageError
from debugtracer.exports.export import Export, ending_of, rows_of
from debugtracer.exports.progress import Progress
from debugtracer.trace.store.reader import Trace
from debugtracer.views.view import findings
from debugtracer.views.words.action_lines import COLUMNS, action_lines


@dataclass(frozen=True)
class WeightsAndBiases(Export):
    """One offline run a rank, in one group; nothing is sent."""

    word: ClassVar[str] = "wandb"

    def write(self, trace: Trace, folder: Path, progress: Progress | None = None) -> Path:
        """Write a run for each rank. Raises UsageError without the package."""
        os.environ["WANDB_ERROR_REPORTING"] = "false"  # it would tell its makers of errors, read at import
        try:
            import wandb
        except ImportError:
            raise UsageError(
                "export --to wandb: wandb is not installed: pip install 'torch-debug-tracer[wandb]'"
            ) from None
        progress = progress or Progress()
        found, ending = findings(trace), ending_of(trace)
        for rank in trace.ranks:
            run = progress.open.get(rank) or wandb.init(
                mode="offline", dir=str(folder), project="debug-tracer", group=trace.path.name,
                name=f"{trace.path.name}-rank{rank}", config={"rank": rank, **ending}, settings=quiet(wandb),
            )  # fmt: skip
            progress.open[rank] = run
            for step, values in rows_of(trace, rank, progress):
                run.log(values, step=step)
            if not progress.over:
                continue
            mine = [[f.step, f.severity, f.check, f.message] for f in found if f.rank == rank]
            if mine:
                run.log({"findings": wandb.Table(columns=["step", "severity", "check", "message"], data=mine)})
            done = [line.cells for line in action_lines(trace, rank)]
            if done:
                run.log({"actions": wandb.Table(columns=[*COLUMNS], data=done)})
            run.summary.update(ending)
            run.finish()
        if progress.over:
            wandb.teardown()  # only then the files are whole: a process of its own writes them
        return folder / "wandb"


def quiet(wandb: Any) -> Any:
    """Make settings without anything of the machine, the console or the code that exports."""
    return wandb.Settings(
        console="off", silent=True, disable_git=True, save_code=False, x_disable_stats=True, x_disable_meta=True,
        x_disable_machine_info=True, x_save_requirements=False,
    )  # fmt: skip
