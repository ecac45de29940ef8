"""Facts about clipping calls: told with their parameters as a list, and clipping as ever."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import nn

from debugtracer.hooks.clip import ClipHook
from debugtracer.hooks.events.loop_events import LoopEvents
from debugtracer.hooks.events.training_thread import TrainingThread


class Told(LoopEvents):
    """What a session would hear."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []
        self.clips = ClipHook(self, TrainingThread())

    def clip(self, original: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        self.calls.append((original.__name__, args, kwargs))
        return original(*args, **kwargs)


@pytest.fixture
def told() -> Iterator[Told]:
    found = Told()
    found.clips.install()
    yield found
    found.clips.remove()


def a_model() -> nn.Module:
    torch.manual_seed(0)
    model = nn.Linear(3, 2)
    model(torch.full((4, 3), 100.0)).sum().backward()
    return model


def test_a_generator_of_parameters_is_told_as_a_list_and_clipped(told: Told) -> None:
    model, bare = a_model(), a_model()
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    told.clips.off = True
    expected = torch.nn.utils.clip_grad_norm_(bare.parameters(), 1.0)
    assert torch.equal(norm, expected)
    assert torch.equal(model.weight.grad, bare.weight.grad)
    ((name, args, _),) = told.calls
    assert name == "clip_grad_norm_"
    assert [id(p) for p in args[0]] == [id(p) for p in model.parameters()]
    assert args[1] == 1.0


def test_keywords_and_one_tensor_pass(told: Told) -> None:
    model = a_model()
    torch.nn.utils.clip_grad_norm_(parameters=model.weight, max_norm=2.0, norm_type=1.0)
    assert told.calls[0][1][0] is model.weight
    assert told.calls[0][2] == {"max_norm": 2.0, "norm_type": 1.0}


def test_clipping_by_value_is_told(told: Told) -> None:
    model = a_model()
    torch.nn.utils.clip_grad_value_(model.parameters(), 0.5)
    assert told.calls[0][0] == "clip_grad_value_"
    assert model.weight.grad.max() == 0.5


def test_both_places_where_the_names_are_looked_up_are_patched_and_restored() -> None:
    before = torch.nn.utils.clip_grad_norm_, torch.nn.utils.clip_grad.clip_grad_norm_
    told = Told()
    told.clips.install()
    torch.nn.utils.clip_grad.clip_grad_norm_(a_model().parameters(), 1.0)
    assert len(told.calls) == 1
    told.clips.remove()
    assert (torch.nn.utils.clip_grad_norm_, torch.nn.utils.clip_grad.clip_grad_norm_) == before


def test_what_the_call_raises_is_the_user_s(told: Told) -> None:
    model = a_model()
    model.weight.grad.fill_(float("nan"))
    with pytest.raises(RuntimeError, match="non-finite"):
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0, error_if_nonfinite=True)
