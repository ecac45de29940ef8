"""Do the workers of a loader, and its passes, draw random numbers of their own?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import msgspec

from debugtracer.checks.check import Check
from debugtracer.trace.facts.worker_draws import DrawnBy, WorkerDraws
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class WorkerRng(Check, frozen=True):
    """Loader workers, or passes over the data, repeat the same random numbers.

    What it catches
        A generator stored in the dataset or at the top of its module, which every worker gets an equal copy of, or a
        worker_init_fn that seeds all workers alike.
    Why it matters
        Augmentations repeat: with n workers only one in n batches is new, or each epoch is the same. The loss looks
        plausible.
    How it decides
        Measured inside the workers: at the first fetch of two workers a generator has the same state, and both draw
        from it in their first two fetches without seeding it anew. That is exact. An equal state of one worker in two
        passes is a warning. A stream (IterableDataset) may need equal generators to divide its order, so there it is a
        note.
    What to do
        Seed the generator of each worker in worker_init_fn from `torch.initial_seed()`, which differs by worker and
        epoch.
    Example
        step 0, rank 0: dataset.rng (Generator) begins in the same state in 2 of 2 workers and both draw from it;
        expected a state of its own in each worker. Seed it in worker_init_fn from torch.initial_seed().
    """

    needs: ClassVar[tuple[type[WorkerDraws]]] = (WorkerDraws,)
    kind: ClassVar[str] = "worker_rng_duplicate"
    exact: ClassVar[bool] = True
    remedies: ClassVar[tuple[str, ...]] = (
        (
            "seed it in worker_init_fn: get_worker_info().dataset.rng = numpy.random.default_rng(torch.initial_seed() "
            "% 2**32)"
        ),
        "or draw from torch's generator in the dataset: it is seeded for each worker and epoch",
    )
    proved_by: ClassVar[str] = "data/worker_noise_copy"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield findings at the pass in which equal draws are seen."""
        passes: dict[tuple[int, str, int], int] = window.memory(self)
        for fact in window.new(WorkerDraws):
            alike = largest(fact.drawn)
            if len(alike) > 1 and fact.trains:
                yield self.told_workers(window, fact, alike)
            elif fact.trains and not fact.persistent:
                again = [
                    d for d in fact.drawn if d.draws and passes.get((fact.loader, fact.path, d.worker)) == d.before
                ]
                if again:
                    yield self.told_passes(window, fact, again)
            passes.update({(fact.loader, fact.path, d.worker): d.before for d in fact.drawn if d.draws})

    def told_workers(self, window: Window, fact: WorkerDraws, alike: list[DrawnBy]) -> Finding:
        """Build the finding of several workers that draw from one state."""
        return self.finding(
            window,
            "note" if fact.stream else "error",
            f"{named(fact)} begins in the same state in {len(alike)} of {len(fact.drawn)} workers and each draws from "
            "it; expected a state of its own in "
            "each worker. Seed it in worker_init_fn from torch.initial_seed().",
            ref=fact.ref,
            place=Place(frame=fact.made or fact.worker_init or fact.frame, symptom_frame=fact.frame),
            workers=len(alike),
        )

    def told_passes(self, window: Window, fact: WorkerDraws, again: list[DrawnBy]) -> Finding:
        """The same numbers in each pass."""
        told = self.finding(
            window,
            "note" if fact.stream else "warning",
            f"{named(fact)} begins pass {fact.epoch} in the same state as the pass before in {len(again)} of "
            f"{len(fact.drawn)} workers; expected new random "
            "numbers in each pass. Seed it in worker_init_fn from torch.initial_seed().",
            ref=fact.ref,
            place=Place(frame=fact.made or fact.worker_init or fact.frame, symptom_frame=fact.frame),
            confidence=0.8,
            workers=len(again),
        )
        # one worker may be given the same noise in each pass on purpose
        return msgspec.structs.replace(told, exact=False)


def largest(drawn: tuple[DrawnBy, ...]) -> list[DrawnBy]:
    """The largest group of workers that draw from equal states: each is known to, or all came to the same state."""
    groups: dict[int, list[DrawnBy]] = {}
    for one in drawn:
        groups.setdefault(one.before, []).append(one)
    proved = [
        g
        for g in groups.values()
        if all(d.draws for d in g) or (len({d.after for d in g}) == 1 and g[0].after != g[0].before)
    ]
    return max(proved, key=len, default=[])


def named(fact: WorkerDraws) -> str:
    """What a person calls it."""
    return f"{fact.path} ({fact.kind})" if fact.kind else f"the generator of {fact.path}"
