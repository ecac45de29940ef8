"""Does a change of the dataset reach its workers?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.worker_copy import WorkerCopy
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class WorkerCopyStale(Check, frozen=True):
    """The dataset is changed between passes, and persistent workers go on with the copy they made once.

    What it catches
        New negatives, another difficulty, `dataset.set_epoch(n)` in the main process, with
        `DataLoader(persistent_workers=True)`.
    Why it matters
        The change never arrives: each pass is drawn from the data of the first one, which are learnt by heart.
    How it decides
        At the first batch of each pass the attributes that `__getitem__` reads are compared with those of the first
        pass; memory that processes share is left out. Where one has changed, a few samples of the batch are fetched
        again in the main process, all state restored: where they are the same each time and not what the workers
        delivered, it is sure. Where they are what was delivered it says nothing; where samples are random it is a
        warning, if the attribute is not one that `__getitem__` writes itself.
    What to do
        Leave out persistent_workers, build the loader after each change, or keep what changes in a tensor with
        `share_memory_()` and write it in place.
    Example
        step 20, rank 0: Pairs.negatives (train.py:18) has changed before pass 1, and the persistent workers (train.py:
        31) go on with their copy: sample 12 is another one in the main process; expected the same. Leave out
        persistent_workers.
    """

    needs: ClassVar[tuple[type[WorkerCopy]]] = (WorkerCopy,)
    kind: ClassVar[str] = "worker_copy_stale"
    symptom: ClassVar[str] = "silent"
    exact: ClassVar[bool] = True
    remedies: ClassVar[tuple[str, ...]] = (
        "leave out persistent_workers=True: workers that are made at each pass copy the dataset as it is then",
        "or keep what changes in a tensor with .share_memory_() and write it in place",
    )
    proved_by: ClassVar[str] = "data/drawn_negatives"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield once for each loader."""
        for fact in window.new(WorkerCopy):
            names = ", ".join(f"{fact.dataset}.{name}" for name in fact.names)
            proof = "what they deliver is random, so no sample was compared"
            if fact.sample is not None:
                proof = f"sample {fact.sample} is another one in the main process"
            yield self.finding(
                window,
                "error" if fact.proven else "warning",
                f"{names}{spot(fact.written)} {'has' if len(fact.names) == 1 else 'have'} changed before pass "
                f"{fact.number}, and the persistent workers{spot(fact.frame)} go on with their copy: {proof}; expected "
                "the same. Leave out persistent_workers.",
                ref=fact.ref,
                exact=fact.proven,
                confidence=0.97 if fact.proven else 0.7,
                place=Place(
                    frame=fact.frame or fact.written, argument="persistent_workers", symptom_frame=fact.written
                ),
            )
