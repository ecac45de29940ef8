"""What the first layer receives, under a real session."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from debugtracer.trace.facts.first_input import FirstInput
from tests.observers.observing import observed
from tests.observers.told import findings

PIXELS = torch.randint(0, 256, (64, 3, 6, 6), generator=torch.Generator().manual_seed(1)).float()


class Net(nn.Module):
    def __init__(self, scale: float = 1.0) -> None:
        super().__init__()
        self.scale = scale
        self.body = nn.Conv2d(3, 4, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.body((x - 127.5) / self.scale if self.scale > 1 else x).mean((2, 3))


def loop(model: nn.Module, prepare=lambda x: x):
    optimizer = torch.optim.SGD(model.parameters(), 1e-4)

    def run() -> None:
        for x, y in DataLoader(TensorDataset(PIXELS, torch.arange(64) % 4), batch_size=16):
            loss = nn.functional.cross_entropy(model(prepare(x)), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    return run


def test_raw_pixels_reach_the_first_layer_and_are_a_warning(tmp_path):
    (fact,) = observed(tmp_path, loop(Net()), FirstInput)
    assert (fact.root, fact.function, fact.shape, fact.low, fact.high) == ("Net", "conv2d", (16, 3, 6, 6), 0.0, 255.0)
    assert (fact.mean, fact.whole) == (pytest.approx(float(PIXELS[:16].mean()), rel=1e-4), True)
    (finding,) = findings(tmp_path, "unnormalised")
    assert finding.severity == "warning"


@pytest.mark.parametrize(
    ("model", "prepare"), [(Net(), lambda x: x / 255 - 0.5), (Net(scale=64.0), lambda x: x)], ids=["loop", "forward"]
)
def test_a_program_that_scales_after_its_loader_is_left_alone(tmp_path, model, prepare):
    (fact,) = observed(tmp_path, loop(model, prepare), FirstInput)
    assert abs(float(fact.mean)) < 1
    assert findings(tmp_path, "unnormalised") == []


@pytest.mark.parametrize("norm", [nn.BatchNorm2d(4), nn.InstanceNorm2d(4, affine=True), nn.GroupNorm(2, 4)], ids=str)
def test_a_normalisation_behind_the_first_layer_takes_the_scale_away(tmp_path, norm):
    net = Net()
    net.body = nn.Sequential(nn.Conv2d(3, 4, 3), norm)  # type: ignore[assignment]
    (fact,) = observed(tmp_path, loop(net), FirstInput)
    assert fact.normed and fact.high == 255
    assert findings(tmp_path, "unnormalised") == []


def steps(model: nn.Module, made):
    optimizer = torch.optim.SGD(model.parameters(), 1e-4)

    def run() -> None:
        for _ in range(2):
            made(model).sum().backward()
            optimizer.step()

    return run


def test_integers_are_no_input(tmp_path):
    table = steps(nn.Embedding(9, 2), lambda model: model(torch.arange(9)))
    assert observed(tmp_path, table, FirstInput) == []


def test_the_line_that_made_it_is_looked_for_where_it_is_next_to_nothing(tmp_path):
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.Flatten(), nn.Linear(64, 4))
    optimizer = torch.optim.SGD(model.parameters(), 1e-4)

    def run() -> None:
        for x, y in DataLoader(TensorDataset(PIXELS / 255, torch.arange(64) % 4), batch_size=16):
            x = x / 255
            loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    (fact,) = observed(tmp_path, run, FirstInput)
    assert fact.made is not None and fact.made.code == "x = x / 255"
    (finding,) = findings(tmp_path, "unnormalised")
    assert finding.severity == "warning"


def test_it_is_not_looked_for_elsewhere(tmp_path):
    (fact,) = observed(tmp_path, loop(Net()), FirstInput)
    assert fact.made is None


class Pair(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Linear(6, 8)
        self.head = nn.Linear(8, 1)

    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return self.head(1e-4 * (self.body(a) - self.body(b)).abs())


def test_what_layers_made_is_no_input_where_forward_is_called_by_name(tmp_path):
    model = Pair()
    optimizer = torch.optim.SGD(model.parameters(), 1e-4)

    def run() -> None:
        for _ in range(3):
            loss = model.forward(torch.randn(16, 6), torch.randn(16, 6)).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    assert {fact.shape for fact in observed(tmp_path, run, FirstInput)} == {(16, 6)}
    assert findings(tmp_path, "unnormalised") == []
