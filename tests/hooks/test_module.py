"""Facts about root calls: only the outermost call is told, once in and once out, whatever happens in between."""

from __future__ import annotations

import copy
import pickle
import threading
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import nn

from debugtracer.errors import StoppedByTracer
from debugtracer.hooks.events.loop_events import LoopEvents
from debugtracer.hooks.events.training_thread import TrainingThread
from debugtracer.hooks.module import ModuleHook, ignored
from debugtracer.recorder.run_state import OpenRoot


class Log(LoopEvents):
    """What a session would hear."""

    def __init__(self) -> None:
        self.told: list[tuple[Any, ...]] = []
        self.stops = False
        self.open_root = OpenRoot()
        self.calls = ModuleHook(self, TrainingThread(), self.open_root)

    def entered(self, module: nn.Module, args: tuple[Any, ...]) -> None:
        if self.stops:
            raise StoppedByTracer
        self.told.append(("in", module, args))

    def left(self, module: nn.Module, kwargs: dict[str, Any], output: Any, failed: bool) -> None:
        self.told.append(("out", module, kwargs, output, failed))

    @property
    def words(self) -> list[tuple[str, nn.Module]]:
        return [(t[0], t[1]) for t in self.told]


@pytest.fixture
def log() -> Iterator[Log]:
    found = Log()
    found.calls.install()
    yield found
    found.calls.remove()


class Recursive(nn.Module):
    def forward(self, x: torch.Tensor, depth: int) -> torch.Tensor:
        return x if depth == 0 else self(x + 1, depth - 1)


class Broken(nn.Module):
    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.inner, self.error = nn.Linear(2, 2), error

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.inner(x)
        raise self.error


class Catching(nn.Module):
    """Goes on after an exception in its own part, and in itself."""

    def __init__(self) -> None:
        super().__init__()
        self.part = Broken(ValueError("part"))

    def forward(self, x: torch.Tensor, again: bool = True) -> torch.Tensor:
        if not again:
            raise ValueError("self")
        caught = 0
        for module, options in ((self.part, {}), (self, {"again": False})):
            try:
                module(x, **options)
            except ValueError:
                caught += 1
        return x + caught


def test_the_outermost_call_is_told_with_what_it_took_and_gave(log: Log) -> None:
    model, x = nn.Sequential(nn.Linear(2, 2), nn.ReLU()), torch.ones(1, 2)
    y = model(x)
    assert log.words == [("in", model), ("out", model)]
    assert log.told[0][2][0] is x
    assert log.told[1][2] == {}
    assert log.told[1][3] is y
    assert log.told[1][4] is False


def test_keywords_are_told_at_the_end(log: Log) -> None:
    model = nn.Bilinear(2, 2, 1)
    a, b = torch.ones(1, 2), torch.zeros(1, 2)
    model(a, input2=b)
    assert log.told[1][2]["input2"] is b


def test_a_module_that_calls_itself_is_one_call(log: Log) -> None:
    model = Recursive()
    assert model(torch.zeros(1), 4).item() == 4
    assert log.words == [("in", model), ("out", model)]
    assert log.told[0][2][1] == 4
    assert log.told[1][3].item() == 4


def test_two_roots_in_a_row_are_two_calls(log: Log) -> None:
    a, b = nn.ReLU(), nn.Linear(2, 2)
    b(a(torch.ones(2)))
    assert log.words == [("in", a), ("out", a), ("in", b), ("out", b)]


def test_a_loss_module_is_a_root(log: Log) -> None:
    model, criterion = nn.Linear(2, 2), nn.MSELoss()
    criterion(model(torch.ones(1, 2)), torch.zeros(1, 2))
    assert [m for _, m in log.words] == [model, model, criterion, criterion]


def test_an_exception_in_a_forward_ends_the_call_as_failed(log: Log) -> None:
    model = Broken(ValueError("mine"))
    with pytest.raises(ValueError, match="mine"):
        model(torch.ones(1, 2))
    assert log.words == [("in", model), ("out", model)]
    assert log.told[1][3:] == (None, True)
    nn.ReLU()(torch.ones(1))
    assert len(log.told) == 4


def test_an_exception_that_the_model_survives_is_inside_its_call(log: Log) -> None:
    model = Catching()
    assert model(torch.zeros(1, 2)).sum() == 4
    assert log.words == [("in", model), ("out", model)]
    assert log.told[1][4] is False


def test_an_interrupted_call_is_forgotten_on_reset(log: Log) -> None:
    model = Broken(KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        model(torch.ones(1, 2))
    assert log.words == [("in", model)], "torch calls no hook for a KeyboardInterrupt"
    assert log.open_root.reset() is True
    after = nn.ReLU()
    after(torch.ones(1))
    assert log.words[1:] == [("in", after), ("out", after)]
    assert log.open_root.reset() is False


def test_nothing_is_told_while_torch_compiles() -> None:
    log = Log()
    model = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    log.calls.install()
    try:
        torch.export.export(model, (torch.ones(1, 2),))
    finally:
        log.calls.remove()
    assert log.told == []


def global_hooks() -> int:
    return len(nn.modules.module._global_forward_pre_hooks) + len(nn.modules.module._global_forward_hooks)


class Looking(nn.Module):
    """Notes what torch finds at an inner call; may raise, copy itself, or be interrupted there."""

    def __init__(self, act: Any = lambda self: None) -> None:
        super().__init__()
        self.part, self.act = nn.Linear(2, 2), act
        self.seen: list[tuple[int, int]] = []

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.seen.append((global_hooks(), len(self.part._forward_hooks)))
        self.act(self)
        return self.part(x)


def hooks_of(module: nn.Module) -> int:
    return len(module._forward_hooks) + len(module._forward_pre_hooks) + len(module._forward_hooks_always_called)


def test_inside_a_root_no_hook_of_ours_is_on_torch_s_list(log: Log) -> None:
    model = Looking()
    for _ in range(2):
        model(torch.ones(1, 2))
        assert (global_hooks(), hooks_of(model)) == (2, 0)
    assert model.seen == [(0, 0), (0, 0)]
    assert len(log.told) == 4


def test_a_hook_of_the_program_s_own_keeps_its_place_and_ours(log: Log) -> None:
    heard: list[nn.Module] = []
    other = nn.modules.module.register_module_forward_pre_hook(lambda module, args: heard.append(module))
    model = Looking()
    try:
        model(torch.ones(1, 2))
    finally:
        other.remove()
    assert model.seen == [(3, 0)]
    assert heard == [model, model.part]
    assert log.words == [("in", model), ("out", model)]


def test_a_hook_that_the_program_adds_inside_stays_behind_ours(log: Log) -> None:
    handles: list[Any] = []
    model = Looking(lambda _: handles.append(nn.modules.module.register_module_forward_pre_hook(lambda m, a: None)))
    try:
        model(torch.ones(1, 2))
        assert list(nn.modules.module._global_forward_pre_hooks)[-1] == handles[0].id
    finally:
        handles[0].remove()
    assert (global_hooks(), hooks_of(model)) == (2, 0)


def test_a_failed_root_with_hooks_of_its_own_raises_what_it_raised(log: Log) -> None:
    def fail(model: nn.Module) -> None:
        raise ValueError("mine")

    model = Looking(fail)
    told: list[str] = []
    for word in ("a", "b"):
        model.register_forward_hook(lambda *_, word=word: told.append(word), always_call=True)
    before = hooks_of(model)
    for _ in range(2):
        with pytest.raises(ValueError, match="mine"):
            model(torch.ones(1, 2))
    assert told == ["a", "b"] * 2
    assert [t[-1] for t in log.told if t[0] == "out"] == [True, True]
    model.act = lambda _: None
    model(torch.ones(1, 2))
    assert log.words[-2:] == [("in", model), ("out", model)]
    assert log.told[-1][-1] is False
    assert (global_hooks(), hooks_of(model)) == (2, before)


def test_an_interrupted_root_is_cleared_on_reset(log: Log) -> None:
    def interrupt(model: nn.Module) -> None:
        raise KeyboardInterrupt

    model = Looking(interrupt)
    with pytest.raises(KeyboardInterrupt):
        model(torch.ones(1, 2))
    model.act = lambda _: None
    model(torch.ones(1, 2))
    assert log.words == [("in", model)], "a call of the lost root is not taken for its end"
    assert log.open_root.reset() is True
    assert (global_hooks(), hooks_of(model)) == (2, 0)
    model(torch.ones(1, 2))
    assert log.words[1:] == [("in", model), ("out", model)]


def test_a_root_that_copies_itself_copies_nothing_of_ours(log: Log) -> None:
    made: list[Looking] = []
    model = Looking(lambda self: made.append(copy.deepcopy(self)))
    model(torch.ones(1, 2))
    log.told.clear()
    twin = made[0]
    twin.act = lambda _: None
    twin(torch.ones(1, 2))
    assert log.words == [("in", twin), ("out", twin)]
    assert pickle.loads(pickle.dumps(log.calls.at_end)).told is ignored


def test_a_layer_whose_forward_looks_at_its_own_hooks_has_none_of_ours(log: Log) -> None:
    layer = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True).eval()
    kept: list[int] = []
    layer.norm1.register_forward_hook(lambda *_: None)  # the slow path, where inner modules are called
    layer.linear1.register_forward_pre_hook(lambda *_: kept.append(hooks_of(layer)))
    with torch.no_grad():
        layer(torch.ones(1, 3, 4))
    assert kept == [0]
    assert log.words == [("in", layer), ("out", layer)]


def test_where_another_thread_calls_modules_the_list_is_left_alone(log: Log) -> None:
    model = Looking()
    model(torch.ones(1, 2))
    log.calls.thread.here()
    other = threading.Thread(target=nn.Linear(2, 2), args=(torch.ones(1, 2),))
    other.start()
    other.join()
    model(torch.ones(1, 2))
    assert model.seen == [(0, 0), (2, 0)]


def test_paused_the_list_is_empty_and_resumed_it_is_as_before(log: Log) -> None:
    log.calls.pause()
    assert global_hooks() == 0
    nn.Sequential(nn.ReLU())(torch.ones(1))
    log.calls.resume()
    assert (global_hooks(), log.told) == (2, [])


def test_a_pause_inside_a_root_leaves_it_open(log: Log) -> None:
    def replay(_: nn.Module) -> None:
        log.calls.pause()
        log.calls.resume()

    model = Looking(replay)
    model(torch.ones(1, 2))
    assert log.words == [("in", model), ("out", model)]


def test_compiled_parts_are_compiled_once_however_they_are_called(log: Log) -> None:
    torch._dynamo.reset()
    model = nn.Sequential(torch.compile(nn.Sequential(nn.Linear(2, 2), nn.ReLU()), backend="eager"), nn.Linear(2, 2))
    torch._dynamo.utils.counters.clear()
    for _ in range(3):
        model(torch.ones(1, 2)).sum().backward()
        log.calls.pause()
        model(torch.ones(1, 2))
        log.calls.resume()
        with pytest.raises(TypeError):
            model(torch.ones(1, 2), 1)
    stats = torch._dynamo.utils.counters
    assert (stats["stats"]["unique_graphs"], stats["graph_break"], len(stats["recompiles"])) == (1, {}, 0)
    torch._dynamo.reset()


def test_a_compiled_module_is_one_root_call(log: Log) -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    compiled = torch.compile(model, backend="eager")
    for _ in range(2):
        log.told.clear()
        compiled(torch.ones(1, 2))
        assert [w for w, _ in log.words] == ["in", "out"]
    assert torch._dynamo.utils.counters["graph_break"] == {}
    torch._dynamo.reset()


def test_the_argument_and_the_output_are_the_user_s_own_objects(log: Log) -> None:
    class Same(nn.Module):
        def forward(self, x: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
            return x

    given = {"x": torch.ones(1)}
    assert Same()(given) is given


def test_the_stop_comes_through() -> None:
    log = Log()
    log.stops = True
    log.calls.install()
    try:
        with pytest.raises(StoppedByTracer):
            nn.ReLU()(torch.ones(1))
    finally:
        log.calls.remove()


def test_off_and_removed_nothing_is_told(log: Log) -> None:
    log.calls.off = True
    nn.ReLU()(torch.ones(1))
    log.calls.off = False
    log.calls.remove()
    nn.ReLU()(torch.ones(1))
    assert log.told == []
    hooks = torch.nn.modules.module
    assert not hooks._global_forward_pre_hooks
    assert not hooks._global_forward_hooks
