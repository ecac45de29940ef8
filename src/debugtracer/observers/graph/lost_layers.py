"""The parameters from which no loss hangs: for how many looks the same ones, whether they kept their values, where
their layer was made."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor, nn

from debugtracer.callsites.definitions import assigned_at
from debugtracer.observers.weights.weight_samples import WeightSamples
from debugtracer.trace.birth import Frame


class LostLayers:
    """Follows the lost parameters of each optimizer from look to look; keeps samples of their values."""

    def __init__(self) -> None:
        self.known: dict[int, tuple[frozenset[int], int, WeightSamples]] = {}

    def follow(self, number: int, lost: Sequence[Tensor]) -> tuple[int, bool]:
        """Count the looks in a row with the same ones lost; also whether they have the values of the first."""
        if not lost:
            self.known.pop(number, None)
            return 0, False
        ids = frozenset(map(id, lost))
        same, looks, first = self.known.get(number, (ids, 0, None))
        if first is None or same != ids:
            self.known[number] = ids, 1, WeightSamples(lost)
            return 1, True
        self.known[number] = ids, looks + 1, first
        return looks + 1, first.stand()


def made_at(modules: Sequence[nn.Module], name: str) -> Frame | None:
    """The line that assigns the layer of a parameter, or the container it is in; None where no source says it."""
    for root in modules:
        owner: object = root
        frame = None
        for part in name.split(".")[:-1]:
            frame = assigned_at(type(owner), part) or frame
            owner = getattr(owner, part, None)
        if isinstance(owner, nn.Module) and hasattr(owner, name.rpartition(".")[2]):
            return frame
    return None
