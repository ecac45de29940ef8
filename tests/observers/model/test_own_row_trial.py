"""Models whose rows hand what they know to each other, with and without their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from debugtracer.observers.model.own_row_trial import are_links, own_row
from debugtracer.observers.model.recorded_call import RecordedCall
from debugtracer.observers.model.shadow_model import ShadowModel

NODES, WIDE = 40, 5
DRAWN = torch.Generator().manual_seed(2)
NODE = torch.randn(NODES, WIDE, generator=DRAWN)
CLASSES = torch.randint(3, (30,), generator=DRAWN)
NEXT = torch.arange(NODES).roll(1)
RING = torch.eye(NODES)[NEXT] + torch.eye(NODES)[NEXT].T
PAIRS = torch.stack([torch.arange(NODES), NEXT])
SELF = torch.eye(NODES)


class Mean(nn.Module):
    """The sum over linked rows."""

    def __init__(self, given: int, made: int) -> None:
        super().__init__()
        self.weigh = nn.Linear(given, made)

    def forward(self, x: Tensor, links: Tensor) -> Tensor:
        return links @ self.weigh(x)


class Attend(Mean):
    """A weighted sum over linked rows; the weights depend on both."""

    def forward(self, x: Tensor, links: Tensor) -> Tensor:
        h = self.weigh(x)
        return ((h @ h.T).tanh().masked_fill(links == 0, -1e9)).softmax(1) @ h


class Along(Mean):
    """The sum over pairs."""

    def forward(self, x: Tensor, links: Tensor) -> Tensor:
        return torch.zeros(len(x), 4).index_add(0, links[1], self.weigh(x)[links[0]])


class Rooted(Mean):
    """A layer with a weight for the row itself."""

    def __init__(self, given: int, made: int) -> None:
        super().__init__(given, made)
        self.own = nn.Linear(given, made)

    def forward(self, x: Tensor, links: Tensor) -> Tensor:
        return super().forward(x, links) + self.own(x)


class Net(nn.Module):
    """A layer and a head, joined in some way."""

    def __init__(self, layer: type[Mean] = Mean, join: Callable[[Tensor, Tensor], Tensor] = lambda h, x: h) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.layer, self.join = layer(WIDE, 4), join
        self.second = layer(4, 4)
        self.head = nn.LazyLinear(3)

    def forward(self, x: Tensor, links: Tensor) -> Tensor:
        h = torch.tanh(self.layer(x, links))
        return self.head(self.join(torch.tanh(self.second(h, links)), x))


def tried(
    model: nn.Module, links: Tensor = RING, x: Tensor = NODE, target: Tensor | None = CLASSES, answer: Any = None
) -> dict[str, Any] | None:
    model(x, links)
    found = list(own_row(ShadowModel(model, []), RecordedCall(model, (x, links), {}), target, answer))
    return found[-1] if found else None


@pytest.mark.parametrize(
    ("layer", "links"), [(Mean, RING), (Attend, RING), (Along, PAIRS), (Mean, RING[None][0].bool().float())]
)
def test_rows_that_see_others_alone_are_found_in_the_first_layer_though_two_lead_back(
    layer: Any, links: Tensor
) -> None:
    found = tried(Net(layer), links)
    assert found is not None
    assert (found["changed"], found["position"], found["length"], found["common"]) == (True, 8, 8, NODES)
    assert found["module"] == "layer"


@pytest.mark.parametrize("layer", [Mean, Attend])
def test_the_rows_of_each_sample(layer: Any) -> None:
    class PerSample(Net):
        def forward(self, x: Tensor, links: Tensor) -> Tensor:
            return torch.tanh(links @ self.layer.weigh(x))

    found = tried(PerSample(layer), x=torch.randn(2, NODES, WIDE, generator=DRAWN))
    assert found is not None
    assert found["common"] == NODES


@pytest.mark.parametrize(
    ("model", "links"),
    [
        (Net(), RING + SELF),
        (Net(Attend), RING + SELF),
        (Net(Along), torch.cat([PAIRS, torch.arange(NODES).expand(2, -1)], 1)),
        (Net(Rooted), RING),
        (Net(join=lambda h, x: torch.cat([h, x], 1)), RING),
        (Net(join=lambda h, x: h + x[:, :4]), RING),
        (Net(), SELF),
    ],
    ids=["self-loops", "attention with them", "pairs with them", "a weight of its own", "joined", "residual", "apart"],
)
def test_rows_that_see_themselves_in_any_way_are_silent(model: nn.Module, links: Tensor) -> None:
    assert tried(model, links) is None


def test_whoever_is_to_say_its_own_input_may_not_see_it() -> None:
    assert tried(Net(), target=None, answer=NODE[:, 0].clone()) is None
    assert tried(Net(), target=None, answer=NODE[:20, :3].clone()) is None
    assert tried(Net(), target=None, answer=3 * NODE[:, 2:3] - 7) is None
    assert tried(Net(), target=None, answer=torch.randn(NODES, 3, generator=DRAWN)) is not None
    known = nn.functional.one_hot(torch.arange(NODES) % 3, 3).float()
    assert tried(Known(), x=known) is None


class Known(nn.Module):
    """A step of label propagation."""

    def __init__(self) -> None:
        super().__init__()
        self.weigh = nn.Linear(3, 3)

    def forward(self, x: Tensor, links: Tensor) -> Tensor:
        return self.weigh(links @ x)


def test_without_links_or_a_lesson_nothing_runs() -> None:
    assert tried(Net(), target=None) is None
    few = torch.eye(4)[[1, 2, 3, 0]]
    assert tried(Net(), few, NODE[:4]) is None


def test_what_links_rows() -> None:
    assert are_links(RING, NODES, 0)
    assert are_links(RING.expand(2, NODES, NODES), NODES, 1)
    assert are_links(PAIRS, NODES, 0)
    assert not are_links(PAIRS + 900, NODES, 0)
    assert not are_links(PAIRS, NODES, 1)
    assert not are_links(torch.zeros(NODES, 3), NODES, 0)
