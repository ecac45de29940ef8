"""Compares, at each pass, a dataset with what its persistent workers have copied of it."""

from __future__ import annotations

import weakref
from typing import Any

from torch import Tensor
from torch.utils.data import IterableDataset

from debugtracer.callsites.attributes_read import AttributesUsed, attributes_used, code_of, written_outside
from debugtracer.observers.loaders.attribute_digest import attribute_digest
from debugtracer.observers.loaders.collated_rows import same
from debugtracer.observers.loaders.untouched import inner, untouched
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.recorder.tape.batches import Batch, LoaderInfo
from debugtracer.recorder.tape.entry import tensors
from debugtracer.trace.facts.worker_copy import WorkerCopy

ROWS = 4  # samples of a batch that are fetched again (ours)
TRIALS = 3  # passes in which that is tried (ours)
OF_PROCESS = frozenset({"get_worker_info", "getpid"})


class Copied:
    """What is known of one loader's dataset."""

    def __init__(self, dataset: Any) -> None:
        self.kind = type(dataset)
        self.used: AttributesUsed = attributes_used(self.kind, "__getitem__")
        self.digests = self.read(dataset)
        self.trials = 0

    def read(self, dataset: Any) -> dict[str, int]:
        """The attributes that `__getitem__` reads."""
        held = {name: attribute_digest(value) for name, value in vars(dataset).items() if name in self.used.read}
        return {name: digest for name, digest in held.items() if digest is not None}

    def changed(self, dataset: Any) -> list[str]:
        """The attributes that are other than at the first pass."""
        return [name for name, digest in self.read(dataset).items() if self.digests.get(name, digest) != digest]


class WorkerCopies:
    """Asked at the first batch of each pass; runs the user's code only where something has changed."""

    def __init__(self, run: ObservedRun) -> None:
        self.run = run
        self.known: weakref.WeakKeyDictionary[LoaderInfo, Copied] = weakref.WeakKeyDictionary()

    def reset(self) -> None:
        """Forget the loaders of the parent process."""
        self.known.clear()

    def begun(self, batch: Batch, loader: int, number: int) -> None:
        """Look at the dataset of a loader that keeps its workers."""
        owner: Any = batch.loader.loader()
        if owner is None or not getattr(owner, "persistent_workers", False) or not batch.loader.num_workers:
            return
        dataset = inner(owner.dataset)
        if isinstance(dataset, IterableDataset) or not hasattr(dataset, "__dict__"):
            return
        copied = self.known.get(batch.loader)
        if copied is None or copied.kind is not type(dataset):
            self.known[batch.loader] = Copied(dataset)
        elif copied.trials < TRIALS and (names := copied.changed(dataset)):
            copied.trials += 1
            self.compare(owner, batch, copied, names, loader, number)

    def compare(self, owner: Any, batch: Batch, copied: Copied, names: list[str], loader: int, number: int) -> None:
        """Emit where the workers deliver something else than this process."""
        found, sample = differs(owner, batch)
        held = vars(inner(owner.dataset))
        own = [n for n in names if n not in copied.used.written and not isinstance(held.get(n), dict)]
        of_process = getattr(owner, "worker_init_fn", None) is not None or OF_PROCESS & globals_of(copied)
        if found is False or (found is None and not own):
            return
        copied.trials = TRIALS
        names = sorted(names, key=lambda name: name not in own)
        self.run.emit(
            WorkerCopy(
                ref=self.run.ref("load"), loader=loader, number=number, dataset=copied.kind.__name__,
                names=tuple(names[:4]), proven=bool(found) and not of_process, sample=sample,
                written=written_outside(copied.kind, names[0], copied.used.methods), frame=batch.loader.frame,
            )
        )  # fmt: skip


def globals_of(copied: Copied) -> set[str]:
    """The names that the methods call of their module."""
    every = [code for method in copied.used.methods for code in code_of(copied.kind, method)]
    return {name for code in every for name in code.co_names}


def differs(owner: Any, batch: Batch) -> tuple[bool | None, int | None]:
    """Whether a sample of the batch is another one when it is fetched here, and its index; None where samples are
    random or cannot be compared. Generators and the dataset are as before afterwards."""
    indices, leaves = batch.indices, [leaf for _, leaf in batch.tensors()]
    if indices is None or not batch.loader.keeps_order or not leaves:
        return None, None
    every = True
    try:
        with untouched(owner.dataset):
            for row in range(0, len(indices), max(len(indices) // ROWS, 1)):
                first, second = (list(tensors(owner.collate_fn([owner.dataset[indices[row]]]))) for _ in range(2))
                told = row_differs(leaves, first, second, row)
                if told:
                    return True, indices[row]
                every = every and told is False
    except (Exception, SystemExit):
        return None, None  # the user's code; it may need what only a worker has
    return (False, None) if every else (None, None)


def row_differs(leaves: list[Tensor], first: list[Tensor], second: list[Tensor], row: int) -> bool | None:
    """Whether any part that is the same each time is another one in the batch; None where a part is random."""
    if not len(leaves) == len(first) == len(second):
        return None
    steady = [(a, b, leaf[row]) for a, b, leaf in zip(first, second, leaves, strict=True) if same(a[0], b[0])]
    if any(a[0].shape == leaf.shape and not same(a[0], leaf) for a, _, leaf in steady):
        return True
    return False if len(steady) == len(leaves) and all(a[0].shape == leaf.shape for a, _, leaf in steady) else None
