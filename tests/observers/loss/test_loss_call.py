"""Every call of a loss on inspected steps, and what made its input."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from debugtracer.trace.facts.loss_call import LossCall
from tests.observers.told import facts, findings
from tests.watching import under_watch


class Classifier(nn.Module):
    def __init__(self, end: nn.Module) -> None:
        super().__init__()
        self.body = nn.Linear(6, 5)
        self.end = end

    def forward(self, x):
        return self.end(self.body(x))


def run(out, end, criterion, steps=4, target=None):
    torch.manual_seed(2)
    x, y = torch.randn(40, 6), torch.randint(0, 5, (40,))
    model = Classifier(end)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with under_watch(out):
        loader = iter(DataLoader(TensorDataset(x, y if target is None else target), batch_size=10))
        for _ in range(steps):
            xb, yb = next(loader)
            loss = criterion(model(xb), yb)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return facts(out, LossCall)


def test_a_softmax_module_is_known_as_the_maker(tmp_path):
    calls = run(tmp_path, nn.Softmax(dim=1), nn.CrossEntropyLoss())
    assert [c.ref.step for c in calls] == [0, 1, 2]  # only inspected steps
    call = calls[0]
    assert (call.loss, call.form, call.classes, call.counted, call.reduction) == (
        "cross_entropy",
        "probabilities",
        5,
        10,
        "mean",
    )
    assert (call.maker.function, call.maker.module, call.maker.size) == ("softmax", "end", 5)
    assert call.maker.frame.code == "return self.end(self.body(x))"
    assert call.frame.code == "loss = criterion(model(xb), yb)"
    assert call.target_is_batch
    (finding,) = findings(tmp_path, "model/loss-misuse")
    assert (finding.iteration, finding.place.module, finding.place.op) == (0, "end", "aten::_softmax")


@pytest.mark.parametrize(
    ("end", "criterion"),
    [
        (nn.Identity(), nn.CrossEntropyLoss()),
        (nn.LogSoftmax(dim=1), nn.NLLLoss()),
        (nn.LogSoftmax(dim=1), nn.CrossEntropyLoss()),
    ],
)
def test_the_right_pairs_are_silent(end, criterion, tmp_path):
    run(tmp_path, end, criterion)
    assert findings(tmp_path, "model/loss-misuse") == []


def test_a_maker_is_seen_through_views(tmp_path):
    class Shaped(nn.Module):
        def forward(self, x):
            return torch.sigmoid(x).unsqueeze(0).squeeze(0).view(-1, 5)

    calls = run(tmp_path, Shaped(), nn.BCEWithLogitsLoss(), target=torch.rand(40, 5))
    assert calls[0].maker.function == "sigmoid"
    assert len(findings(tmp_path, "model/loss-misuse")) == 1


def test_a_maker_is_seen_through_the_rows_that_are_taken(tmp_path):
    class Nodes(nn.Module):
        def forward(self, x):
            return torch.log_softmax(x, 0)[torch.arange(len(x))]

    calls = run(tmp_path, Nodes(), nn.NLLLoss())
    assert (calls[0].maker.function, calls[0].maker.dim) == ("log_softmax", 0)
    (finding,) = findings(tmp_path, "model/loss-misuse")
    assert "log_softmax over the batch (dim 0)" in finding.message


def test_soft_targets_are_no_misuse(tmp_path):
    run(tmp_path, nn.Identity(), nn.CrossEntropyLoss(), target=torch.randn(40, 5).softmax(1))
    assert findings(tmp_path, "model/") == []


def test_targets_outside_name_their_samples_and_a_mask_behind_the_loss_excuses_them(tmp_path):
    target = torch.zeros(40, 5)
    target[3, 1] = -1.0
    call = run(tmp_path / "a", nn.Identity(), nn.BCEWithLogitsLoss(), target=target)[0]
    assert (call.outside, call.outside_rows, call.outside_samples) == (1, (3,), (3,))
    masked = run(
        tmp_path / "b",
        nn.Identity(),
        lambda x, y: (F.binary_cross_entropy_with_logits(x, y, reduction="none") * (y >= 0)).mean(),
        target=target,
    )
    assert masked[0].outside == 0


def test_a_difference_with_a_target_of_the_batch_is_seen_and_one_of_equal_shapes_is_not(tmp_path):
    wide = run(tmp_path / "a", nn.Linear(5, 1), lambda x, y: (x - y).square().mean(), target=torch.randn(40))
    assert [(c.loss, c.input_shape, c.target_shape) for c in wide] == [("sub", (10, 1), (10,))] * 3
    assert len(findings(tmp_path / "a", "model/loss-broadcast")) == 1
    assert not run(
        tmp_path / "b", nn.Linear(5, 1), lambda x, y: (x.squeeze(1) - y).square().mean(), target=torch.randn(40)
    )
    pairs = run(
        tmp_path / "c",
        nn.Linear(5, 1),
        lambda x, y: (x.squeeze(1).unsqueeze(1) - y).square().mean(),
        target=torch.randn(40),
    )
    assert pairs[0].explicit
    assert not findings(tmp_path / "c", "model/loss-broadcast")


@pytest.mark.parametrize(("column", "seen"), [(True, 3), (False, 0)])
def test_losses_of_rows_times_a_column_of_the_batch_are_seen(column, seen, tmp_path):
    weights = torch.rand(40, 1) if column else torch.rand(40)
    calls = run(tmp_path, nn.Linear(5, 1), lambda x, y: (y * x.squeeze(1).square()).mean(), target=weights)
    assert [(c.loss, c.input_shape, c.target_shape) for c in calls] == [("mul", (10,), (10, 1))] * seen
    assert len(findings(tmp_path, "model/loss-broadcast")) == (seen > 0)


@pytest.mark.parametrize(("flat", "seen"), [(False, 3), (True, 0)])
def test_a_column_against_stored_values_is_seen(flat, seen, tmp_path):
    critic, stored = nn.Linear(4, 1), torch.randn(10)
    optimizer = torch.optim.SGD(critic.parameters(), lr=0.01)
    with under_watch(tmp_path):
        for _ in range(3):
            new = critic(torch.randn(10, 4))
            ((new.view(-1) if flat else new) - stored).square().mean().backward()
            optimizer.step()
    calls = [c for c in facts(tmp_path, LossCall) if c.loss == "sub"]
    assert [(c.broadcast, c.explicit, c.target_is_batch) for c in calls] == [(True, False, False)] * seen
    assert [f.exact for f in findings(tmp_path, "loss-broadcast")] == [False] * (seen > 0)


def test_evaluation_is_not_looked_at(tmp_path):
    model = Classifier(nn.Identity())
    with under_watch(tmp_path):
        loss = model(torch.randn(4, 6)).sum()
        loss.backward()
        with torch.no_grad():
            F.cross_entropy(model(torch.randn(4, 6)).softmax(1), torch.tensor([0, 1, 2, 3]))
    assert facts(tmp_path, LossCall) == []


class AsLogits(nn.Module):
    """Minus the log-probability of a distribution over what the model says."""

    def __init__(self, word):
        super().__init__()
        self.word = word

    def forward(self, given, target):
        return -torch.distributions.Categorical(**{self.word: given}).log_prob(target).mean()


@pytest.mark.parametrize(
    ("end", "word", "told"),
    [(nn.Softmax(dim=1), "logits", 3), (nn.Softmax(dim=1), "probs", 0), (nn.LogSoftmax(dim=1), "logits", 0)],
)
def test_a_softmax_as_logits_of_a_distribution(tmp_path, end, word, told):
    calls = [c for c in run(tmp_path, end, AsLogits(word)) if c.loss == "Categorical"]
    assert [(c.maker.module, c.classes) for c in calls] == [("end", 5)] * told
    assert len(findings(tmp_path, "model/loss-misuse")) == (told > 0)


class Held(torch.Tensor):
    """Holds another tensor, as a distributed or quantised one does."""

    @staticmethod
    def __new__(cls, held):
        return torch.Tensor._make_wrapper_subclass(cls, held.shape, dtype=held.dtype, requires_grad=held.requires_grad)

    def __init__(self, held):
        self.held = held

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        bare = [one.held if isinstance(one, cls) else one for one in args]
        made = function(*bare, **(kwargs or {}))
        return cls(made) if isinstance(made, torch.Tensor) else made


def test_values_behind_a_class_of_the_programs_own_are_not_read(tmp_path):
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with under_watch(tmp_path):
        F.mse_loss(Held(torch.ones(4)), Held(torch.zeros(4)))
        model(torch.ones(3, 2)).sum().backward()
        optimizer.step()
    (call,) = facts(tmp_path, LossCall)
    assert call.loss == "mse_loss" and call.value is None


@pytest.mark.parametrize(("cut", "told"), [(slice(1, 2), 1), (1, 0)])
def test_a_column_cut_from_the_outputs_against_targets_is_told(cut, told, tmp_path):
    """A quantile loss by hand, as `target - output[:, k : k + 1]` and as `target - output[:, k]`."""

    def pinball(output, y):
        error = y.float() - output[:, cut]
        return torch.maximum(0.9 * error, -0.1 * error).mean()

    run(tmp_path, nn.Identity(), pinball)
    assert len(findings(tmp_path, "model/loss-broadcast")) == told
