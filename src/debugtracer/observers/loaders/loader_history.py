"""What is learnt of one loader as its batches pass: schema, baseline of each tensor, and the contents of the epoch."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
import torch
from torch import Tensor
from torch.utils.data import IterableDataset

from debugtracer.callsites.origins.argument_origin import argument_origin
from debugtracer.callsites.origins.column_line import column_line
from debugtracer.callsites.origins.file_item import file_item
from debugtracer.callsites.origins.scale_line import scale_line
from debugtracer.errors import guarded
from debugtracer.observers.data.baseline import Baseline
from debugtracer.observers.data.schemas import SchemaChange, Schemas
from debugtracer.observers.loaders.refetch import getitem_frame
from debugtracer.recorder.tape.batches import Batch, LoaderInfo
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.batch_content import LeafProfile, LoaderNote
from debugtracer.trace.facts.crash import FormSeen
from debugtracer.trace.number import number

REMEMBERED = 1000  # batches whose content is known again (docs/rationale/checks.md#data_duplicate_batch)
NOWHERE = 99  # place of an argument that is given by name alone
FAR = ("range", "content")  # anomalies of values that are far from all before
FAR_TIMES = 100.0  # times what is usual, from which a record may be kept in another dtype: bytes are 255 (ours)
BESIDE = 12  # samples of the data set that are fetched beside it (ours)
OddForm = Callable[[LoaderInfo, Sequence[int], Sequence[int], bool], FormSeen | None]
ALIKE = 0.75  # of the median rows, that three in four batches have at least where each has about as many (ours)
USUAL = 32  # batches that the usual number of rows is taken of (ours)


@dataclass
class LoaderHistory:
    """One loader, or the loaders built one after the other at the same line."""

    info: LoaderInfo
    note: LoaderNote
    seen: int = 0
    looked: int = 0
    profiled_at: int = -1
    training: bool = False
    evaluated: str = ""
    first_layer: str = ""
    schemas: Schemas = field(default_factory=Schemas)
    baselines: dict[str, Baseline] = field(default_factory=dict)
    rows: deque[int] = field(default_factory=lambda: deque(maxlen=USUAL))
    contents: dict[int, tuple[int, tuple[int, ...] | None]] = field(default_factory=dict)
    """Hash of each batch of this epoch -> its number and its indices."""
    emitted: dict[str, int] = field(default_factory=dict)
    """Anomalies emitted, by kind."""
    origins: dict[str, tuple[Frame, ...]] = field(default_factory=dict)
    """Lines that wrote each tensor, once it was asked for."""
    form: FormSeen | None = None
    """The sample of a far value that is kept in another dtype than others, and where it is read."""
    form_asked: bool = False
    described_once: bool = False
    """The line of its transform was looked for."""
    turned: bool = False
    """Batches have time first and the samples in their second dimension."""
    unreadable: set[str] = field(default_factory=set)
    """Tensors whose dtype no reduction understands."""

    def by_samples(self, leaf: Tensor, batch: Batch) -> Tensor:
        """Return a tensor with its samples first, where this loader lays time first and them second."""
        if batch.rows is None or leaf.layout is not torch.strided or leaf.is_nested or leaf.dim() < 2:
            return leaf
        if leaf.shape[0] != batch.rows == leaf.shape[1]:
            self.turned = True
        with torch.no_grad(), torch._C.DisableTorchFunctionSubclass():
            return leaf.transpose(0, 1) if self.turned and leaf.shape[1] == batch.rows else leaf

    def is_length(self, change: SchemaChange) -> bool:
        """Whether another size is that of a batch with another longest row: of ids that are padded to it."""
        known = self.baselines.get(change.path)
        padded = known is not None and known.pad_id is not None and known.lengths[1] == known.lengths[2]
        return padded and change.what == "1"

    def begin_epoch(self) -> None:
        """Drop the contents seen: the same batches may come again in a new epoch."""
        self.contents.clear()

    def made(self, batch: Batch, path: str, nonfinite: bool, some: bool) -> tuple[Frame, ...]:
        """The lines that wrote a tensor of a batch, looked for once; of a non-finite one those that made it so."""
        if not path:  # of the batch as a whole: nothing wrote it
            return ()
        key = f"{path} {nonfinite and some}"
        if key not in self.origins:
            of = batch.loader
            self.origins[key] = of.spoiled(path, some) if nonfinite else of.made(path)
        return self.origins[key]

    def made_odd(
        self, batch: Batch, path: str, what: str, rows: tuple[int, ...], column: int | None
    ) -> tuple[Frame, ...]:
        """The lines that wrote what is odd in a tensor: of a far value its column, where those are written one by
        one, or the line that takes it out of what a file holds."""
        if self.form is not None and self.form.frame is not None and what in FAR:
            scale = scale_line(self.form.frame) if "int" in self.form.usual else None
            return tuple(line for line in (scale, self.form.frame) if line is not None)
        links = guarded("loader_history: column")(batch.loader.origin)(path) or () if what == "range" else ()
        own = (column_line(links, column) if column is not None else None) or file_item(links)
        return (own,) if own is not None else self.made(batch, path, what == "nonfinite", len(rows) < (batch.rows or 0))

    def kept_as(self, batch: Batch, rows: tuple[int, ...], times: float, odd_form: OddForm) -> str:
        """Say in which dtype the sample of a value that is so many times as large as usual is kept and others are not:
        fetched again in a process of their own, once for a loader. Empty where they are kept alike."""
        samples = batch.samples(rows) if rows else batch.indices
        if times > FAR_TIMES and samples and not self.form_asked:
            self.form_asked = True
            length = batch.loader.dataset_len() or 0
            others = [n for n in range(0, length, max(1, length // BESIDE)) if n not in samples]
            found = odd_form(batch.loader, samples[:1], others[:BESIDE], True)
            if found is not None and found.frame is not None and found.seen.startswith("dtype"):
                self.form = found
        if self.form is None or times == 0:
            return ""
        seen, usual = self.form.seen.split()[-1], self.form.usual.split()[-1]
        return f"sample {self.form.index} is kept as {seen}, {self.form.beside} others as {usual}"

    def described(self) -> LoaderNote:
        """The loader, with the line of its transform where it evaluates. Reads source, once."""
        if self.evaluated and not self.training and not self.described_once:
            self.described_once = True
            self.note = msgspec.structs.replace(
                self.note, transform_at=guarded("loader_history")(transform_at)(self.info)
            )
        return self.note

    def rows_alike(self) -> bool:
        """Whether most batches have about as many rows: where graphs are joined, or a batch is filled up to so many
        tokens, a small one is no news."""
        return sorted(self.rows)[len(self.rows) // 4] >= ALIKE * self.usual_rows()

    def usual_rows(self) -> int:
        """The median rows of the last batches."""
        ordered = sorted(self.rows)
        return ordered[len(ordered) // 2] if ordered else 0

    def remember(
        self, content: int, batch: int, indices: tuple[int, ...] | None
    ) -> tuple[int, tuple[int, ...] | None] | None:
        """The earlier batch of this epoch with the same content."""
        known = self.contents.get(content)
        self.contents[content] = (batch, indices)
        if len(self.contents) > REMEMBERED:
            del self.contents[next(iter(self.contents))]
        return known

    def profiles(self) -> tuple[LeafProfile, ...]:
        """What each tensor is usually like."""
        return tuple(profile_of(path, baseline) for path, baseline in self.baselines.items())


def profile_of(path: str, baseline: Baseline) -> LeafProfile:
    """Summarise one tensor as plain numbers."""
    label = baseline.role == "label" and len(baseline.classes) > 0
    padded = len(baseline.pad.values) > 0
    return LeafProfile(
        path=path,
        role=baseline.role,
        mean=number(baseline.mean.centre),
        std=number(baseline.std.centre),
        low=number(min(baseline.low.values, default=0.0)),
        high=number(max(baseline.high.values, default=0.0)),
        channels=baseline.channels,
        pad_share=baseline.pad.centre if padded else None,
        longest_share=baseline.longest.centre if padded else None,
        longest=baseline.lengths[1],
        width=baseline.lengths[2],
        shortest=baseline.lengths[0],
        entropy=baseline.entropy.centre if label else None,
        pooled_entropy=baseline.pooled() if label else None,
        classes=len(baseline.classes),
        skewed_run=baseline.skewed,
    )


class LoaderHistories:
    """What is learnt of each loader."""

    def __init__(self) -> None:
        self.known: dict[int, LoaderHistory] = {}
        self.count = 0

    def of(self, info: LoaderInfo) -> LoaderHistory:
        """A loader built anew at the same line, after the old one is gone, goes on where that one was."""
        history = self.known.get(id(info))
        if history is None or history.info is not info:
            history = next((c for c in self.known.values() if info.goes_on(c.info)), None)
            if history is not None:
                del self.known[id(history.info)]
                history.info, self.known[id(info)] = info, history
        if history is None:
            history = self.known[id(info)] = LoaderHistory(info, note_of(info, self.count))
            self.count += 1
        return history

    def clear(self) -> None:
        self.__init__()  # type: ignore[misc]


def note_of(info: LoaderInfo, count: int) -> LoaderNote:
    """The loader as plain values; asks the user's dataset for its length, once."""
    loader: Any = info.loader()
    return LoaderNote(
        number=count,
        dataset=info.dataset,
        dataset_len=info.dataset_len(),
        batches=attempt(lambda: len(loader)),
        batch_size=info.batch_size,
        num_workers=info.num_workers,
        sampler=info.sampler,
        stream=isinstance(getattr(loader, "dataset", None), IterableDataset),
        frame=info.frame,
        made_at=getitem_frame(getattr(loader, "dataset", None)),
    )


def attempt(ask: Callable[[], int]) -> int | None:
    """What the user's `__len__` says, if it can."""
    try:
        return ask()
    except Exception:
        return None


def transform_at(info: LoaderInfo) -> Frame | None:
    """Where the `transform` was made that the data set of a loader was built with; None where it has none by that
    name."""
    built = argument_origin((info.frame,), ("DataLoader",), "dataset", 0) if info.frame is not None else ()
    dataset = built[-1].frame if built else info.frame
    made = argument_origin((dataset,), (info.dataset,), "transform", NOWHERE) if dataset is not None else ()
    return made[-1].frame if made else None
