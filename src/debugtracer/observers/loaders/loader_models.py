"""Which networks the batches of each loader have trained, and which were evaluated with them."""

from __future__ import annotations

import itertools

from torch import nn

from debugtracer.recorder.state.identity import ById


class LoaderModels:
    """Knows networks by a number: an address is given again as soon as the network of one fold is gone."""

    def __init__(self) -> None:
        self.numbers: ById[nn.Module, int] = ById()
        self.count = itertools.count()
        self.called: int | None = None
        """The network that was called last with a graph."""
        self.trained: dict[int, set[int]] = {}
        self.evaluated: dict[int, set[int]] = {}

    def enter(self, module: nn.Module) -> None:
        """Note that a network is called with a graph."""
        number = self.numbers.get(module)
        if number is None:
            number = self.numbers[module] = next(self.count)
        self.called = number

    def train(self, loader: int) -> None:
        """Note that the network called last is trained with a batch of this loader."""
        if self.called is not None:
            self.trained.setdefault(loader, set()).add(self.called)

    def evaluate(self, loader: int, module: nn.Module) -> None:
        """Note that a network is asked about a batch of this loader; -1 stands for one that was never trained."""
        self.evaluated.setdefault(loader, set()).add(self.numbers.get(module, -1))

    def apart(self, train: int, other: int) -> bool:
        """Whether the one loader has trained no network that was asked about batches of the other, and each of these
        was trained with others: the folds of a cross-validation. A copy of a network was trained with none."""
        asked, mine = self.evaluated.get(other, set()), self.trained.get(train, set())
        theirs = set().union(*(numbers for loader, numbers in self.trained.items() if loader != train))
        return bool(asked and mine) and not asked & mine and asked <= theirs

    def reset(self) -> None:
        """Forget all, in another run."""
        self.numbers.clear()
        self.trained.clear()
        self.evaluated.clear()
        self.called = None
