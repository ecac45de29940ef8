"""The stable form at the guilty line, and nowhere else."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from debugtracer.interventions.stable_forms import without_infinity
from tests.interventions.building import Chain, data, fit, trial
from tests.interventions.parts import Half, HandNorm, Twice


class Logs(nn.Module):
    """Two logarithms, one of them guilty."""

    def forward(self, x: Tensor) -> Tensor:
        healthy = torch.log(x + 5.0)
        return torch.log(x) + healthy


class Checkpointed(nn.Module):
    def __init__(self, part: nn.Module, reentrant: bool) -> None:
        super().__init__()
        self.inner, self.reentrant = part, reentrant

    def forward(self, x: Tensor) -> Tensor:
        return checkpoint(self.inner, x, use_reentrant=self.reentrant)


def line(cls: type, text: str) -> int:
    """The line of a text in a class of a file."""
    import inspect

    lines, first = inspect.getsourcelines(cls)
    return first + next(n for n, code in enumerate(lines) if text in code)


def test_inside_a_module_the_line_is_recognised(monkeypatch, tmp_path):
    score = trial(monkeypatch, tmp_path, lambda: fit(Chain(Logs()), data()), "stable-op")
    assert (score.finite, score.change) == (
        True,
        f"clamp_min(1e-06) before the logarithm at {__file__.rpartition('/')[2]}:{line(Logs, 'torch.log(x) +')}",
    )


def test_in_the_loop_the_line_is_recognised(monkeypatch, tmp_path):
    score = trial(
        monkeypatch,
        tmp_path,
        lambda: fit(nn.Linear(4, 2), data(), loss=lambda out: out.mul(0.0).mean().sqrt()),
        "stable-op",
    )
    assert score.finite
    assert score.change.startswith("clamp_min(1e-12) before the root at test_stable_op.py:")


def test_the_value_is_the_one_asked_for(monkeypatch, tmp_path):
    assert trial(monkeypatch, tmp_path, lambda: fit(Chain(Logs()), data()), "stable-op", 1e-3).change.startswith(
        "clamp_min(0.001) before"
    )


def test_the_root_that_feeds_a_divisor_is_kept_from_zero_too(monkeypatch, tmp_path):
    score = trial(monkeypatch, tmp_path, lambda: fit(Chain(HandNorm()), data()), "stable-op")
    assert (score.finite, score.change) == (True, "clamp_min(1e-12) before the root at parts.py:17")


def test_a_checkpoint_that_computes_again_sees_the_same_form(monkeypatch, tmp_path):
    for reentrant in (True, False):
        part = Checkpointed(HandNorm(), reentrant)
        score = trial(monkeypatch, tmp_path / str(reentrant), lambda part=part: fit(Chain(part), data()), "stable-op")
        assert (score.finite, score.refused) == (True, ""), score


def test_an_operator_without_a_stable_form_is_refused(monkeypatch, tmp_path):
    score = trial(monkeypatch, tmp_path, lambda: fit(Chain(Half()), data(value=3e3)), "stable-op")
    assert score.refused == "no stable form of aten::_to_copy is known"


def test_the_backward_of_a_persons_own_is_out_of_reach_and_it_says_so(monkeypatch, tmp_path):
    score = trial(monkeypatch, tmp_path, lambda: fit(Chain(Twice()), data()), "stable-op")
    assert score.refused.startswith("no call of aten::div could be exchanged at parts.py:")


class Attentive(nn.Module):
    """torch's attention over its rows, one of which may be masked altogether."""

    def __init__(self) -> None:
        super().__init__()
        self.heads = nn.MultiheadAttention(4, 2, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        rows = x[:, None].expand(-1, 3, -1)
        return self.heads(rows, rows, rows, key_padding_mask=(x.sum(-1) == 0)[:, None].expand(-1, 3))[0].mean(1)


def test_a_row_that_torchs_own_attention_masks_altogether_sees_all_keys(monkeypatch, tmp_path):
    score = trial(monkeypatch, tmp_path, lambda: fit(Chain(Attentive()), data()), "stable-op")
    assert score.finite, score
    assert score.change.startswith("attention with masks that leave a key at test_stable_op.py:")


def test_a_target_that_is_too_long_for_ctc_counts_nothing(monkeypatch, tmp_path):
    def loss(out: Tensor) -> Tensor:
        lengths = torch.tensor([9 if bool((out[2] == 0).all()) else 1])
        return F.ctc_loss(out[:, None].log_softmax(-1), torch.ones(1, 9, dtype=torch.long), torch.tensor([6]), lengths)

    class Relu(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return nn.functional.linear(x, weight)

    weight = nn.Parameter(torch.rand(2, 4, generator=torch.Generator().manual_seed(1)))
    score = trial(
        monkeypatch,
        tmp_path,
        lambda: fit(Relu(), data(), loss=loss, optimizer=torch.optim.SGD([weight], lr=0.1)),
        "stable-op",
    )
    assert score.finite, score
    assert score.change.startswith("zero_infinity=True at test_stable_op.py:")


def test_without_infinity_an_infeasible_target_counts_nothing_whatever_was_asked_for():
    scores, target = torch.randn(3, 1, 4).log_softmax(-1), torch.ones(1, 9, dtype=torch.long)
    args = (scores, target, torch.tensor([3]), torch.tensor([9]))
    assert F.ctc_loss(*args).isinf()
    for asked in ({}, {"zero_infinity": False}):
        assert without_infinity(F.ctc_loss, args, asked, 1e-6) == 0
