"""Facts about a whole session: what it finds in training loops of every kind, and that the loop does not notice."""

from __future__ import annotations

import contextlib
import copy
import os
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.overrides import _len_torch_function_stack
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader

from debugtracer import session
from debugtracer.errors import StoppedByTracer
from debugtracer.observers.dispatcher import ObserverDispatcher
from debugtracer.recorder.output.output import Output
from debugtracer.trace.store.reader import open_trace
from tests.watching import LogHead, batches, events, incidents, only, same_bits, seeded, train, under_watch

PATCHED = (
    (torch.autograd, "backward"),
    (torch.autograd.Function, "apply"),
    (torch.optim.Optimizer, "__init__"),
    (torch.optim.Optimizer, "zero_grad"),
    (torch.optim.SGD, "step"),
    (torch.Tensor, "backward"),
    (torch.nn.utils, "clip_grad_norm_"),
    (torch.amp.GradScaler, "step"),
    (torch.amp.GradScaler, "scale"),
    (torch.utils.data.DataLoader, "__iter__"),
    (torch.utils.data.DataLoader, "__init__"),
    (nn.Module, "__call__"),
)


class Weighted(nn.Module):
    """A healthy network with dropout, running statistics and a Python counter."""

    def __init__(self) -> None:
        super().__init__()
        self.body, self.norm, self.drop = nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Dropout(0.3)
        self.calls = 0

    def forward(self, x: Tensor) -> Tensor:
        self.calls += 1
        return self.drop(self.norm(self.body(x))) + torch.log(x)


@pytest.fixture(autouse=True)
def _left_alone():
    """Whatever a test did, the next one starts without a session."""
    yield
    session.stop()


def test_observe_has_one_incident_and_losses_and_weights_are_those_of_a_bare_run(tmp_path):
    bare = seeded(LogHead)
    expected = train(bare, batches(6, bad=3))
    model = seeded(LogHead)
    with under_watch(tmp_path):
        losses = train(model, batches(6, bad=3))
    assert all(map(same_bits, losses, expected))
    assert all(map(same_bits, model.parameters(), bare.parameters()))
    verdict = only(tmp_path).verdict
    assert verdict is not None
    assert (verdict.op, verdict.direction, verdict.step, verdict.batch_rows) == ("aten::log", "forward", 3, (2,))


def test_stopping_gives_back_every_function_that_was_patched(tmp_path):
    train(seeded(LogHead), batches(1))  # torch itself wraps SGD.step at the first construction
    before = [getattr(owner, name) for owner, name in PATCHED]
    hooks = [
        len(h)
        for h in (torch.nn.modules.module._global_forward_hooks, torch.nn.modules.module._global_forward_pre_hooks)
    ]
    with under_watch(tmp_path):
        assert any(getattr(owner, name) is not kept for (owner, name), kept in zip(PATCHED, before, strict=True))
        train(seeded(LogHead), batches(3, bad=1))
    assert [getattr(owner, name) for owner, name in PATCHED] == before
    assert [
        len(h)
        for h in (torch.nn.modules.module._global_forward_hooks, torch.nn.modules.module._global_forward_pre_hooks)
    ] == hooks
    assert not torch.overrides._get_current_function_mode_stack()
    assert session.active() is None


def test_a_second_session_of_the_process_has_a_run_of_its_own(tmp_path):
    for name in ("first", "second"):
        with under_watch(tmp_path, name=name):
            train(seeded(LogHead), batches(2))
        assert "DEBUG_TRACER_RUN_DIR" not in os.environ
    assert all(open_trace(tmp_path / name).series("loss")[0] == [0, 1] for name in ("first", "second"))


def test_dev_stops_with_status_3_before_the_bad_update(tmp_path):
    good = seeded(LogHead)
    train(good, batches(3))
    model = seeded(LogHead)
    with pytest.raises(StoppedByTracer) as stop, under_watch(tmp_path, mode="dev"):
        train(model, batches(6, bad=3))
    assert stop.value.code == 3
    assert all(map(same_bits, model.parameters(), good.parameters()))


def test_buffers_counters_dropout_and_generator_go_on_as_if_nothing_was_replayed(tmp_path):
    bare = seeded(Weighted)
    expected = train(bare, batches(6, bad=3))
    after = torch.get_rng_state()
    model = seeded(Weighted)
    with under_watch(tmp_path):
        losses = train(model, batches(6, bad=3))
    assert len(incidents(tmp_path)) == 1
    assert torch.equal(torch.get_rng_state(), after)
    assert all(map(same_bits, losses, expected))
    assert all(map(same_bits, model.buffers(), bare.buffers()))
    assert model.calls == bare.calls == 6


def test_a_forward_that_prints_prints_once(tmp_path, capsys):
    class Printing(LogHead):
        def forward(self, x: Tensor) -> Tensor:
            print("forward of", len(x))
            return super().forward(x)

    with under_watch(tmp_path):
        train(seeded(Printing), batches(3, bad=1))
    assert len(incidents(tmp_path)) == 1
    assert capsys.readouterr().out == "forward of 6\n" * 3


@pytest.mark.parametrize("bad", [0, 1, 2])
def test_accumulation_names_the_microbatch(tmp_path, bad):
    model, given = seeded(LogHead), batches(6, bad=3 + bad)
    with under_watch(tmp_path):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for n, x in enumerate(given):
            (model(x).pow(2).mean() / 3).backward()
            if n % 3 == 2:
                optimizer.step()
                optimizer.zero_grad()
    verdict = only(tmp_path).verdict
    assert (verdict.step, verdict.iteration, verdict.microbatch, verdict.batch_rows) == (1, 3 + bad, bad, (2,))


def test_a_fake_reused_after_the_other_update_is_replayed_from_the_previous_segment(tmp_path):
    generator, critic = seeded(lambda: nn.Linear(4, 4)), seeded(lambda: nn.Linear(4, 1), seed=4)
    with under_watch(tmp_path, own_share=1.0):
        g, d = (torch.optim.SGD(m.parameters(), lr=0.01) for m in (generator, critic))
        for n in range(4):
            fake = generator(torch.rand(5, 4))
            d.zero_grad()
            (critic(fake.detach()).mean() - critic(torch.rand(5, 4)).mean()).backward()
            d.step()
            g.zero_grad()
            score = critic(fake)
            (torch.log(score - 100.0) if n == 2 else -score).mean().backward()
            g.step()
    facts = incidents(tmp_path)[0].facts
    assert (facts.ref.step, facts.birth.op, facts.replay.mechanism, facts.replay.parity) == (
        5,
        "aten::log",
        "tape",
        "bitwise",
    )


class Unit(nn.Linear):
    """Divides its input by its length."""

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x / x.norm(dim=-1, keepdim=True))


@pytest.mark.parametrize("inside", [True, False], ids=["in the model", "in the loop"])
def test_a_batch_without_a_loader_has_rows(tmp_path, inside):
    def get_batch(n: int) -> tuple[Tensor, Tensor]:
        x = torch.stack([torch.rand(4) + 0.1 for _ in range(8)])
        if n == 2:
            x[5] = 0.0
        return x, torch.rand(8, 4)

    model = seeded(lambda: (Unit if inside else nn.Linear)(4, 4))
    with under_watch(tmp_path):
        optimizer = torch.optim.AdamW(model.parameters())
        for n in range(3):
            x, y = get_batch(n)
            optimizer.zero_grad()
            F.mse_loss(model(x if inside else x / x.norm(dim=-1, keepdim=True)), y).backward()
            optimizer.step()
    verdict = only(tmp_path).verdict
    assert (verdict.op, verdict.birth_kind, verdict.batch_rows) == ("aten::div", "0/0", (5,))


def guard_isnan(loss: Tensor) -> bool:
    if torch.isnan(loss):
        raise FloatingPointError("loss is NaN")
    return True


def guard_item(loss: Tensor) -> bool:
    return loss.item() == loss.item()


def guard_finite(loss: Tensor) -> bool:
    return bool(torch.isfinite(loss))


@pytest.mark.parametrize("guard", [guard_isnan, guard_item, guard_finite])
@pytest.mark.parametrize("way", ["break", "continue"])
def test_a_guard_of_the_loop_does_not_hide_the_step(tmp_path, guard, way):
    model = seeded(LogHead)
    with under_watch(tmp_path):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        try:
            for x in batches(4, bad=1):
                loss = model(x).pow(2).mean()
                if not guard(loss):
                    if way == "break":
                        break
                    continue
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        except FloatingPointError:
            pass
    assert (only(tmp_path).facts.symptom, only(tmp_path).facts.birth.op) == ("nan_loss", "aten::log")


def test_a_nan_output_without_gradients_is_found(tmp_path):
    model = seeded(LogHead)
    with under_watch(tmp_path):
        train(model, batches(2))
        with torch.no_grad():
            model.eval()
            model(batches(1, bad=0)[0])
    found = only(tmp_path).facts
    assert (found.symptom, found.birth.op, found.birth.rows) == ("nan_output", "aten::log", (2,))


def test_an_update_that_makes_weights_bad_is_found_before_the_next_step(tmp_path):
    model = seeded(lambda: nn.Linear(4, 4))
    with under_watch(tmp_path, own_share=1.0):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for n, x in enumerate(batches(4)):
            optimizer.zero_grad()
            model(x).pow(2).mean().backward()
            if n == 2:
                optimizer.param_groups[0]["lr"] = float("inf")
            optimizer.step()
    found = incidents(tmp_path)[0].facts
    assert (found.symptom, found.ref.step, found.birth.direction) == ("bad_update", 2, "update")


def test_lbfgs_with_its_closure_trains_the_same_bits(tmp_path):
    def fit(model: nn.Module) -> list[Tensor]:
        optimizer, x = torch.optim.LBFGS(model.parameters(), max_iter=4), batches(1)[0]

        def closure() -> Tensor:
            optimizer.zero_grad()
            loss = model(x).pow(2).mean()
            loss.backward()
            return loss

        return [optimizer.step(closure).detach() for _ in range(3)]

    bare, model = seeded(LogHead), seeded(LogHead)
    expected = fit(bare)
    with under_watch(tmp_path):
        losses = fit(model)
    assert all(map(same_bits, losses, expected))
    assert incidents(tmp_path) == []
    assert len(open_trace(tmp_path).series("loss")[0]) == 3


def scaled(model: nn.Module, data: list[Tensor], init: float) -> torch.amp.GradScaler:
    scaler, optimizer = torch.amp.GradScaler("cpu", init_scale=init), torch.optim.SGD(model.parameters(), lr=0.01)
    for x in data:
        optimizer.zero_grad()
        with torch.autocast("cpu", torch.float16):
            loss = model(x).float().pow(2).mean()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
    return scaler


def test_a_scale_search_is_silent(tmp_path):
    model = seeded(lambda: nn.Linear(4, 4))
    with under_watch(tmp_path, mode="dev"):
        scaler = scaled(model, batches(8), init=2.0**30)
    assert scaler.get_scale() < 2.0**30
    assert incidents(tmp_path) == []


def test_a_real_nan_under_a_scaler_is_found(tmp_path):
    model = seeded(LogHead)
    with under_watch(tmp_path):
        scaled(model, batches(5, bad=3), init=128.0)
    assert incidents(tmp_path)[0].facts.birth.op == "aten::log"


class Checkpointed(LogHead):
    def forward(self, x: Tensor) -> Tensor:
        return checkpoint(super().forward, x, use_reentrant=False)


class Tied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(4, 4), nn.Linear(4, 4)
        self.second.weight = self.first.weight

    def forward(self, x: Tensor) -> Tensor:
        return self.second(self.first(x)) + torch.log(x)


class Autocast(LogHead):
    def forward(self, x: Tensor) -> Tensor:
        with torch.autocast("cpu", torch.bfloat16):
            return super().forward(x)


@pytest.mark.parametrize("kind", [Checkpointed, Tied, Autocast])
def test_checkpoint_autocast_and_tied_weights_are_replayed_bitwise(tmp_path, kind):
    bare, model = seeded(kind), seeded(kind)
    expected = train(bare, batches(4, bad=2))
    with under_watch(tmp_path):
        losses = train(model, batches(4, bad=2))
    assert all(map(same_bits, losses, expected))
    facts = only(tmp_path).facts
    assert (facts.birth.op, facts.birth.rows, facts.replay.parity) == ("aten::log", (2,), "bitwise")


def test_dicts_none_and_flags_among_the_inputs_are_replayed(tmp_path):
    class Keyed(LogHead):
        def forward(self, batch: dict, mask: Tensor | None = None, *, loud: bool = True) -> dict:  # type: ignore[override]
            assert isinstance(loud, bool) and mask is None
            return {"out": super().forward(batch["x"]), "extra": None, "n": 3}

    model = seeded(Keyed)
    with under_watch(tmp_path):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for x in batches(3, bad=1):
            optimizer.zero_grad()
            model({"x": x, "ids": ["a"]}, None, loud=False)["out"].mean().backward()
            optimizer.step()
    facts = only(tmp_path).facts
    assert (facts.birth.op, facts.birth.rows, facts.replay.mechanism) == ("aten::log", (2,), "tape")


class Writing(LogHead):
    def forward(self, x: Tensor) -> Tensor:
        x.mul_(2.0)
        return super().forward(x)


def test_a_model_that_writes_its_batch_is_refused_at_its_first_step_and_known_later(tmp_path):
    for name, bad in (("first", 0), ("later", 2)):
        with under_watch(tmp_path / name):
            train(seeded(Writing), batches(4, bad=bad))
    first, later = (only(tmp_path / name).facts for name in ("first", "later"))
    assert (first.replay.mechanism, first.birth) == ("flight-record", None)
    assert "changed in place" in first.replay.parity
    assert (later.replay.mechanism, later.replay.parity, later.birth.op) == ("tape", "bitwise", "aten::log")


def test_a_graph_from_before_the_watch_is_replayed_forward_only_and_the_facts_say_why(tmp_path):
    model = seeded(LogHead)
    given = batches(1, bad=0)[0] * torch.ones(4, requires_grad=True)  # its graph was made before anyone watched
    with under_watch(tmp_path):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        model(given).mean().backward()
        optimizer.step()
    replay = only(tmp_path).facts.replay
    assert replay.mechanism == "forward-only"
    assert replay.refused == ("tape: a tensor with a graph came from a call that the tape cannot see",)


def test_only_so_many_incidents_are_looked_into(tmp_path):
    given = [x for pair in zip(batches(6), batches(6), strict=True) for x in pair]
    for n in (1, 3, 5):
        given[n] = batches(2, bad=1)[1]

    def loop(model: nn.Module) -> None:
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for x in given:
            optimizer.zero_grad()
            loss = model(x).pow(2).mean()
            if torch.isfinite(loss):
                loss.backward()
                optimizer.step()

    with under_watch(tmp_path, incidents=2):
        loop(seeded(LogHead))
    assert [i.facts.ref.step for i in incidents(tmp_path)] == sorted(i.facts.ref.step for i in incidents(tmp_path))
    assert len(incidents(tmp_path)) == 2


def test_the_capture_canary_keeps_no_tape_and_still_reports(tmp_path):
    with under_watch(tmp_path, capture="canary"):
        train(seeded(LogHead), batches(4, bad=2))
    facts = only(tmp_path).facts
    assert (facts.symptom, facts.ref.step) == ("nan_loss", 2)
    assert not list((open_trace(tmp_path).path / "incidents").rglob("program.json.gz"))


def test_no_function_mode_stays_behind_after_an_interrupted_forward(tmp_path: Path) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    model = nn.Linear(4, 1)
    with under_watch(tmp_path, capture="canary"):
        broken = model.register_forward_pre_hook(interrupt)
        for x in DataLoader(torch.ones(4, 4), batch_size=2):
            with contextlib.suppress(KeyboardInterrupt):
                model(x)
        broken.remove()
        assert _len_torch_function_stack() == 1
    assert _len_torch_function_stack() == 0


def test_a_healthy_run_has_numbers_and_no_incident(tmp_path: Path) -> None:
    model = seeded(LogHead)
    state = copy.deepcopy(model.state_dict())
    with under_watch(tmp_path, mode="dev"):
        train(model, batches(5))
    assert incidents(tmp_path) == []
    assert open_trace(tmp_path).series("loss")[0] == [0, 1, 2, 3, 4]
    assert [type(e).__name__ for e in events(tmp_path)][-1] == "RankEnded"
    assert not torch.equal(state["body.weight"], model.body.weight)


@pytest.mark.parametrize("order", [2.0, float("inf")])
def test_grad_l2_is_a_2_norm_whatever_the_loop_clips_by(tmp_path: Path, order: float) -> None:
    def loop() -> float:
        model = nn.Linear(3, 1)
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        model(torch.ones(2, 3)).sum().backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1e9, norm_type=order)
        norm = torch.stack([p.grad.norm() for p in model.parameters()]).norm().item()
        optimizer.step()
        return norm

    with under_watch(tmp_path):
        norm = loop()
    _, values = open_trace(tmp_path).series("grad_l2")
    assert values == pytest.approx([norm])


def test_the_last_words_of_a_rank_stand_before_anything_is_made_of_its_crash(tmp_path, monkeypatch):
    """A launcher ends a rank moments after another one has failed."""
    order = []
    monkeypatch.setattr(Output, "died", lambda self, error: order.append("last words"))
    monkeypatch.setattr(ObserverDispatcher, "crashed", lambda self, error: order.append("observers"))
    with under_watch(tmp_path):
        session.active().crashed(KeyError("mine"))
    assert order == ["last words", "observers"]
