"""Names of attributes that torch does not read."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import nn

from debugtracer.observers.model.misspelt_names import is_read
from debugtracer.trace.facts.misspelt_name import MisspeltName
from tests.observers.observing import observed


class Net(nn.Module):
    """An encoder and a head."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
        self.head = nn.Linear(4, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.encoder(x))


class Frozen(Net):
    """Has a flag of its own, and a use for it."""

    def __init__(self) -> None:
        super().__init__()
        self.requires_grad = False

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        with torch.set_grad_enabled(self.requires_grad):
            x = self.encoder(x)
        return self.head(x)


def looks(out: Path, change: Callable[[Net], None], kind: type[Net] = Net) -> list[MisspeltName]:
    """What a run of a changed network emits."""

    def loop() -> None:
        net = kind()
        change(net)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
        for _ in range(3):
            loss = net(torch.randn(8, 4)).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    return observed(out, loop, MisspeltName)


def weights(net: Net) -> None:
    net.head.weights = nn.Parameter(torch.zeros(2, 4))


def plain_weights(net: Net) -> None:
    net.head.Weight = torch.zeros(2, 4)


@pytest.mark.parametrize(("change", "name"), [(weights, "weights"), (plain_weights, "Weight")])
def test_a_tensor_beside_the_one_that_is_read(tmp_path: Path, change: Callable[[Net], None], name: str):
    (fact,) = looks(tmp_path / "runs", change)
    assert (fact.path, fact.layer, fact.name, fact.meant, fact.value) == ("head", "Linear", name, "weight", None)
    assert fact.frame is not None and fact.frame.code.startswith(f"net.head.{name} = ")


def test_a_flag_of_a_module(tmp_path: Path):
    def change(net: Net) -> None:
        net.encoder.requires_grad = False

    (fact,) = looks(tmp_path / "runs", change)
    assert (fact.path, fact.name, fact.value, fact.parameters) == ("encoder", "requires_grad", False, 2)


def test_a_misspelt_flag_of_parameters_is_told_once(tmp_path: Path):
    def change(net: Net) -> None:
        for p in net.encoder.parameters():
            p.require_grad = False

    (fact,) = looks(tmp_path / "runs", change)
    assert (fact.layer, fact.name, fact.value, fact.parameters) == ("Parameter", "require_grad", False, 2)
    assert fact.frame is not None and fact.frame.code == "p.require_grad = False"


def in_earnest(net: Net) -> None:
    net.encoder.requires_grad_(False)
    net.encoder.requires_grad = False


def another_shape(net: Net) -> None:
    net.head.weights = torch.zeros(7)


def the_same(net: Net) -> None:
    net.head.weights = net.head.weight


def agreeing(net: Net) -> None:
    for p in net.parameters():
        p.require_grad = True


def of_its_own_class(net: Net) -> None:
    net.weights = nn.Parameter(torch.zeros(2, 4))


def kept_beside(net: Net) -> None:
    """What a penalty pulls the weights to."""
    net.head.Weights = net.head.weight.detach().clone()
    assert net.head.Weights.shape == (2, 4)


def own_flag(net: Net) -> None:
    """A flag that says which parts a loop of the program's own freezes."""
    net.encoder.required_grad = False
    for p in net.encoder.parameters():
        p.required_grad = False
        assert not p.required_grad


@pytest.mark.parametrize(
    "change", [kept_beside, own_flag, in_earnest, another_shape, the_same, agreeing, of_its_own_class]
)
def test_silent(tmp_path: Path, change: Callable[[Net], None]):
    assert looks(tmp_path / "runs", change) == []


def test_a_class_with_a_use_for_its_flag_is_silent(tmp_path: Path):
    assert looks(tmp_path / "runs", lambda net: None, Frozen) == []


def reads_of(tmp_path: Path, text: str, name: str, holder: str | None = None) -> bool:
    file = tmp_path / "train.py"
    file.write_text(text)
    linecache.checkcache()
    return is_read(name, [str(file)], holder)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("layer.weights = new\n", False),
        ("penalty = (layer.weight - layer.weights).square().sum()\n", True),
        ("old = getattr(layer, 'weights', None)\n", True),
        ("args = parser.parse_args()\nload(args.weights)\n", False),
    ],
    ids=["written", "in a penalty", "by its name", "an option"],
)
def test_a_tensor_that_the_program_reads_is_its_own(tmp_path: Path, text: str, expected: bool):
    assert reads_of(tmp_path, text, "weights") is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("known = [p for p in net.parameters() if p.requires_grad]\n", False),
        ("on = [m for m in net.children() if m.requires_grad]\n", True),
        ("for m in parts:\n    if getattr(m, 'requires_grad'):\n        pass\n", True),
        ("if net.encoder.requires_grad:\n    pass\n", True),
    ],
    ids=["of parameters", "of children", "by its name", "of the module"],
)
def test_a_flag_of_a_module_that_the_program_reads_is_its_own(tmp_path: Path, text: str, expected: bool):
    assert reads_of(tmp_path, text, "requires_grad", "encoder") is expected
