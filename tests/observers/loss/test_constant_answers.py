"""Each loss beside what the best constant answer costs, on inspected steps."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from debugtracer.trace.facts.constant_answer import ConstantAnswer
from tests.observers.told import facts
from tests.watching import same_bits, under_watch

ROWS = 40


def run(out, wide, criterion, target, steps=4):
    torch.manual_seed(2)
    x = torch.randn(ROWS, 6)
    model = nn.Linear(6, wide)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with under_watch(out):
        for _ in range(steps):
            loss = criterion(model(x), target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return model, facts(out, ConstantAnswer)


def classes():
    return torch.arange(ROWS) % 4


def test_a_cross_entropy_is_told_on_inspected_steps(tmp_path):
    _, told = run(tmp_path, 4, F.cross_entropy, classes())
    assert [fact.ref.step for fact in told] == [0, 1, 2]
    first, last = told[0], told[-1]
    assert (first.loss, first.answer, first.rows, last.rows) == ("cross_entropy", "classes", ROWS, 3 * ROWS)
    assert first.constant == pytest.approx(math.log(4))
    assert first.value == first.called
    assert (first.commonest, first.floor) == (0.25, 0.0)
    assert 0 < first.spread < 2
    assert "criterion(model(x), target)" in first.frame.code


def test_ignored_targets_do_not_count(tmp_path):
    target = classes()
    target[target > 1] = -100
    _, told = run(tmp_path, 4, F.cross_entropy, target)
    assert (told[0].rows, told[0].constant) == (ROWS // 2, pytest.approx(math.log(2)))


@pytest.mark.parametrize(
    ("criterion", "kind", "constant"),
    [
        (F.mse_loss, "mean", 0.25),
        (F.l1_loss, "median", 0.5),
        (F.binary_cross_entropy_with_logits, "shares", math.log(2)),
        (nn.MSELoss(reduction="sum"), "mean", 0.25),
        (lambda scores, target: ((scores - target) ** 2).mean(), "mean", 0.25),
        (lambda scores, target: (target - scores).square().mean(), "mean", 0.25),
    ],
    ids=["mse", "l1", "bce", "sum", "by hand", "turned"],
)
def test_numbers_and_yes_and_no(tmp_path, criterion, kind, constant):
    target = (torch.arange(ROWS) % 2).float().unsqueeze(1)
    _, told = run(tmp_path, 1, criterion, target)
    assert (told[0].answer, told[0].constant) == (kind, pytest.approx(constant))
    sums = getattr(criterion, "reduction", "mean") == "sum"
    assert told[0].called == pytest.approx(told[0].value * (ROWS if sums else 1))


def test_the_order_of_pairs_has_no_target(tmp_path):
    _, told = run(tmp_path, 2, lambda scores, _: -F.logsigmoid(scores[:, 0] - scores[:, 1]).mean(), None)
    assert (told[0].answer, told[0].constant, told[0].spread) == ("pairs", math.log(2), None)
    assert told[0].value > 0


@pytest.mark.parametrize(
    "criterion",
    [
        lambda s, t: F.cross_entropy(s, t, weight=torch.ones(4)),
        lambda s, t: F.cross_entropy(s, t, reduction="none").mean(),
        lambda s, t: F.mse_loss(s, s.detach()[:1].expand_as(s) + 0 * s),
        lambda s, t: F.smooth_l1_loss(s, F.one_hot(t, 4).float()),
        lambda s, t: (s - s.detach().mean(0)).square().mean(),
        lambda s, t: (s - 2 * s.square()).mean(),
    ],
    ids=["weighted", "not reduced", "a target with a graph", "other losses", "stretched", "no targets"],
)
def test_what_has_no_known_constant_is_left_alone(tmp_path, criterion):
    assert not run(tmp_path, 4, criterion, classes())[1]


def test_the_training_is_the_same_bit_for_bit(tmp_path):
    torch.manual_seed(2)
    x, bare = torch.randn(ROWS, 6), nn.Linear(6, 4)
    optimizer = torch.optim.SGD(bare.parameters(), lr=0.1)
    for _ in range(4):
        loss = F.cross_entropy(bare(x), classes())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    watched, _ = run(tmp_path, 4, F.cross_entropy, classes())
    assert all(same_bits(a, b) for a, b in zip(bare.parameters(), watched.parameters(), strict=True))


def fit(x, y):
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for begin in range(0, 64, 16):
        loss = F.mse_loss(model(x[begin : begin + 16]), y[begin : begin + 16])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def test_two_orders_drawn_for_inputs_and_targets_are_told(tmp_path):
    x, y = torch.randn(64, 4), torch.randn(64, 1)
    with under_watch(tmp_path / "apart"):
        given, wanted = x[torch.randperm(64)], y[torch.randperm(64)]
        fit(given, wanted)
    assert all("torch.randperm(64)" in line.code for line in facts(tmp_path / "apart", ConstantAnswer)[0].drawn)
    with under_watch(tmp_path / "together"):
        order = torch.randperm(64)
        given, wanted = x[order], y[order]
        fit(given, wanted)
    assert facts(tmp_path / "together", ConstantAnswer)[0].drawn is None


def test_the_size_of_the_answers_is_measured_for_numbers(tmp_path):
    torch.manual_seed(0)
    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-9)
    with under_watch(tmp_path):
        for _ in range(2):
            x = torch.randn(16, 3)
            optimizer.zero_grad()
            answers = model(x).squeeze(1)
            torch.nn.functional.mse_loss(answers, torch.full((16,), 1000.0) + x[:, 0]).backward()
            optimizer.step()
    found = facts(tmp_path, ConstantAnswer)
    wanted = float(answers.detach().square().mean().sqrt()) / 1000
    assert found[-1].reach == pytest.approx(wanted, rel=1e-2)
