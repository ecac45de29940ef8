"""The batches the program fetched lately: where each came from, the dataset index of each row, whose a tensor is."""

from __future__ import annotations

import sys
import weakref
from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from debugtracer.callsites.numeric_warning import NumericWarning
from debugtracer.callsites.origins.nonfinite_origin import nonfinite_first
from debugtracer.callsites.origins.sample_origin import sample_origin
from debugtracer.callsites.origins.value_origin import Link, made_first
from debugtracer.errors import guarded
from debugtracer.recorder.state.leaves import Leaf
from debugtracer.recorder.tape.held_rows import HeldRows, rows_of_view
from debugtracer.recorder.tape.moved_leaves import MovedLeaves, is_copy, is_whole, storage_of
from debugtracer.trace.birth import Frame
from debugtracer.trace.incident import LoaderFacts
from debugtracer.trace.whole_dataset import WholeDataset

FINDABLE = 256  # batches found while others keep them alive (an accumulation fetched ahead, a list)


@dataclass(eq=False)
class LoaderInfo:
    """One DataLoader of the program; `loader` is a weak reference to it."""

    loader: weakref.ref[object]
    dataset: str
    batch_size: int | None
    num_workers: int
    sampler: str
    frame: Frame | None = None
    """Where the user built it."""
    data: weakref.ref[object] | None = None
    """The dataset; None when it takes no weak reference."""
    iterator: weakref.ref[object] | None = None
    """Its latest iterator, which outlives the loader in `for x in DataLoader(...)`."""
    keeps_order: bool = True
    """Row i of a batch is its i-th sample; False where its collate_fn may sort or shuffle them."""

    def iterated(self, iterator: object) -> None:
        """Take the iterator of a new pass."""
        self.iterator = weakref.ref(iterator)

    def made(self, path: str) -> tuple[Frame, ...]:
        """The user's lines from the one that made a tensor (`batch[0]`) to the one that wrote it last. Reads source."""
        return made_first(guarded("batches.origin")(self.origin)(path) or ())

    def spoiled(self, path: str, some: bool, heard: Sequence[NumericWarning] = ()) -> tuple[Frame, ...]:
        """The same for one with NaN or Inf, from the line that can have made it so; `some`: not in all rows."""
        return nonfinite_first(guarded("batches.origin")(self.origin)(path) or (), some, heard)

    def origin(self, path: str) -> tuple[Link, ...]:
        """Where a tensor of the batches was written, the last writer first."""
        return sample_origin(self.dataset_held(), getattr(self.loader(), "collate_fn", None), self.frame, path)

    def goes_on(self, old: LoaderInfo) -> bool:
        """True for another pass: built by the line of a loader that is gone, over the same dataset or its successor."""
        if old.loader() is not None or self.frame is None or (old.frame, old.dataset) != (self.frame, self.dataset):
            return False
        before = old.data() if old.data is not None else None
        return before is None or (self.data is not None and before is self.data())

    def dataset_held(self) -> Any:
        """The dataset, which often outlives its loader; None if it is gone."""
        held = getattr(self.loader(), "dataset", None)
        return held if held is not None or self.data is None else self.data()

    def dataset_len(self) -> int | None:
        """The length of the dataset in samples; None if it has none or is gone."""
        try:
            return len(self.dataset_held())
        except Exception:
            return None  # `__len__` is the user's code and may do anything


@dataclass(eq=False)
class Batch:
    """One fetched batch. `number` counts from 0 in its epoch, `wait_s` is what the fetch took, seconds."""

    loader: LoaderInfo
    indices: tuple[int, ...] | None
    """Dataset index of each row; None when it is not known, `note` says why."""
    number: int
    wait_s: float
    leaves: list[tuple[str, weakref.ref[torch.Tensor]]]
    """Path (`batch[0]`, `batch['x']`) and weak reference of each tensor."""
    rows: int | None
    note: str = ""
    drawn: tuple[int, ...] | None = None
    """The samples it was made of, also where it has not a row of each."""
    held: list[torch.Tensor] = field(default_factory=list, repr=False)
    """Strong references, let go by the log two optimizer steps later."""
    keys: list[int] = field(default_factory=list, repr=False)
    """Where the log has entered the leaves."""

    def tensors(self) -> list[Leaf]:
        """The leaves that are still alive."""
        return [(path, leaf) for path, reference in self.leaves if (leaf := reference()) is not None]

    def samples(self, rows: Iterable[int]) -> tuple[int, ...] | None:
        """The dataset indices behind these rows, each once, in the order of the rows; None when one is not known: also
        where the rows are not in the order of the samples, but for all of them."""
        wanted = list(rows)
        if self.indices is not None and not self.loader.keeps_order and not {*range(len(self.indices))} <= {*wanted}:
            return None
        if self.indices is None or any(not 0 <= row < len(self.indices) for row in wanted):
            return None
        return tuple(dict.fromkeys(self.indices[row] for row in wanted))


class BatchLog:
    """The last batches of all loaders. Tensors are held for two optimizer steps and at most `keep` batches, then only
    known by weak reference."""

    def __init__(self, keep: int = 8) -> None:
        self._held: deque[Batch] = deque()
        self._keep = keep
        self._recent: deque[Batch] = deque(maxlen=FINDABLE)
        self._places: dict[int, tuple[Batch, int]] = {}
        self._storages: dict[int, tuple[Batch, int]] = {}
        self._copies: dict[int, tuple[weakref.ref[torch.Tensor], Batch, str]] = {}
        """What the step in flight works on instead of leaves; entered at a bad step alone."""
        self._moved: MovedLeaves[tuple[Batch, str]] = MovedLeaves()
        self._step_start: list[Batch] = []
        self._fresh: list[Batch] = []
        self._late: list[tuple[object, Callable[[], Batch]]] = []
        self._late_before: list[tuple[object, Callable[[], Batch]]] = []
        """What was fetched in the step in flight and in the one before, with what makes its batch."""
        self.failed: tuple[LoaderInfo, object] | None = None
        """The loader whose fetch raised last, and the indices it had drawn for it."""

    def add(self, batch: Batch) -> None:
        """Take in a batch just fetched; microseconds, no host sync."""
        if len(self._recent) == FINDABLE:
            self._forget(self._recent[0])
        self._recent.append(batch)
        self._held.append(batch)
        self._fresh.append(batch)
        if len(self._held) > self._keep:
            self._let_go(self._held.popleft())
        for place, (_, reference) in enumerate(batch.leaves):
            self._enter(batch, place, reference())

    def add_late(self, data: object, make: Callable[[], Batch]) -> None:
        """Take in a batch that is made once somebody asks for one: all rests."""
        self._late.append((data, make))
        if len(self._late) > self._keep:
            self._make_late()

    def _make_late(self) -> None:
        late = [*self._late_before, *self._late]
        self._late_before, self._late = [], []
        for _, make in late:
            self.add(make())

    def _enter(self, batch: Batch, place: int, leaf: torch.Tensor | None) -> None:
        if leaf is None:
            return
        storage = storage_of(leaf)
        for table, key in ((self._places, id(leaf)), (self._storages, storage)):
            if key is not None:
                table[key] = (batch, place)
                batch.keys.append(key)

    def _forget(self, batch: Batch) -> None:
        for key in batch.keys:
            for table in (self._places, self._storages):
                if key in table and table[key][0] is batch:
                    del table[key]

    def _let_go(self, batch: Batch) -> None:
        batch.held.clear()
        if batch in self._fresh:
            self._fresh.remove(batch)

    def step_done(self) -> None:
        """Release batches fetched before the previous optimizer step; called when one is over."""
        while self._held and self._held[0] in self._step_start:
            self._held.popleft().held.clear()
        self._step_start, self._fresh = self._fresh, []
        self._copies.clear()
        for data, _ in self._late_before:
            if is_referred_to(data):
                self._make_late()
                break
        self._late_before, self._late = self._late, []

    def latest(self) -> list[Batch]:
        """The last batches, the oldest first; one step of the interpreter, so that any thread may ask."""
        return list(self._recent)

    def last(self) -> Batch | None:
        """The batch fetched last, of any loader."""
        if self._late or self._late_before:
            self._make_late()
        return self._recent[-1] if self._recent else None

    def find(self, tensor: torch.Tensor) -> tuple[Batch, str] | None:
        """The batch and leaf path a tensor is (by identity) or shares its storage with (a view); None for a copy.
        Microseconds, no host sync."""
        if self._late or self._late_before:
            self._make_late()
        hit = self._places.get(id(tensor))
        if hit is not None and hit[0].leaves[hit[1]][1]() is tensor:
            return hit[0], hit[0].leaves[hit[1]][0]
        copy = self._copies.get(id(tensor))
        if copy is not None and copy[0]() is tensor:
            return copy[1], copy[2]
        return self._find_view(tensor)

    def held_rows(self, tensor: torch.Tensor) -> HeldRows | None:
        """Which rows of its batch a tensor holds; None where it is of no batch, or has no row for each sample."""
        hit = self.find(tensor)
        if hit is None or hit[0].rows is None:
            return None
        leaf = dict(hit[0].tensors()).get(hit[1])
        if leaf is None or storage_of(leaf) != storage_of(tensor):
            leaf = self._moved.whole(tensor)
        return rows_of_view(tensor, leaf if leaf is not None else tensor, hit[0].rows)

    @guarded("batches.moved")
    def moved(self, tensor: torch.Tensor, copy: torch.Tensor) -> None:
        """Remember a copy of a leaf on another device. No host sync."""
        hit = self.find(tensor)
        leaf = dict(hit[0].tensors()).get(hit[1]) if hit is not None else None
        if hit is not None and leaf is not None and is_whole(tensor, leaf):  # rows of a part are other rows
            self._moved.put(copy, hit)

    @guarded("batches.adopt")
    def adopt(self, inputs: Iterable[torch.Tensor]) -> None:
        """Enter inputs of the step that are copies of leaves: accelerate moves a batch to its device before it fetches
        the next. Compares values, so it is for bad steps alone; what fits two batches stays unknown."""
        for tensor in inputs:
            if tensor.requires_grad or not tensor.numel() or self.find(tensor) is not None:
                continue
            fits = [(batch, path) for batch in self._held for path, leaf in batch.tensors() if is_copy(tensor, leaf)]
            if fits and all(batch is fits[0][0] for batch, _ in fits):
                self._copies[id(tensor)] = (weakref.ref(tensor), *fits[0])

    def earlier(self, batch: Batch, count: int, without: Collection[int]) -> tuple[int, ...]:
        """Take some dataset indices of its loader's batches before this one, the latest first; none in `without`."""
        known = list(self._recent)
        before = known[: known.index(batch)] if batch in known else []
        rows = [i for one in before[::-1] if one.loader is batch.loader for i in (one.indices or ())]
        kept = [i for i in dict.fromkeys(rows) if i not in without]
        return tuple(kept[:: max(1, len(kept) // count)][:count])

    def _find_view(self, tensor: torch.Tensor) -> tuple[Batch, str] | None:
        storage = storage_of(tensor)
        if storage is None:
            return None
        batch, place = self._storages.get(storage, (None, 0))
        path, reference = batch.leaves[place] if batch is not None else ("", lambda: None)
        leaf = reference()  # a living leaf keeps its storage, so an equal address is the same memory
        same = batch is not None and leaf is not None and storage_of(leaf) == storage
        return (batch, path) if same and batch is not None else self._moved.find(storage)

    def facts(self, batch: Batch, whole: WholeDataset | None = None) -> LoaderFacts:
        """What the trace says of the loader of a batch; asks the dataset for its length."""
        info = batch.loader
        return LoaderFacts(
            dataset=info.dataset,
            dataset_len=info.dataset_len(),
            batch_size=info.batch_size,
            num_workers=info.num_workers,
            sampler=info.sampler,
            frame=info.frame,
            indices=batch.indices,
            keeps_order=info.keeps_order,
            whole=whole,
        )

    def clear(self) -> None:
        """Forget everything (a forked child, the end of a run)."""
        for batch in self._held:
            batch.held.clear()
        for store in (self._held, self._recent, self._places, self._storages, self._copies, self._moved):
            store.clear()
        self._step_start.clear()
        self._fresh.clear()
        self._late_before, self._late = [], []


def is_referred_to(data: object) -> bool:
    """Whether the program may still use data that it was handed: another reference than ours is there, or data of a
    kind that is not looked into."""
    if not isinstance(data, (list, tuple)) or not TENSOR.issuperset(map(type, data)):
        return True
    return max(map(sys.getrefcount, data), default=0) > ALONE


TENSOR = frozenset({torch.Tensor})
ALONE = max(map(sys.getrefcount, [object()]))  # where nothing but its container refers to a part
