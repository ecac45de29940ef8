"""Facts about the gate: every outermost step of every optimizer passes it once, and nothing of it stays behind."""

from __future__ import annotations

import copy
import functools
import gc
import inspect
import pickle
import threading
import warnings
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import nn
from torch.optim import SGD, AdamW, Optimizer

from debugtracer.errors import StoppedByTracer
from debugtracer.hooks.events.loop_events import LoopEvents
from debugtracer.hooks.events.training_thread import TrainingThread
from debugtracer.hooks.optimizer import OptimizerHook
from debugtracer.recorder.run_state import RunState


class Gate(LoopEvents):
    """Lets every step through and notes it."""

    def __init__(self) -> None:
        self.steps: list[tuple[Optimizer, tuple[Any, ...], dict[str, Any]]] = []
        self.zeroed: list[Any] = []
        self.built: list[Optimizer] = []
        self.found = 0
        self.stops = False
        self.thread, self.state = TrainingThread(), RunState()
        self.gates = OptimizerHook(self, self.thread, self.state)

    def optimizer_found(self, optimizer: Any) -> None:
        self.found += 1

    def optimizer_built(self, optimizer: Optimizer) -> None:
        self.built.append(optimizer)

    def step(self, optimizer: Optimizer, original: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if self.stops:
            raise StoppedByTracer
        self.steps.append((optimizer, args, kwargs))
        return original(optimizer, *args, **kwargs)

    def zero_grad(self, owner: Any, original: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        self.zeroed.append(owner)
        return original(owner, *args, **kwargs)


@pytest.fixture
def gate() -> Iterator[Gate]:
    found = Gate()
    found.gates.install()
    yield found
    found.gates.remove()


def parameter() -> nn.Parameter:
    p = nn.Parameter(torch.ones(3))
    p.grad = torch.ones(3)
    return p


KINDS: list[type[Optimizer]] = [
    k for k in vars(torch.optim).values() if isinstance(k, type) and issubclass(k, Optimizer) and k is not Optimizer
]


@pytest.mark.parametrize(
    "kind", [k for k in KINDS if k.__name__ not in {"LBFGS", "SparseAdam", "Muon"}], ids=lambda k: k.__name__
)
def test_each_optimizer_of_torch_passes_once_and_moves_its_parameter(gate: Gate, kind: Any) -> None:
    p = parameter()
    optimizer = kind([p])
    optimizer.step()
    assert [o for o, *_ in gate.steps] == [optimizer]
    assert not torch.equal(p.detach(), torch.ones(3))


def test_a_class_of_the_user_s_own_passes_once_with_super_step_inside(gate: Gate) -> None:
    class Mine(SGD):
        def step(self, closure: Any = None) -> str:  # type: ignore[override]
            super().step(closure)
            super().step(closure)
            return "mine"

    p = parameter()
    optimizer = Mine([p], lr=0.5)
    assert optimizer.step() == "mine"  # type: ignore[comparison-overlap]
    assert len(gate.steps) == 1
    assert p.tolist() == [0, 0, 0]


def test_a_class_that_inherits_its_step_passes_once(gate: Gate) -> None:
    class Mine(SGD):
        pass

    Mine([parameter()], lr=0.5).step()
    SGD([parameter()], lr=0.5).step()
    assert len(gate.steps) == 2


def test_a_class_written_from_scratch_passes(gate: Gate) -> None:
    class Mine(Optimizer):
        def __init__(self, params: Any) -> None:
            super().__init__(params, {})

        @torch.no_grad()
        def step(self, closure: Any = None) -> None:  # type: ignore[override]
            for group in self.param_groups:
                for p in group["params"]:
                    p.sub_(p.grad)

    p = parameter()
    Mine([p]).step()
    assert len(gate.steps) == 1
    assert p.tolist() == [0, 0, 0]


def test_a_wrapper_around_an_optimizer_passes_once(gate: Gate) -> None:
    class Lookahead(Optimizer):
        def __init__(self, inner: Optimizer) -> None:
            self.inner = inner
            super().__init__(inner.param_groups, {})

        def step(self, closure: Any = None) -> None:  # type: ignore[override]
            self.inner.step(closure)

    wrapper = Lookahead(SGD([parameter()], lr=0.5))
    wrapper.step()
    assert [o for o, *_ in gate.steps] == [wrapper]


def test_the_closure_and_its_loss_pass(gate: Gate) -> None:
    p = parameter()

    def closure() -> torch.Tensor:
        return (p * 2).sum()

    assert SGD([p], lr=0.1).step(closure).item() == 6
    SGD([p], lr=0.1).step(closure=closure)
    assert [(args, kwargs) for _, args, kwargs in gate.steps] == [((closure,), {}), ((), {"closure": closure})]


def test_what_the_step_raises_passes_and_the_next_step_is_told(gate: Gate) -> None:
    def closure() -> float:
        raise ValueError("mine")

    optimizer = SGD([parameter()], lr=0.1)
    with pytest.raises(ValueError, match="mine"):
        optimizer.step(closure)
    optimizer.step()
    assert len(gate.steps) == 2


def test_the_stop_comes_before_the_write(gate: Gate) -> None:
    gate.stops = True
    p = parameter()
    with pytest.raises(StoppedByTracer):
        SGD([p], lr=0.1).step()
    assert p.tolist() == [1, 1, 1]


@pytest.mark.filterwarnings("error")
def test_a_step_through_a_scheduler_s_wrapper_passes_once_without_a_warning(gate: Gate) -> None:
    optimizer = SGD([parameter()], lr=0.1)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
    optimizer.step()
    scheduler.step()
    assert len(gate.steps) == 1


@pytest.mark.filterwarnings("error")
def test_an_optimizer_and_its_scheduler_built_before_us_pass() -> None:
    optimizer, plain = SGD([parameter()], lr=0.1), SGD([parameter()], lr=0.1)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
    bound = vars(optimizer)["step"]
    late = Gate()
    late.gates.install()
    try:
        optimizer.step()
        scheduler.step()
        plain.step()
        assert [id(o) for o, *_ in late.steps] == [id(optimizer), id(plain)]
        assert late.found >= 2, "optimizers of other tests may still be alive"
        assert late.built == []
    finally:
        late.gates.remove()
    assert vars(optimizer)["step"] is bound
    optimizer.step()
    assert len(late.steps) == 2


def test_everything_is_as_it_was_after_remove() -> None:
    SGD([parameter()])
    before = SGD.step, Optimizer.zero_grad, Optimizer.__init__, nn.Module.zero_grad, Optimizer.profile_hook_step
    gate = Gate()
    gate.gates.install()
    assert SGD.step is not before[0]

    class Mine(SGD):
        def step(self, closure: Any = None) -> None:  # type: ignore[override]
            super().step(closure)

    mine = Mine([parameter()])
    gate.gates.remove()
    assert (
        SGD.step,
        Optimizer.zero_grad,
        Optimizer.__init__,
        nn.Module.zero_grad,
        Optimizer.profile_hook_step,
    ) == before
    assert not hasattr(Mine.step, "debug_tracer_original")
    mine.step()
    Mine([parameter()]).step()
    assert gate.steps == []


def test_a_step_kept_from_before_the_removal_is_silent_after_it(gate: Gate) -> None:
    optimizer = SGD([parameter()], lr=0.5)
    kept = optimizer.step
    gate.gates.remove()
    kept()
    assert gate.steps == []
    assert optimizer.param_groups[0]["params"][0].tolist() == [0.5] * 3


@pytest.mark.parametrize("twin", [copy.deepcopy, lambda o: pickle.loads(pickle.dumps(o))], ids=["deepcopy", "pickle"])
def test_a_copy_of_an_optimizer_works_and_passes(gate: Gate, twin: Callable[[Optimizer], Optimizer]) -> None:
    optimizer = AdamW([parameter()], lr=0.1)
    torch.optim.lr_scheduler.StepLR(optimizer, 1)
    optimizer.step()
    second = twin(optimizer)
    second.param_groups[0]["params"][0].grad = torch.ones(3)
    gate.steps.clear()
    second.step()
    optimizer.step()
    assert [o for o, *_ in gate.steps] == [second, optimizer]
    assert torch.equal(second.param_groups[0]["params"][0], optimizer.param_groups[0]["params"][0])


def test_names_and_signatures_stay(gate: Gate) -> None:
    assert SGD.step.__name__ == "step"
    assert SGD.step.__qualname__ == "SGD.step"
    assert list(inspect.signature(AdamW.__init__).parameters)[:2] == ["self", "params"]
    assert list(inspect.signature(Optimizer.zero_grad).parameters) == ["self", "set_to_none"]


def test_hooks_of_the_user_run_around_the_step(gate: Gate) -> None:
    order: list[str] = []
    optimizer = SGD([parameter()], lr=0.1)
    optimizer.register_step_pre_hook(lambda *_: order.append("pre"))
    optimizer.register_step_post_hook(lambda *_: order.append("post"))
    optimizer.step()
    assert order == ["pre", "post"]


def test_hooks_of_the_user_run_once_on_a_class_that_was_first_built_while_we_listened() -> None:
    class Mine(SGD):
        def step(self, closure: Any = None) -> None:  # type: ignore[override]
            super().step(closure)

    SGD([parameter()])
    gate = Gate()
    gate.gates.install()
    Mine([parameter()])
    gate.gates.remove()
    ran: list[str] = []
    optimizer = Mine([parameter()], lr=0.1)
    optimizer.register_step_pre_hook(lambda *_: ran.append("pre"))
    optimizer.step()
    assert ran == ["pre", "pre"], "once for Mine.step and once for the super().step() inside it, as without us"


def test_a_patch_of_somebody_else_over_ours_stays() -> None:
    SGD([parameter()])
    gate = Gate()
    gate.gates.install()

    class Mine(SGD):
        def step(self, closure: Any = None) -> None:  # type: ignore[override]
            super().step(closure)

    Mine([parameter()])
    ran: list[int] = []
    under = Mine.step

    @functools.wraps(under)
    def counted(self: Any, closure: Any = None) -> None:
        ran.append(1)
        under(self, closure)

    Mine.step = counted  # type: ignore[assignment, method-assign]
    gate.gates.remove()
    Mine([parameter()], lr=0.1).step()
    assert ran == [1]


def test_the_place_where_an_optimizer_was_built_is_noted_without_keeping_it(gate: Gate) -> None:
    optimizer = SGD([parameter()], lr=0.1)
    assert any(code.co_filename == __file__ for code, _ in gate.state.optimizers[optimizer])
    assert [id(o) for o in gate.built] == [id(optimizer)]
    gate.built.clear()
    alive = weakref.ref(optimizer)
    del optimizer
    gc.collect()
    assert alive() is None


def test_zero_grad_of_optimizers_and_modules_is_told_and_zeroes(gate: Gate) -> None:
    model = nn.Linear(2, 2)
    optimizer = SGD(model.parameters(), lr=0.1)
    for zero in (optimizer.zero_grad, model.zero_grad):
        model(torch.ones(1, 2)).sum().backward()
        zero()
        assert model.weight.grad is None
    assert gate.zeroed == [optimizer, model]


def test_zero_grad_inside_a_step_is_part_of_it(gate: Gate) -> None:
    optimizer = SGD([parameter()], lr=0.1)
    optimizer.register_step_post_hook(lambda o, *_: o.zero_grad())
    optimizer.step()
    assert gate.zeroed == []


def test_off_nothing_is_told(gate: Gate) -> None:
    gate.gates.off = True
    optimizer = SGD([parameter()], lr=0.1)
    optimizer.step()
    optimizer.zero_grad()
    assert (gate.steps, gate.zeroed) == ([], [])
    assert optimizer not in gate.state.optimizers
    assert gate.built == []


def test_no_warning_of_torch_s_scheduler_is_caused_by_a_late_install() -> None:
    optimizer = SGD([parameter()], lr=0.1)
    late = Gate()
    late.gates.install()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
        optimizer.step()
        scheduler.step()
    late.gates.remove()
    assert len(late.steps) == 1


def test_optimizers_of_other_threads_leave_ours(gate):
    ours, theirs, late = (SGD([parameter()], lr=0.1) for _ in range(3))
    gate.gates.makers[theirs] = 7
    assert gate.thread.here()
    optimizers, foreign = gate.state.optimizers, gate.state.foreign
    assert (ours in optimizers, theirs in optimizers, theirs in foreign) == (True, False, True)
    built: list[Optimizer] = []

    def other_loop() -> None:
        late.step()
        built.append(SGD([parameter()], lr=0.1))

    thread = threading.Thread(target=other_loop)
    thread.start()
    thread.join()
    assert late in foreign
    assert late not in optimizers
    assert built[0] not in optimizers
    assert gate.steps == []
