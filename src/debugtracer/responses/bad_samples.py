"""What is learned from a batch that was left out: which samples it held, and which of them is bad in itself."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor

from debugtracer.errors import swallow
from debugtracer.recorder.dataset_name import dataset_length, dataset_name
from debugtracer.recorder.left_out_samples import LeftOutSamples
from debugtracer.recorder.output.output import Output
from debugtracer.recorder.run_state import RunState, several_ranks
from debugtracer.recorder.state.leaves import leaves_of
from debugtracer.recorder.tape.batches import Batch, BatchLog
from debugtracer.responses.action_log import ActionLog
from debugtracer.responses.bad_step import BadStep, SeenBatch
from debugtracer.responses.budget import Budget
from debugtracer.trace.counted import counted
from debugtracer.trace.store.skip_list import SkippedSamples, append
from debugtracer.trace.verdict import Verdict

SKIP_SAMPLE, SKIP_BATCH = "skip-sample", "skip-batch"
LARGEST = 4_000_000  # elements of a batch that are looked at before it is handed out (ours: about a millisecond)


class BadSamples:
    """One per process, in modes val and prod. Batches are looked at only once the data were found bad."""

    def __init__(
        self, state: RunState, batches: BatchLog, left_out: LeftOutSamples, output: Output, log: ActionLog
    ) -> None:
        self.state, self.batches, self.left_out, self.output, self.log = state, batches, left_out, output, log
        self.budget = Budget()
        self.suspects: set[tuple[str, int]] = set()
        """Samples that a verdict has named once, though their values are good."""

    def reset(self, budget: Budget) -> None:
        """Begin anew with this budget."""
        self.budget = budget
        self.suspects.clear()
        self.left_out.reset()

    def learn(self, bad: BadStep, verdict: Verdict | None) -> None:
        """Write down what was left out with a step; a sample that is bad in itself is left out from now on."""
        batch = self.batches.last()
        if batch is None:
            return
        dataset = self.dataset_of(batch)
        guilty: tuple[int, ...] = ()
        if verdict is not None and verdict.step == bad.step and verdict.sample_index:
            named = {(dataset, index) for index in verdict.sample_index}
            in_data = verdict.layer == "data"
            guilty = tuple(i for _, i in sorted(named if in_data else named & self.suspects))
            self.suspects |= named
            if in_data and not several_ranks():
                self.left_out.screen_with(self.screen)
        self.write(SkippedSamples(
            dataset=dataset, samples=guilty, batch=bad.samples or (), step=bad.step, rank=self.output.rank, why=bad.seen
        ))  # fmt: skip
        self.leave_out(bad, dataset, batch, guilty)

    def leave_out(self, bad: BadStep | SeenBatch, dataset: str, batch: Batch, guilty: tuple[int, ...]) -> None:
        """Leave samples out from now on, where that is no more than a share of the dataset."""
        new = tuple(index for index in guilty if index not in self.left_out.known.get(dataset, ()))
        if not new:
            return
        named = ", ".join(map(str, new))
        if not self.left_out.may_add(dataset, length(batch), new):
            why = f"sample {named} of {dataset} stays in: more than 0.5 % of it were left out already"
            self.output.note("responses", why)
            return
        self.left_out.add(dataset, new)
        self.log.noted(
            bad,
            SKIP_SAMPLE,
            f"{counted(len(new), 'sample')} of {dataset} left out from now on ({named}): its neighbour takes the place "
            "in a batch, and no update is spent on it",
            new,
        )

    def screen(self, data: Any) -> bool:
        """True for a batch that holds a value which is not finite: it is not handed out."""
        try:
            leaves = [leaf for _, leaf in leaves_of(data) if leaf.is_floating_point() and leaf.is_cpu]
            if sum(leaf.numel() for leaf in leaves) > LARGEST or not any(map(is_bad, leaves)):
                return False
            return self.drop(leaves)
        except Exception as error:
            swallow("responses.bad_samples", error)
            return False

    def drop(self, leaves: list[Tensor]) -> bool:
        """Leave a batch out, where the budget allows it."""
        step, batch = self.state.step, self.batches.last()
        if batch is None or self.budget.refuses_drop(step):
            return False
        rows = sorted({row for leaf in leaves for row in bad_rows(leaf)})
        guilty, dataset = batch.samples(rows) or (), self.dataset_of(batch)
        seen = SeenBatch(step, self.state.iteration, batch.indices, guilty=guilty)
        self.budget.dropped(step)
        self.log.noted(seen, SKIP_BATCH, "it was not handed to the loop, which got the next one", seen.samples)
        self.write(SkippedSamples(
            dataset=dataset, samples=guilty, batch=seen.samples or (), step=step, rank=self.output.rank, why=seen.seen
        ))  # fmt: skip
        self.leave_out(seen, dataset, batch, guilty)
        return True

    def write(self, entry: SkippedSamples) -> None:
        """Add a line to the list of the run, where there is one."""
        if self.output.folder is not None:
            try:
                append(self.output.folder, entry)
            except OSError as error:
                self.output.note("responses", f"the list of skipped samples cannot be written ({error})")

    def dataset_of(self, batch: Batch) -> str:
        """What the dataset of a batch is called; that of the last pass where it is gone."""
        dataset = batch.loader.data() if batch.loader.data is not None else None
        return dataset_name(dataset) if dataset is not None else self.left_out.latest


def length(batch: Batch) -> int | None:
    """The length of the dataset of a batch; None where it is not known."""
    dataset = batch.loader.data() if batch.loader.data is not None else None
    return None if dataset is None else dataset_length(dataset)


def is_bad(leaf: Tensor) -> bool:
    """True if a value is not finite."""
    return not math.isfinite(float(leaf.sum(dtype=torch.float64))) and not bool(leaf.isfinite().all())


def bad_rows(leaf: Tensor) -> Iterable[int]:
    """The rows that hold a value which is not finite."""
    return torch.nonzero(~leaf.isfinite().reshape(len(leaf), -1).all(1)).flatten().tolist() if leaf.dim() else ()
