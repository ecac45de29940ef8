"""May a model be called once more without anybody noticing?"""

from __future__ import annotations

import math
from typing import ClassVar

import pytest
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import Tensor, nn
from torch.distributed import all_gather

from debugtracer.observers.model.side_effects import own_ways, side_effect

CALLS: list[int] = []
TOTAL = 0
SCALE = 2.0


def counted(x: Tensor) -> Tensor:
    CALLS.append(1)
    return x


def plain(x: Tensor) -> Tensor:
    return F.relu(x) * math.sqrt(SCALE)


class Base(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(2, 2)


class Quiet(Base):
    history: ClassVar[int] = 0

    def forward(self, x: Tensor) -> Tensor:
        self.calls = 1
        return plain(self.layer(x)) + sum([torch.zeros(1) for _ in range(2)])


class Prints(Base):
    def forward(self, x: Tensor) -> Tensor:
        print(x.shape)
        return x


class WritesGlobal(Base):
    def forward(self, x: Tensor) -> Tensor:
        global TOTAL
        TOTAL += 1
        return x


class FillsList(Base):
    def forward(self, x: Tensor) -> Tensor:
        return counted(x)


class ByMethod(Base):
    def forward(self, x: Tensor) -> Tensor:
        return self.helper(x)

    def helper(self, x: Tensor) -> Tensor:
        CALLS.append(len(x))
        return x


def test_a_plain_model_has_none():
    assert side_effect(nn.Sequential(Quiet(), nn.ReLU())) is None


@pytest.mark.parametrize(
    ("model", "word"),
    [
        (Prints, "print in forward"),
        (WritesGlobal, "a global written in forward"),
        (FillsList, "CALLS, a list"),
        (ByMethod, "CALLS, a list"),
    ],
)
def test_what_somebody_could_notice_is_named(model, word):
    assert word in (side_effect(nn.Sequential(model())) or "")


class Reduces(Base):
    def forward(self, x: Tensor) -> Tensor:
        dist.all_reduce(x)
        return x


class ReducesByPath(Base):
    def forward(self, x: Tensor) -> Tensor:
        torch.distributed.broadcast(x, 0)
        return x


class ReducesByName(Base):
    def forward(self, x: Tensor) -> Tensor:
        all_gather([x], x)
        return x


class AsksItsRank(Base):
    def forward(self, x: Tensor) -> Tensor:
        return x * (dist.get_rank() if dist.is_initialized() else 1)


def test_what_waits_for_other_ranks_counts() -> None:
    assert side_effect(Reduces()) == "all_reduce between ranks in forward"
    assert side_effect(ReducesByPath()) == "broadcast between ranks in forward"
    assert side_effect(ReducesByName()) == "all_gather between ranks in forward"
    assert side_effect(nn.Sequential(nn.SyncBatchNorm(2))) == "SyncBatchNorm"
    assert side_effect(AsksItsRank()) is None


def test_hooks_and_lazy_layers_count():
    model = nn.Linear(2, 2)
    model.register_forward_hook(lambda *_: None)
    assert side_effect(model) == "hooks on Linear"
    assert side_effect(nn.Sequential(nn.LazyLinear(3))) is not None


class ClassCounter(Base):
    n: ClassVar[int] = 0

    def forward(self, x: Tensor) -> Tensor:
        ClassCounter.n += 1
        return self.layer(x)


class ModuleCounter(Base):
    def forward(self, x: Tensor) -> Tensor:
        math.seen = getattr(math, "seen", 0) + 1
        return self.layer(x)


class OtherObject(Base):
    def forward(self, x: Tensor) -> Tensor:
        x.tag = 1
        return self.layer(x)


class ClassList(Base):
    seen: ClassVar[list[int]] = []

    def forward(self, x: Tensor) -> Tensor:
        ClassList.seen.append(1)
        return self.layer(x)


@pytest.mark.parametrize(
    ("model", "word"),
    [
        (ClassCounter, "attribute n of another object written"),
        (ModuleCounter, "attribute seen of another object written"),
        (OtherObject, "attribute tag of another object written"),
        (ClassList, "ClassList.seen, a list that others see,"),
    ],
)
def test_writing_on_what_others_see_counts(model: type[nn.Module], word: str) -> None:
    assert word in (side_effect(model()) or "")


class OwnCounter(Base):
    def __init__(self) -> None:
        super().__init__()
        self.n = 0
        self.cache: dict[str, Tensor] = {}

    def forward(self, x: Tensor) -> Tensor:
        self.n += 1
        self.last = self.layer(x)
        out = torch.zeros_like(self.last)
        out[x[:, 0] > 0] = 1.0
        return self.last + out


def test_a_counter_of_its_own_and_tensors_written_in_place_do_not() -> None:
    assert side_effect(OwnCounter()) is None


class OwnCall(Base):
    def __call__(self, x: Tensor) -> Tensor:
        return super().__call__(x) + 1

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(x)


class OwnCopy(Base):
    def forward(self, x: Tensor) -> Tensor:
        return self.layer(x)

    def __deepcopy__(self, memo: object) -> nn.Module:
        return self


def test_ways_of_its_own_count() -> None:
    assert "__call__ or attributes of its own in OwnCall" in (side_effect(OwnCall()) or "")
    assert "__deepcopy__ of its own in OwnCopy" in (side_effect(OwnCopy()) or "")
    patched = OwnCounter()
    patched.forward = lambda x: x  # type: ignore[method-assign]
    assert "forward of its own" in (side_effect(patched) or "")


def test_a_recurrent_network_of_torch_has_no_ways_of_its_own_and_a_users_attribute_has():
    class Odd(nn.Module):
        def __setattr__(self, name, value):
            super().__setattr__(name, value)

    assert own_ways(nn.LSTM(2, 2)) is None
    assert own_ways(Odd()) == "__call__ or attributes"


class Holding(Base):
    def __init__(self, body: object) -> None:
        super().__init__()
        self.body = body

    def forward(self, x: Tensor) -> Tensor:
        return x


def told(x: Tensor) -> Tensor:
    print("seen")
    return x


def test_functions_that_hold_parts_are_read_like_a_forward() -> None:
    part = nn.Linear(2, 2)
    quiet = [lambda x: part(x), [lambda x: part(x)], {"a": lambda x: part(x)}, lambda x, layer=part: layer(x), plain]
    assert [side_effect(Holding(body)) for body in (*quiet, None)] == [None] * 6
    assert side_effect(Holding(lambda x: told(part(x)))) == "print in told"
