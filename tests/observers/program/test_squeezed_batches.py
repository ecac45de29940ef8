"""Programs that die of a dimension that squeeze took away."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

from debugtracer.observers.program.squeezed_batches import lost_of, squeezed_before
from debugtracer.trace.facts.raised_expression import SqueezedBatch
from tests.observers.told import facts, findings
from tests.watching import under_watch


class Scores(nn.Module):
    """One score for each place of each row."""

    def __init__(self, whole: bool = True) -> None:
        super().__init__()
        self.layer, self.whole = nn.Linear(4, 1), whole

    def forward(self, x: Tensor) -> Tensor:
        scores = self.layer(x)
        return scores.squeeze() if self.whole else scores.squeeze(-1)


def by_row(model: Scores, x: Tensor) -> Tensor:
    scores = torch.relu(model(x)) + 1
    return scores.softmax(1).square().mean()


def joined(model: Scores, x: Tensor) -> Tensor:
    scores = model(x)
    return torch.cat([scores, x.sum(2)], dim=1).square().mean()


def judged(model: Scores, x: Tensor) -> Tensor:
    """The short batch is met in the evaluation."""
    if len(x) == 1:
        with torch.no_grad():
            scores = model(x)
            return scores.sum(dim=1)
    return model(x).square().mean()


def of_another_cause(model: Scores, x: Tensor) -> Tensor:
    scores = model(x)
    if len(x) == 1:
        table = {"one": scores}
        return table["two"]
    return scores.square().mean()


def of_other_values(model: Scores, x: Tensor) -> Tensor:
    loss = model(x).square().mean()
    return loss if len(x) > 1 else x.sum(dim=7)


def of_a_label(model: Scores, x: Tensor) -> Tensor:
    """A label beyond the classes: no squeeze of scores has made labels, though one could give their shape."""
    scores = model(x)
    label = torch.full((len(x),), 7 if x.shape[1] == 2 else 0)
    return nn.functional.cross_entropy(scores, label)


def run(out: Path, loss_of: Callable[[Scores, Tensor], Tensor], sizes: list[tuple[int, ...]], **kind: bool) -> None:
    model = Scores(**kind)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with under_watch(out):
        for size in sizes:
            optimizer.zero_grad()
            loss_of(model, torch.randn(*size)).backward()
            optimizer.step()


ROWS = [(6, 3, 4)] * 5 + [(1, 3, 4)]


@pytest.mark.parametrize("loss_of", [by_row, joined, judged])
def test_the_line_that_took_the_rows_away_is_told(tmp_path: Path, loss_of: Callable[[Scores, Tensor], Tensor]):
    with pytest.raises((IndexError, RuntimeError)):
        run(tmp_path, loss_of, ROWS)
    (fact,) = facts(tmp_path, SqueezedBatch)
    assert (fact.name, fact.given, fact.usual, fact.lost) == ("scores", (1, 3, 1), (6, 3, 1), 0)
    assert fact.frame is not None and "scores.squeeze()" in fact.frame.code
    assert fact.symptom is not None and fact.symptom.function == loss_of.__name__
    (finding,) = findings(tmp_path, "last-batch-short")
    assert "Write squeeze(2) at test_squeezed_batches.py" in finding.message


def test_a_sequence_of_one_place(tmp_path: Path):
    with pytest.raises(IndexError):
        run(tmp_path, by_row, [*ROWS[:5], (6, 1, 4)])
    (fact,) = facts(tmp_path, SqueezedBatch)
    assert (fact.lost, fact.given) == (1, (6, 1, 1))


@pytest.mark.parametrize("loss_of", [of_another_cause, of_other_values])
def test_another_exception_is_not_told_so(tmp_path: Path, loss_of: Callable[[Scores, Tensor], Tensor]):
    with pytest.raises((KeyError, IndexError)):
        run(tmp_path, loss_of, ROWS)
    assert facts(tmp_path, SqueezedBatch) == []


def test_labels_are_not_what_scores_were_squeezed_to(tmp_path: Path):
    with pytest.raises(IndexError):
        run(tmp_path, of_a_label, [*ROWS[:5], (6, 2, 4)])
    assert facts(tmp_path, SqueezedBatch) == []


def test_a_named_dimension_and_a_program_that_goes_on_say_nothing(tmp_path: Path):
    run(tmp_path, by_row, ROWS, whole=False)
    assert facts(tmp_path, SqueezedBatch) == []


def test_always_one_row_is_no_loss(tmp_path: Path):
    with pytest.raises(IndexError):
        run(tmp_path, joined, [(1, 3, 4)])
    assert facts(tmp_path, SqueezedBatch) == []


def test_shapes_of_a_line():
    assert lost_of((), (1, 5, 1), (6, 3, 1)) is not None
    assert lost_of((), (1, 5, 2), (6, 3, 1)) is None
    assert lost_of((), (4, 5, 1), (6, 3, 1)) is None
    assert lost_of((), (1, 5), (6, 3, 1)) is None
    wide = torch.ones(1, 3, 1, requires_grad=True)
    assert squeezed_before(wide.squeeze() * 2) == [(1, 3, 1)]
    assert squeezed_before(wide.squeeze(0) * 2) == []


def test_with_a_loader_it_is_told_once(tmp_path: Path):
    model = Scores()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loader = torch.utils.data.DataLoader(torch.randn(13, 3, 4), batch_size=4)
    with pytest.raises(IndexError), under_watch(tmp_path):
        for x in loader:
            optimizer.zero_grad()
            by_row(model, x).backward()
            optimizer.step()
    (finding,) = findings(tmp_path, "last-batch-short")
    assert "has lost dimension 0" in finding.message


class Classes(nn.Module):
    """Squeezes its features, with a layer behind them."""

    def __init__(self, first: nn.Module) -> None:
        super().__init__()
        self.first, self.last = first, nn.Linear(4, 5)

    def forward(self, x: Tensor) -> Tensor:
        return self.last(torch.squeeze(self.first(x)))


def evaluate(out: Path, first: nn.Module, asked: Callable[[Tensor], Tensor]) -> None:
    model = Classes(first)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with under_watch(out):
        for (x,) in DataLoader(TensorDataset(torch.randn(24, 4, 1)), 6):
            optimizer.zero_grad()
            model(x).square().mean().backward()
            optimizer.step()
        for (x,) in DataLoader(TensorDataset(torch.randn(7, 4, 1)), 6):
            with torch.no_grad():
                output = model(x)
            asked(output)


def test_layers_behind_the_squeeze_of_an_evaluation(tmp_path: Path) -> None:
    with pytest.raises(IndexError):
        evaluate(tmp_path, nn.Identity(), lambda output: output.max(1)[1])
    (fact,) = facts(tmp_path, SqueezedBatch)
    assert (fact.given, fact.usual, fact.lost) == ((1, 4, 1), (6, 4, 1), 0)
    assert fact.frame is not None and "torch.squeeze" in fact.frame.code


def test_of_two_lines_that_squeeze_batches_none_is_told(tmp_path: Path) -> None:
    class Twice(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x.squeeze().unsqueeze(-1)

    with pytest.raises((IndexError, RuntimeError)):
        evaluate(tmp_path, Twice(), lambda output: output.max(1)[1])
    assert facts(tmp_path, SqueezedBatch) == []
