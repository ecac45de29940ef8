"""Samples that are known to be bad and left out before they are read: the place of each in its batch is taken by a
neighbour, so that batches keep their number and their size."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Any

from debugtracer.recorder.dataset_name import dataset_name
from debugtracer.recorder.listeners import SampleFilter
from debugtracer.recorder.state.identity import ById

SHARE = 0.005  # of a dataset, or of the last updates, that may be left out (docs/rationale/checks.md#rb_skip_budget)
LEAST = 20  # samples that may be left out of any dataset


class LeftOutSamples(SampleFilter):
    """One per process. It does nothing until a sample is known."""

    def __init__(self, known: dict[str, set[int]]) -> None:
        self.known = known
        self.listed = {dataset: frozenset(samples) for dataset, samples in known.items()}
        """Those that a list has named: they count against no share."""
        self.datasets: ById[Any, str] = ById()
        """Iterators, and what their dataset is called."""
        self.latest = ""
        """The dataset of the pass that began last."""
        self.replaced_count = 0
        self.announced = False
        """That a sample of the list has come up."""
        self.screens: list[Callable[[Any], bool]] = []

    @property
    def active(self) -> bool:  # type: ignore[override]
        return bool(self.known)

    def screen_with(self, screen: Callable[[Any], bool]) -> None:
        """Ask this function about each batch before it is handed out."""
        self.screens = [screen]

    def begins(self, loader: Any) -> None:
        self.latest = dataset_name(loader.dataset)

    def begun(self, loader: Any, iterator: Any) -> None:
        self.datasets[iterator] = dataset_name(loader.dataset)

    def may_add(self, dataset: str, length: int | None, samples: Iterable[int]) -> bool:
        """Whether so many samples of a dataset may be left out."""
        total = len(self.known.get(dataset, set()) - self.listed.get(dataset, frozenset()) | set(samples))
        return total <= max(LEAST, int(SHARE * (length or 0)))

    def add(self, dataset: str, samples: Iterable[int]) -> None:
        """Leave these out from now on."""
        self.known.setdefault(dataset, set()).update(samples)

    def replaced(self, iterator: Any, index: Any) -> Any:
        known = self.known.get(self.datasets.get(iterator) or self.latest)
        if not known or type(index) is not list or known.isdisjoint(index):
            return index
        good = [number for number in index if number not in known]
        if not good:
            return index  # nobody is there to take their place
        kept, last = [], good[0]
        self.announce([number for number in index if number in known], iterator)
        for number in index:
            if number in known:
                self.replaced_count += 1
            else:
                last = number
            kept.append(last)
        return kept

    def announce(self, found: list[int], iterator: Any) -> None:
        """Say once that a sample of the list has come up."""
        dataset = self.datasets.get(iterator) or self.latest
        listed = [str(number) for number in found if number in self.listed.get(dataset, ())]
        if listed and not self.announced:
            self.announced = True
            print(
                f"debug-tracer: sample {', '.join(listed)} of {dataset} came up and was left out, as the skip list "
                "says; its neighbour takes its place. Further ones are left out without a word.",
                file=sys.stderr,
                flush=True,
            )

    def drops(self, data: Any) -> bool:
        return any(screen(data) for screen in self.screens)

    def reset(self) -> None:
        """Begin anew; what was found bad in a dataset stays bad."""
        self.replaced_count = 0
        self.screens = []
