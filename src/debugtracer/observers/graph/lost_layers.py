"""The parameters from which no loss hangs: for how many looks the same ones, whether they kept their values, where
their layer was made."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from torch import Tensor, nn

from debugtracer.callsites.definitions import assigned_at
from debugtracer.observers.graph.graph_walk import leaves
from debugtracer.observers.weights.weight_samples import WeightSamples
from debugtracer.trace.birth import Frame


class LostLayers:
    """Follows the lost parameters of each optimizer from look to look; keeps samples of their values."""

    def __init__(self) -> None:
        self.known: dict[int, tuple[frozenset[int], int, WeightSamples]] = {}
        self.given: set[int] = set()
        """ids of parameters that one of several outputs of a model hangs on."""

    def returned(self, output: object) -> None:
        """Note what a model gave, called with a graph."""
        self.given |= leaves(given_beside(output)).keys()

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


def spare(
    lost: Sequence[Tensor], reached: Sequence[Tensor], names: Mapping[int, str], given: Collection[int] = ()
) -> bool:
    """Whether each lost parameter is of a numbered block of which other parts have a gradient, as the same part of the
    block before has: what the last of equal blocks makes beside its result is used by no block after it. Or whether it
    is behind one of several outputs, `given`, of which the loss takes others (heads of other tasks)."""
    known = {names.get(id(parameter), "?") for parameter in reached}
    return bool(lost) and all(id(one) in given or is_spare(names.get(id(one), "?"), known) for one in lost)


def given_beside(output: object) -> list[Tensor]:
    """The tensors with a graph that a model returns, where it returns more than one, and none is a loss."""
    values = list(output.values()) if isinstance(output, dict) else output
    if not isinstance(values, (list, tuple)):
        return []
    flat = [v for one in values for v in (one if isinstance(one, (list, tuple)) else (one,))]
    found = [v for v in flat if isinstance(v, Tensor) and v.grad_fn is not None]
    return found if len(found) > 1 and all(v.numel() > 1 for v in found) else []


def is_spare(name: str, reached: Collection[str]) -> bool:
    """Whether the same part of the block before is reached, and another part of its own block."""
    for number in re.finditer(r"(?<![^.])\d+(?=\.)", name):
        head, rest = name[: number.start()], name[number.end() :]
        before, block = f"{head}{int(number.group()) - 1}{rest}", f"{head}{number.group()}."
        if before in reached and any(other.startswith(block) for other in reached):
            return True
    return False


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
