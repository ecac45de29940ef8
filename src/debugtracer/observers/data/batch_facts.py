"""Summarises every batch while that is cheap: its schema, statistics of each tensor, and anomalies."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any

import torch
from torch import Tensor, nn

from debugtracer.observers.data.baseline import Baseline
from debugtracer.observers.data.batch_anomalies import Anomaly, of_batch, of_floats, of_integers, of_masks, of_texts
from debugtracer.observers.data.summary_budget import SummaryBudget
from debugtracer.observers.data.tensor_summary import TensorSummary, look_at, readable
from debugtracer.observers.loaders.loader_history import LoaderHistories, LoaderHistory
from debugtracer.observers.loaders.refetch import refetch
from debugtracer.observers.loss.loss_rows import OutlyingLoss
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer
from debugtracer.recorder.governor import Part
from debugtracer.recorder.tape.batches import Batch, LoaderInfo
from debugtracer.recorder.tape.entry import tensors
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.batch_content import BatchChange, BatchOddity, BatchProfile, BatchSchema, LeafSchema
from debugtracer.trace.number import number

MOST_LEAVES = 32  # tensors of a batch that are looked at (ours)
MOST_EMITTED = 60  # anomalies of one kind and loader (ours)
MOST_ROWS = 256  # rows and dataset indices that one anomaly names (ours)
REFETCHED = 3  # samples fetched again per run at most (ours)
PATIENCE = 2  # backward calls that an anomaly waits for its batch to be used (ours)


@dataclass
class PendingBatch:
    """An anomaly whose batch has not been used yet."""

    batch: Batch
    history: LoaderHistory
    anomaly: Anomaly
    iteration: int
    used: bool = False
    reached: str = ""
    spoiled: bool = False
    module: str = ""
    frame: Frame | None = None


class BatchFacts(Observer):
    """CPU tensors only; a batch on a device is known by its schema. Holds no tensor: the batches are the log's."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.histories = LoaderHistories()
        self.budget = SummaryBudget()
        self.pending: list[PendingBatch] = []
        self.latest: LoaderHistory | None = None
        self.refetched = 0
        self.skipped: tuple[LoaderHistory, Batch] | None = None
        """The last batch, when it was not looked at."""
        self.standout = OutlyingLoss()

    def reset(self) -> None:
        self.histories.clear()
        self.pending.clear()
        self.latest, self.budget, self.refetched = None, SummaryBudget(), 0
        self.skipped, self.standout = None, OutlyingLoss()

    def missed(self) -> None:
        """Leave the batches in flight: what became of them was not seen."""
        self.pending.clear()
        self.latest = self.skipped = None
        self.standout = OutlyingLoss()

    def loader_iterated(self, info: LoaderInfo, iterator: Any) -> None:
        """Begin an epoch of this loader."""
        self.histories.of(info).begin_epoch()

    def fetched(self, batch: Batch, data: Any) -> None:
        """Read the schema always, values when affordable."""
        history = self.latest = self.histories.of(batch.loader)
        history.seen += 1
        self.notice(history, batch)
        affordable = self.run.affords(Part.SUMMARIES) and self.budget.open()
        self.skipped = None if affordable else (history, batch)
        if self.skipped is None:
            self.spend(history, batch, data)

    def spend(self, history: LoaderHistory, batch: Batch, data: Any) -> None:
        """Summarise, and count the time of this thread that it takes."""
        begin = perf_counter()
        with torch.no_grad(), torch._C.DisableTorchFunctionSubclass():
            self.summarise(history, batch, data)
        self.budget.spend(perf_counter() - begin)

    def notice(self, history: LoaderHistory, batch: Batch) -> None:
        """Emit a new or changed schema."""
        leaves = [(path, history.by_samples(leaf, batch)) for path, leaf in batch.tensors()]
        fresh, changes = history.schemas.push(leaves)
        ref = self.run.ref("load")
        if fresh is not None and len(history.schemas.known) <= MOST_LEAVES:
            told = tuple(
                LeafSchema(path=k.path, dtype=k.dtype, device=k.device, layout=k.layout, shape=k.shape) for k in fresh
            )
            self.run.emit(BatchSchema(ref=ref, loader=history.note, leaves=told))
        for one in changes:
            if not history.is_length(one) and self.may_tell(history, "change"):
                samples = batch.indices[:MOST_ROWS] if batch.indices is not None else None
                self.run.emit(
                    BatchChange(
                        ref=ref,
                        loader=history.note,
                        batch=batch.number,
                        rows=batch.rows,
                        samples=samples,
                        **one._asdict(),
                    )
                )

    def summarise(self, history: LoaderHistory, batch: Batch, data: Any) -> None:
        """Summarise all readable leaves of the batch."""
        history.looked += 1
        seen: list[tuple[str, Tensor, TensorSummary]] = []
        for path, leaf in batch.tensors()[:MOST_LEAVES]:
            if path in history.unreadable or not readable(leaf):
                continue
            try:
                plain = history.by_samples(leaf.as_subclass(Tensor) if type(leaf) is not Tensor else leaf, batch)
                seen.append((path, plain.detach(), look_at(plain)))
            except (RuntimeError, NotImplementedError, TypeError):
                history.unreadable.add(path)
        odd = [*of_batch(history, batch, [look for _, _, look in seen]), *of_texts(data)]
        for path, leaf, look in seen:
            odd += self.compare(history, batch, path, leaf, look)
        odd += of_masks(seen, history)
        self.pending += [
            PendingBatch(batch, history, one, self.run.iteration) for one in odd if self.may_tell(history, one.what)
        ]

    def compare(
        self, history: LoaderHistory, batch: Batch, path: str, leaf: Tensor, look: TensorSummary
    ) -> list[Anomaly]:
        """Compare one tensor with its baseline, which then learns it."""
        baseline = history.baselines.get(path)
        if baseline is None or (baseline.role == "float") is not (look.role == "float"):
            baseline = history.baselines[path] = Baseline(look.role)
        elif look.role == "ids":
            baseline.role = "ids"  # a first batch of zeros and ones looked like a mask
        found = list((of_floats if look.role == "float" else of_integers)(history, baseline, path, leaf, look, batch))
        baseline.learn(look, any(one.what in ("content", "range") for one in found))
        return found

    def may_tell(self, history: LoaderHistory, what: str) -> bool:
        """False once too much of one kind was emitted."""
        history.emitted[what] = history.emitted.get(what, 0) + 1
        return history.emitted[what] <= MOST_EMITTED

    def left(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Follow which batch went in, and whether what came out is still a number."""
        with_graph = torch.is_grad_enabled()
        if self.latest is not None and with_graph and module.training and not self.latest.training:
            self.latest.training = True
            self.latest.first_layer = first_layer(module)
        if not with_graph and self.latest is not None and not self.latest.evaluated:
            self.latest.evaluated = next((hit[1] for t in tensors([args]) if (hit := self.run.batches.find(t))), "")
        if not self.pending:
            return
        inside = {
            (id(hit[0]), hit[1]) for t in tensors([list(args), kwargs]) if (hit := self.run.batches.find(t)) is not None
        }
        batches = {key for key, _ in inside}
        for one in self.pending:
            if id(one.batch) not in batches:
                continue
            one.used = with_graph
            if one.anomaly.what == "nonfinite" and (id(one.batch), one.anomaly.path) in inside:
                one.reached, one.module, one.frame = "model", type(module).__name__, self.run.here()
                one.spoiled = spoiled(tensors(output))
        if not with_graph:
            self.flush([one for one in self.pending if id(one.batch) in batches], None, training=False)

    def backward_begins(self, losses: list[Tensor]) -> None:
        """Emit what was seen in the batches behind this loss: they are used now."""
        if self.standout.push(losses) is not None and self.skipped is not None:
            self.spend(*self.skipped, None)  # the loss stands out: this batch is worth a look after all
            self.skipped = None
        if self.pending:
            last = self.run.batches.last()
            used = [one for one in self.pending if one.used or one.batch is last]
            bad = any(one.anomaly.what == "nonfinite" for one in used) and spoiled(losses)
            for one in used:
                if one.anomaly.what == "nonfinite" and bad:
                    one.reached, one.spoiled = one.reached or "loss", True
                    one.frame = one.frame or self.run.here()
            self.flush(used, self.run.iteration, training=True)
            self.flush(
                [one for one in self.pending if self.run.iteration - one.iteration > PATIENCE], None, training=False
            )
        if self.latest is not None and (self.latest.seen in (1, 20) or self.latest.seen % 100 == 0):
            self.profile(self.latest)

    def ended(self) -> None:
        """Emit what is still waiting, and what the loaders were like."""
        self.flush(list(self.pending), None, training=False)
        for history in self.histories.known.values():
            self.profile(history)

    def crashed(self, error: BaseException) -> None:
        """Emit what is waiting: the batch in flight was used by the step that failed."""
        self.flush(list(self.pending), None, training=True)

    def profile(self, history: LoaderHistory) -> None:
        """Emit what the batches of a loader are usually like."""
        if history.profiled_at == history.seen or not history.baselines:
            return
        history.profiled_at = history.seen
        self.run.emit(
            BatchProfile(
                ref=self.run.ref("load"),
                loader=history.described(),
                seen=history.seen,
                looked=history.looked,
                rows=history.usual_rows() or None,
                training=history.training,
                first_layer=history.first_layer,
                evaluated=history.evaluated,
                leaves=history.profiles(),
            )
        )

    def flush(self, ready: list[PendingBatch], iteration: int | None, training: bool) -> None:
        """Emit these, and drop them from the waiting ones."""
        if not ready:
            return
        gone = {id(one) for one in ready}
        self.pending = [one for one in self.pending if id(one) not in gone]
        for one in ready:
            self.emit(one, one.iteration if iteration is None else iteration, training)

    def emit(self, one: PendingBatch, iteration: int, training: bool) -> None:
        """Emit one anomaly as a fact; a sample that spoiled its step is fetched once more."""
        odd, rows = one.anomaly, one.anomaly.rows[:MOST_ROWS]
        samples = one.batch.samples(rows) if rows else None
        asked = training and self.run.function_tests
        form = one.history.kept_as(one.batch, odd.rows, odd.times, self.run.odd_form) if asked else ""
        self.run.emit(
            BatchOddity(
                ref=self.run.ref("load", iteration),
                loader=one.history.note,
                batch=one.batch.number,
                what=odd.what,
                path=odd.path,
                rows=rows,
                samples=samples,
                value=number(odd.value),
                usual=number(odd.usual),
                spread=number(odd.spread),
                count=odd.count,
                of=odd.of,
                **odd.at(one.batch, asked),
                looked=one.history.looked - 1,
                detail=odd.detail,
                form=form,
                reached=one.reached,
                spoiled=one.spoiled,
                module=one.module,
                frame=one.frame,
                training=training,
                made=one.history.made_odd(one.batch, odd.path, odd.what, odd.rows, odd.channel),
            )
        )
        worth = (odd.what == "nonfinite" and one.spoiled) or odd.what == "blank"
        if worth and samples and self.run.function_tests and self.refetched < REFETCHED:
            self.refetched += 1
            fact = refetch(
                one.batch.loader,
                one.history.note.number,
                samples[0],
                odd.what,
                odd.path,
                self.run.ref("load", iteration),
            )
            if fact is not None:
                self.run.emit(fact)


def spoiled(given: Any) -> bool:
    """Whether any of these tensors holds a value that is not finite. Syncs the host when they live on a device; asked
    after a bad input only."""
    return any(
        t.is_floating_point() and t.layout is torch.strided and not bool(torch.isfinite(t.detach()).all())
        for t in given
    )


def first_layer(module: nn.Module) -> str:
    """The type of the first layer with parameters of its own, in the order of registration."""
    held = (part for part in module.modules() if any(True for _ in nn.Module.parameters(part, recurse=False)))
    return next((type(part).__name__ for part in held), "")
