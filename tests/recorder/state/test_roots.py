"""Facts about roots: what a forward moves is learned, kept before it and put back, and no module is kept alive."""

from __future__ import annotations

import gc
import weakref

import pytest
import torch
from torch import nn

from debugtracer.recorder.state import roots as roots_module
from debugtracer.recorder.state.roots import LEARN_CALLS, Root, Roots, plain_path, unwrapped


class Counting(nn.Module):
    """Counts its calls in Python, once in two calls, and carries buffers that move and one that does not."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(2)
        self.register_buffer("fixed", torch.arange(1000.0))
        self.register_buffer("seen", torch.zeros(()))
        self.count, self.even = 0, 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.count += 1
        self.even += self.count % 2 == 0
        self.seen += 1
        return self.norm(x)


def call(root: Root, model: nn.Module, times: int = 1) -> None:
    for _ in range(times):
        root.before()
        model(torch.randn(4, 2))
        root.after()


def buffers(model: nn.Module) -> dict[str, torch.Tensor]:
    return {name: buffer.clone() for name, buffer in model.named_buffers()}


@pytest.mark.parametrize("warm", [0, 1, 2, LEARN_CALLS, LEARN_CALLS + 5])
def test_a_restored_root_is_as_it_was_before_the_call(warm: int) -> None:
    model = Counting()
    root = Root(model, None)
    call(root, model, warm)
    before, counts, state = buffers(model), (model.count, model.even), root.before()
    model(torch.randn(4, 2))
    model(torch.randn(4, 2))
    assert not torch.equal(model.seen, before["seen"])
    state.restore()
    assert all(torch.equal(now, before[name]) for name, now in model.named_buffers())
    assert (model.count, model.even) == counts


def test_only_buffers_that_moved_are_copied_once_they_are_known() -> None:
    model = Counting()
    root = Root(model, None)
    assert any(b is model.fixed for b, _ in root.before().buffers.values())
    call(root, model)
    kept = [b for b, _ in root.before().buffers.values()]
    assert {id(b) for b in kept} == {
        id(b) for b in (model.seen, model.norm.running_mean, model.norm.running_var, model.norm.num_batches_tracked)
    }


def test_only_counters_that_moved_are_kept_once_they_are_known() -> None:
    model = Counting()
    root = Root(model, None)
    call(root, model, LEARN_CALLS)
    assert sorted(name for _, name, _, _ in root.before().attributes.values) == ["count", "even"]


@pytest.mark.parametrize("evaluations", [1, LEARN_CALLS + 2])
def test_what_moves_in_training_is_learned_although_evaluation_came_first(evaluations: int) -> None:
    model = Counting()
    root = Root(model, None)
    model.eval()
    call(root, model, evaluations)
    model.train()
    for _ in range(LEARN_CALLS + 2):
        before, state = buffers(model), root.before()
        model(torch.randn(4, 2))
        root.after()
        after = buffers(model)
        state.restore()
        assert all(torch.equal(now, before[name]) for name, now in model.named_buffers())
        for name, buffer in model.named_buffers():
            buffer.copy_(after[name])


def test_running_statistics_written_by_hand_are_seen_by_their_values() -> None:
    class Functional(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("mean", torch.zeros(2))
            self.register_buffer("var", torch.ones(2))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return nn.functional.batch_norm(x, self.mean, self.var, training=True)

    model = Functional()
    root = Root(model, None)
    version = model.mean._version
    call(root, model)
    assert model.mean._version == version, "torch counts this write now; the rule for values is not needed any more"
    assert {id(b) for b, _ in root.before().buffers.values()} == {id(model.mean), id(model.var)}


def test_frozen_norms_are_not_copied_once_they_are_known_to_rest() -> None:
    model = Counting().eval()
    root = Root(model, None)
    call(root, model, LEARN_CALLS)
    assert [b is model.seen for b, _ in root.before().buffers.values()] == [True]


def test_a_restored_buffer_is_the_same_object_with_the_same_version() -> None:
    model = Counting()
    root = Root(model, None)
    state = root.before()
    model(torch.randn(4, 2))
    seen, version = model.seen, model.seen._version
    state.restore()
    assert model.seen is seen
    assert seen._version == version


def test_train_and_eval_are_left_to_the_user() -> None:
    model = Counting()
    state = Root(model, None).before()
    model.eval()
    state.restore()
    assert not model.training


def test_buffers_too_large_are_not_copied_before_they_are_known_to_move(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(roots_module, "FIRST_COPY_BYTES", 100)
    model = Counting()
    root = Root(model, None)
    assert root.before().buffers == {}
    call(root, model)
    assert len(root.before().buffers) == 4


def test_a_module_without_buffers_or_counters_costs_nothing() -> None:
    model = nn.ReLU()
    root = Root(model, None)
    call(root, model, LEARN_CALLS)
    state = root.before()
    assert (state.buffers, state.attributes.values) == ({}, [])
    assert not root.has_parameters


def test_no_module_is_kept_alive_and_a_dead_one_has_no_state() -> None:
    roots, model = Roots(), Counting()
    root = roots.add(model, None)
    assert roots.get(model) is root
    alive = weakref.ref(model)
    del model
    gc.collect()
    assert alive() is None
    assert len(roots.known) == 0
    assert root.before().buffers == {}
    root.after()


def test_a_module_never_called_is_unknown() -> None:
    assert Roots().get(nn.ReLU()) is None


def test_parameters_are_named_from_the_owner_and_the_first_root_wins() -> None:
    whole = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    part, roots = whole[1], Roots()
    roots.add(part, whole)
    roots.add(part[0] if isinstance(part, nn.Sequential) else nn.Linear(1, 1), None)
    names = roots.named_parameters()
    assert names[id(part.weight)] == "1.weight"
    assert names[id(whole[0].bias)] == "0.bias"
    again = Roots()
    again.add(part, None)
    again.add(whole, None)
    assert again.named_parameters()[id(part.weight)] == "weight"


def test_wrappers_leave_no_trace_in_names() -> None:
    assert plain_path("module._orig_mod.layers.0.weight") == "layers.0.weight"
    compiled, roots = torch.compile(nn.Sequential(nn.Linear(2, 2))), Roots()
    roots.add(compiled, None)
    assert sorted(roots.named_parameters().values()) == ["0.bias", "0.weight"]


def test_only_a_distributed_wrapper_is_taken_off(tmp_path) -> None:
    class Holder(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.module = nn.Linear(2, 2)

    holder = Holder()
    assert unwrapped(holder) is holder
    torch.distributed.init_process_group("gloo", init_method=f"file://{tmp_path / 'rendezvous'}", rank=0, world_size=1)
    try:
        assert unwrapped(nn.parallel.DistributedDataParallel(holder)) is holder
    finally:
        torch.distributed.destroy_process_group()


def test_tensors_in_place_of_parameters_are_seen_at_the_call_alone() -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
    root, seen = Root(model, None), []
    model.register_forward_pre_hook(lambda module, args: seen.append(set(root.swapped(module))))
    model(torch.ones(1, 2))
    put = {name: p.detach().clone() for name, p in model.named_parameters()}
    torch.func.functional_call(model, put, (torch.ones(1, 2),))
    assert seen == [set(), set(put)]
    assert Root(nn.ReLU(), None).swapped(nn.ReLU()) == {}


def test_a_module_that_took_the_id_of_one_that_is_gone_is_known_by_itself() -> None:
    module = nn.BatchNorm1d(2)
    roots = Roots()
    root = roots.add(module, None)
    gone = nn.BatchNorm1d(2)
    root.moving[id(module), "running_mean"] = weakref.ref(gone)
    del gone
    gc.collect()
    root.before()
    module(torch.randn(3, 2))
    root.after()
    assert any(buffer is module.running_mean for buffer in root.moving_buffers())


@pytest.mark.filterwarnings("ignore:`torch.jit")
def test_the_buffers_of_a_script_are_found() -> None:
    module = torch.jit.script(nn.BatchNorm1d(2))
    root = Root(module, None)
    call(root, module, LEARN_CALLS)
    root.before()
    assert len(root.moving_buffers()) == 3
