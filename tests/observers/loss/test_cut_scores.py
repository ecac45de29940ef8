"""Decisions that evaluations make of scores, in real loops."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from debugtracer.trace.facts.cut_scores import CutScores
from tests.observers.told import facts
from tests.watching import under_watch


class Net(nn.Module):
    """Gives scores in training; what it gives in an evaluation is asked of it."""

    def __init__(self, columns: int = 1, squashed: bool = False) -> None:
        super().__init__()
        self.layer, self.squashed = nn.Linear(6, columns), squashed

    def forward(self, x):
        scores = self.layer(x)
        return scores.sigmoid() if self.squashed and not self.training else scores


def run(out, decide, train=F.binary_cross_entropy_with_logits, model=None, graphs=False):
    torch.manual_seed(0)
    model = model or Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with under_watch(out):
        for _ in range(3):
            x = torch.randn(64, 6)
            loss = train(model(x).squeeze(1), (x[:, 0] > 0).float())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            model.eval()
            with torch.set_grad_enabled(graphs):
                decide(model(torch.randn(64, 6)))
            model.train()
    return facts(out, CutScores)


def by_sign(out):
    return (out > 0.5).float()


def by_method(out):
    return out.squeeze(1).ge(0.5)


def by_rounding(out):
    return torch.round(out.view(-1))


def of_the_data(out):
    return (out.data < 0.5).sum()


@pytest.mark.parametrize(
    ("decide", "name"), [(by_sign, "gt"), (by_method, "ge"), (by_rounding, "round"), (of_the_data, "lt")]
)
def test_scores_that_are_cut_as_probabilities(decide, name, tmp_path):
    fact = run(tmp_path, decide)[0]
    assert (fact.function, fact.column, fact.squashes) == (name, False, "binary_cross_entropy_with_logits")
    assert 0 < fact.between < 64 and fact.values == 64 and fact.root == "Net"
    assert fact.frame.function == decide.__name__ and fact.train_frame.function == "run"


def test_also_with_graphs_on(tmp_path):
    assert run(tmp_path, by_sign, graphs=True)


def hand_written(out, target):
    return -(target * torch.sigmoid(out)).mean()


def test_a_sigmoid_of_the_loss_says_that_they_are_scores(tmp_path):
    assert run(tmp_path, by_sign, train=hand_written)[0].squashes == "sigmoid"


def largest(out):
    return out.argmax(1)


def largest_of_pairs(out):
    _, predicted = torch.max(out.data, 1)
    return predicted


@pytest.mark.parametrize(("decide", "name"), [(largest, "argmax"), (largest_of_pairs, "max")])
def test_the_largest_of_one_column(decide, name, tmp_path):
    fact = run(tmp_path, decide)[0]
    assert (fact.function, fact.column, fact.shape) == (name, True, (64, 1))


def of_probabilities(out):
    return (torch.sigmoid(out) > 0.5).float()


def at_zero(out):
    return out > 0


def in_place(out):
    return out.sigmoid_() > 0.5


def at_another_number(out):
    return out > 0.7


def largest_of_all(out):
    return out.argmax(0), out.max(), out.argmax()


@pytest.mark.parametrize("decide", [of_probabilities, at_zero, in_place, at_another_number, largest_of_all])
def test_other_decisions_are_silent(decide, tmp_path):
    assert run(tmp_path, decide) == []


def test_a_model_that_squashes_in_evaluations_alone_is_silent(tmp_path):
    assert run(tmp_path, by_sign, model=Net(squashed=True)) == []


def test_scores_of_no_sigmoid_are_silent(tmp_path):
    assert run(tmp_path, by_sign, train=F.mse_loss) == []


def test_two_columns_are_silent(tmp_path):
    def each(out, target):
        return F.binary_cross_entropy_with_logits(out, target[:, None].expand(-1, 2))

    assert run(tmp_path, largest, train=each, model=Net(2)) == []


def test_where_no_output_is_squashed_no_root_call_is_heard(tmp_path):
    model = nn.Linear(6, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with under_watch(tmp_path) as session:
        observer = session.dispatcher.observers["cut-scores"]
        for _ in range(5):
            loss = F.mse_loss(model(torch.randn(8, 6)), torch.randn(8, 1))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        assert observer.left in observer.run.unwanted
