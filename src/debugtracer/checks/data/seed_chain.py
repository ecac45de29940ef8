"""Can the random numbers of this run be repeated, and are they its own?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.epochs import Epoch
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.facts.module_modes import ModuleModes
from debugtracer.trace.facts.replicas import Replica
from debugtracer.trace.facts.seeds import SeedRow, Seeds
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

SHUFFLED = "RandomSampler"  # the sampler of shuffle=True


class SeedChain(Check, frozen=True):
    """The chain from the seed of the run to its random numbers has a gap.

    What it catches
        No seed at all, a generator of numpy or Python that is drawn from without a seed, a seed from the clock that
        nobody wrote down, a seed set after the data was first drawn, one generator shared by several augmentations, an
        evaluation whose batches change from pass to pass.
    Why it matters
        A run that cannot be repeated cannot be debugged, and two evaluations on different samples cannot be compared.
    How it decides
        From the calls that seed torch, numpy and Python's random, from the states of these generators at the start, at
        the first backward and at the end, and from the order and values of the batches. An evaluation that reads all
        samples in an order drawn anew is left alone, one whose sampler, of the program's own, draws other samples
        (episodes of a few classes), and one that comes back to former batches, as two data sets that take turns. It
        only speaks in notes: all of it may be meant.
    What to do
        Set one seed first of all, write it down, and derive the others from it:
        `debugtracer.derive_seed(base, "augmentation")`.
    Example
        step 0, rank 0: torch was seeded with 1714060800 at train.py:9, taken from the clock: write it down to repeat
        the run; expected a seed that is recorded. Set one seed first of all and derive the others from it:
        debugtracer.derive_seed(base, "augmentation").
    """

    needs: ClassVar[tuple[type[Fact], ...]] = (Seeds, Epoch)
    remedies: ClassVar[tuple[str, ...]] = (
        'set one seed first of all and derive the others from it: debugtracer.derive_seed(base, "augmentation")',
    )
    proved_by: ClassVar[str] = "data/shuffled_check"

    former: int = 2  # passes before, each of which differs (ours): two data sets take turns in many evaluations
    passes: int = 4  # that are compared (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield a note for each risk, once per source of random numbers."""
        said = window.memory(self)
        for fact in window.new(Seeds):
            for row in fact.rows:
                if row.risk and said.get(row.source) != row.risk:
                    said[row.source] = row.risk
                    yield self.told_row(window, fact, row)
            if fact.shared and not said.get("shared"):
                said["shared"] = True
                yield self.describe(
                    window, fact, None, f"{' and '.join(fact.shared)} are one generator; expected one for each"
                )
        for epoch in window.new(Epoch):
            former: list[Epoch] = said.get(("passes", epoch.loader), [])
            said["passes", epoch.loader] = [*former[1 - self.passes :], epoch]
            if (
                epoch.evaluates
                and not epoch.trains
                and len(former) >= self.former
                and all(differs(past, epoch) for past in former)
                and not said.get(("changed", epoch.loader))
            ):
                said["changed", epoch.loader] = True
                yield self.told_epoch(window, epoch)

    def judge_ranks(self, windows: Mapping[int, Window]) -> Iterator[Finding]:
        """Yield a finding when replicas with dropout share one seed, for their masks are then equal too."""
        values: dict[int, int | None] = {}
        for rank, window in windows.items():
            last = window.last(Seeds)
            torch = (
                next((row for row in last.rows if row.source == "torch"), None)
                if last is not None and window.last(Replica) is not None
                else None
            )
            values[rank] = torch.value if torch is not None else None
        seeds = [value for value in values.values() if value is not None]
        drops = any(fact.drops for window in windows.values() for fact in window.seen(ModuleModes))
        if drops and len(seeds) > 1 and len(seeds) == len(windows) and len(set(seeds)) == 1:
            first = windows[min(windows)]
            yield self.describe(
                first,
                first.last(Seeds),
                None,
                f"torch has the seed {seeds[0]} on all {len(seeds)} ranks, so they draw equal dropout masks; expected "
                "one per rank",
            )

    def told_row(self, window: Window, fact: Seeds, row: SeedRow) -> Finding:
        """A generator at risk."""
        at = f" at {row.frame.file.rsplit('/', 1)[-1]}:{row.frame.line}" if row.frame is not None else ""
        seen = f"{row.source} was seeded with {row.value}{at}, {row.risk}" if row.seeded else f"{row.source} {row.risk}"
        return self.describe(window, fact, row, f"{seen}; expected a seed that is recorded")

    def told_epoch(self, window: Window, epoch: Epoch) -> Finding:
        """An evaluation that changes."""
        at = f" ({epoch.frame.file.rsplit('/', 1)[-1]}:{epoch.frame.line})" if epoch.frame is not None else ""
        return self.finding(
            window,
            "note",
            f"the batches of the evaluation{at} differ between pass {epoch.number - 1} and {epoch.number}; expected "
            "the same ones each time. "
            "Leave shuffle and augmentation to training.",
            ref=epoch.ref,
            place=Place(frame=epoch.frame),
        )

    def describe(self, window: Window, fact: Seeds | None, row: SeedRow | None, seen: str) -> Finding:
        """Build the note with the advice to derive one seed from another."""
        advice = (
            'Set one seed first of all and derive the others from it: debugtracer.derive_seed(base, "augmentation").'
        )
        place = Place(frame=row.frame if row is not None else None)
        return self.finding(
            window, "note", f"{seen}. {advice}", ref=fact.ref if fact is not None else None, place=place
        )


def differs(a: Epoch, b: Epoch) -> bool:
    """True when the first batches of the two passes hold other values."""
    count = min(len(a.content), len(b.content))
    if b.renewed and b.shuffles is False:
        return False  # in the same order of others: another fold
    if b.sampler == SHUFFLED and a.batches == a.expected and b.batches == b.expected and a.order != b.order:
        return False  # all samples in another order: a mean over the pass is the same
    if b.sampler != SHUFFLED and a.order != b.order:
        return False  # a sampler of the program's own draws other samples on purpose: episodes of a few classes
    return count > 0 and a.content[:count] != b.content[:count]
