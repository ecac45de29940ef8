"""How many calls of torch's operators watching adds to a plain step: a few, however many parameters there are, and no
read of a scalar."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from traceback import extract_stack
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from debugtracer.observers.checkpoint.weights_at_rest import WeightsAtRestObserver
from debugtracer.recorder import measuring
from tests.recorder.watched import Watched
from tests.watching import under_watch

STEPS = 66  # past what is learned in the first 50
COUNTED = 9  # steps at the end of which the most usual counts: snapshots and looks fall where the machine's speed says
MOST = 7
FEW, MANY = 2, 38  # layers: 4 and 76 parameter tensors
SCALAR = "aten::_local_scalar_dense"
OPTIMIZERS: dict[str, Callable[[Any], torch.optim.Optimizer]] = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.01),
    "adam": lambda p: torch.optim.Adam(p, lr=0.001),
}


class AtenCalls(TorchDispatchMode):
    """Counts every call, ours among them once `measuring` no longer hides them."""

    def __init__(self) -> None:
        super().__init__()
        self.counts: Counter[str] = Counter()
        self.scalars: Counter[str] = Counter()
        """Who read a scalar, for the message of a failure."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.counts[func._schema.name] += 1
        if func._schema.name == SCALAR:
            self.scalars[" < ".join(f"{f.filename}:{f.lineno}" for f in extract_stack(limit=12)[::-1])] += 1
        return func(*args, **(kwargs or {}))


def calls(layers: int, optimizer: str, steps: int = STEPS) -> Counter[str]:
    """The calls of a plain step, the most usual of the last ones."""
    torch.manual_seed(0)
    made = [layer for _ in range(layers) for layer in (nn.Linear(8, 8), nn.LayerNorm(8, elementwise_affine=False))]
    model = nn.Sequential(*made)
    update = OPTIMIZERS[optimizer](model.parameters())
    counted = [AtenCalls() for _ in range(min(COUNTED, steps - 2))]
    for step in range(steps):
        x = torch.randn(4, 8)
        update.zero_grad()
        with counted[step - steps] if step >= steps - len(counted) else nullcontext():
            model(x).pow(2).mean().backward()
            update.step()
    print([one.scalars for one in counted])
    usual, _ = Counter(tuple(sorted(one.counts.items())) for one in counted).most_common(1)[0]
    return Counter(dict(usual))


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """No call of ours is hidden from the counting mode."""
    monkeypatch.setattr(measuring, "foreign", lambda: False)


def added_by(watch: Callable[[], Any], layers: int, optimizer: str) -> Counter[str]:
    """What watching adds to the last step."""
    bare = calls(layers, optimizer, 5)
    with watch():
        watched = calls(layers, optimizer)
    watched.subtract(bare)
    return +watched


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_recorder_and_gate_add_a_few_calls_however_many_parameters(seen: None, optimizer: str) -> None:
    few, many = (added_by(lambda: Watched(own_share=1e9), layers, optimizer) for layers in (FEW, MANY))
    assert few == many
    assert few["aten::_foreach_norm"] == 2
    assert few["aten::_foreach_copy_"] == (1 if optimizer == "sgd" else 2)
    assert few[SCALAR] == 0
    assert few.total() <= 5, few


@pytest.mark.parametrize("mode", ["observe", "dev", "val", "prod"])
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_a_whole_session_adds_a_few_calls_however_many_parameters(
    seen: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, optimizer: str, mode: str
) -> None:
    # it compares weights as often as that is cheap, which differs from machine to machine
    monkeypatch.setattr(WeightsAtRestObserver, "step_ended", lambda self, optimizer: None)
    settings: dict[str, Any] = {"inspect_steps": 0, "own_share": 1e9, "cost": 1.0}
    few, many = (
        added_by(lambda n=layers: under_watch(tmp_path / str(n), mode, **settings), layers, optimizer)  # type: ignore[misc]
        for layers in (FEW, MANY)
    )
    assert few == many
    assert few[SCALAR] <= (1 if mode == "dev" else 0)
    assert few.total() <= MOST, few
