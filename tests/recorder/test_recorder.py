"""Facts about the recorder: which calls of a real loop open an alarm, when, and that the loop is never changed."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from debugtracer.errors import StoppedByTracer, failures
from debugtracer.recorder.output.output import Output
from debugtracer.trace.events import RankStarted
from debugtracer.trace.store.manifest import create_run
from debugtracer.trace.store.reader import open_trace
from tests.recorder.watched import Watched


def a_model() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2))


def names(watched: Watched) -> list[str]:
    return [getattr(e.function, "__name__", e.kind) if e.kind == "fn" else e.kind for e in watched.tape.current.entries]


def test_an_iteration_is_a_module_a_loss_and_a_backward() -> None:
    model = a_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x, y = torch.randn(4, 3), torch.tensor([0, 1, 1, 0])
    with Watched() as watched:
        F.cross_entropy(model(x), y).backward()
        assert names(watched) == ["module", "cross_entropy", "backward"]
        segment = watched.tape.current
        assert segment.backwards == [2]
        loss, slot = segment.losses[0]
        assert slot.entry == 1
        assert not loss.requires_grad
    del optimizer


def test_a_bad_loss_is_told_before_its_backward_with_its_place_and_value() -> None:
    model = a_model()
    with Watched(stops=True) as watched:
        loss = model(torch.randn(4, 3)).mean() * float("inf")
        with pytest.raises(StoppedByTracer):
            loss.backward()
    alarm = watched.alarms[0]
    assert (alarm.symptom, alarm.iteration, alarm.step, alarm.microbatch) == ("nan_loss", 0, 0, 0)
    assert alarm.loss is loss
    assert names(watched)[alarm.slot.entry] == "mul"
    assert alarm.loss_value in (float("inf"), -float("inf"))
    assert all(p.grad is None for p in model.parameters())
    assert any(code.co_filename == __file__ for code, _ in alarm.frames)


@pytest.mark.parametrize("look", [lambda loss: loss.item(), torch.isnan, lambda loss: torch.isfinite(loss.detach())])
def test_a_guard_of_the_user_s_own_is_told_first(look) -> None:
    model = a_model()
    with Watched(stops=True) as watched:
        loss = model(torch.full((4, 3), float("nan"))).mean()
        with pytest.raises(StoppedByTracer):
            look(loss)
    assert watched.symptoms == [("nan_loss", 0)]


def test_a_vector_loss_that_only_overflows_in_its_norm_is_healthy() -> None:
    model = nn.Linear(3, 2)
    with Watched() as watched:
        loss = model(torch.randn(4, 3)) * 1e25
        loss.backward(torch.ones_like(loss))
    assert watched.alarms == []


def test_a_nan_in_a_vector_loss_is_told() -> None:
    model = nn.Linear(3, 2)
    with Watched() as watched:
        loss = model(torch.randn(4, 3)).log().mul(0)
        loss = torch.where(torch.isnan(loss), loss, loss * float("nan"))
        loss.backward(torch.ones_like(loss))
    assert watched.symptoms == [("nan_loss", 0)]


def test_a_nan_output_that_no_backward_follows_is_told() -> None:
    model = a_model().eval()
    with Watched() as watched, torch.no_grad():
        model(torch.ones(4, 3))
        assert watched.alarms == []
        output = model(torch.full((4, 3), float("nan")))
    assert watched.alarms[0].symptom == "nan_output"
    assert watched.alarms[0].output is output
    assert watched.alarms[0].module is model


def test_a_nan_output_under_grad_waits_for_its_loss() -> None:
    model = a_model()
    with Watched() as watched:
        model(torch.full((4, 3), float("nan")))
    assert watched.alarms == []


def test_a_module_without_parameters_may_give_what_it_likes() -> None:
    with Watched() as watched, torch.no_grad():
        nn.LogSoftmax(-1)(torch.full((2, 2), float("nan")))
    assert watched.alarms == []


def test_infinities_on_purpose_are_looked_at_once() -> None:
    class Masked(nn.Linear):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return super().forward(x).masked_fill(torch.tensor([True, False]), -float("inf"))

    model = Masked(3, 2)
    with Watched() as watched, torch.no_grad():
        model(torch.ones(1, 3))
        assert len(watched.alarms) == 1
        watched.state.quiet_until_healthy = False
        watched.state.roots.get(model).deliberate_inf = True
        model(torch.ones(1, 3))
        assert len(watched.alarms) == 1
        with torch.no_grad():
            model.bias[1] = float("nan")
        model(torch.ones(1, 3))
    assert len(watched.alarms) == 2


def test_outputs_whose_norm_alone_overflows_are_healthy() -> None:
    model = nn.Linear(3, 2)
    with Watched() as watched, torch.no_grad():
        model(torch.full((2, 3), 1e30))
    assert watched.alarms == []


def test_evaluation_leaves_nothing_on_the_tape_of_the_next_step() -> None:
    model = a_model()
    with Watched() as watched:
        with torch.no_grad():
            for _ in range(3):
                model.eval()(torch.randn(4, 3)).argmax(-1).sum()
        watched.recorder.on_fetch()
        model.train()(torch.randn(4, 3)).mean()
        assert names(watched) == ["const", "module", "mean"]


def test_what_built_the_model_is_no_part_of_a_step() -> None:
    with Watched() as watched:
        watched.state.has_optimizer = False  # optimizers of other tests may still be alive
        model = a_model()
        assert watched.tape.current.entries
        model(torch.ones(4, 3))
        assert [e.kind for e in watched.tape.current.entries] == ["module"]


def test_a_module_that_writes_into_its_input_is_learned_and_its_inputs_are_kept() -> None:
    class Scaling(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.mul_(2)

    model, first, second = Scaling(), torch.ones(2), torch.ones(2)
    with Watched() as watched:
        model(first)
        lost = watched.tape.current.entries[-1].args[0]
        assert lost.moved, "nobody knew yet"
        model(second)
        kept = watched.tape.current.entries[-1].args[0]
    assert second.tolist() == [2, 2]
    assert kept.saved.tolist() == [1, 1]
    assert not kept.moved


def test_the_state_of_a_root_is_that_before_its_first_call_in_a_step() -> None:
    model = a_model()
    with Watched() as watched:
        model(torch.randn(4, 3))
        model(torch.randn(4, 3))
        states = watched.state.root_states[watched.tape.current.number]
        assert len(states) == 1
        states[0].restore()
    assert model[1].num_batches_tracked.item() == 0
    assert model[1].running_mean.abs().sum() == 0


def test_states_older_than_the_step_before_are_dropped() -> None:
    model = a_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with Watched() as watched:
        for _ in range(5):
            model(torch.randn(4, 3)).mean().backward()
            optimizer.step()
        assert len(watched.state.root_states) <= 2


def test_a_failed_forward_is_not_on_the_tape_and_the_next_one_is() -> None:
    model = nn.Linear(3, 2)
    with Watched() as watched:
        with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
            model(torch.ones(4, 5))
        model(torch.ones(4, 3))
        assert [n for n in names(watched) if n != "const"] == ["module"]


def test_a_loop_that_updates_by_hand_has_segments_without_an_optimizer() -> None:
    w = torch.ones(3, requires_grad=True)
    with Watched() as watched:
        watched.state.has_optimizer = False
        first = watched.tape.current.number
        for _ in range(3):
            (w * w).sum().backward()
            with torch.no_grad():
                w -= 0.1 * w.grad
                w.grad = None
        assert watched.tape.current.number >= first + 3
        assert watched.state.iteration == 3


def test_the_first_backward_opens_the_run_once(tmp_path: Path) -> None:
    model = nn.Linear(3, 2)
    run = create_run(tmp_path, "run", ["python", "train.py"], "dev")
    with Watched() as watched:
        output = watched.recorder.run = Output(
            lambda: run, watched.state, "dev", flush_steps=1, flush_s=1.0, run_bytes=2**20
        )
        model(torch.ones(1, 3))
        assert output.writer is None
        for _ in range(2):
            model(torch.ones(1, 3)).mean().backward()
    assert [type(event) for event in open_trace(run).events()] == [RankStarted]
    output.close()


def test_each_backward_asks_for_the_run_and_a_forward_does_not() -> None:
    model = nn.Linear(3, 2)
    with Watched() as watched:
        model(torch.ones(1, 3))
        assert watched.opened == 0
        for _ in range(2):
            model(torch.ones(1, 3)).mean().backward()
    assert watched.opened == 2


def test_a_failure_of_ours_refuses_the_step_and_training_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DEBUG_TRACER_STRICT")
    model = nn.Linear(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    before = model.weight.detach().clone()
    with Watched() as watched:
        watched.tape.frames = lambda: 1 / 0  # type: ignore[assignment]
        model(torch.ones(1, 3)).mean().backward()
        optimizer.step()
        assert watched.tape.previous.refused == "recording failed (ZeroDivisionError)"
    assert not torch.equal(before, model.weight)
    assert failures
    failures.clear()


def test_a_forked_child_starts_from_nothing() -> None:
    model = nn.Linear(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with Watched() as watched:
        for _ in range(2):
            model(torch.ones(1, 3)).mean().backward()
            optimizer.step()
        assert watched.state.own_s > 0
        watched.recorder.reset()
        assert (watched.state.step, watched.state.iteration, watched.state.root_states, watched.state.own_s) == (
            0,
            0,
            {},
            0.0,
        )
        assert watched.tape.previous is None
