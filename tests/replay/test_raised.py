"""A program that dies of an exception about its values: the birth of the value it met is named; of other exceptions
nothing is said."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch.distributions import Categorical, Normal

from debugtracer.trace.events import Incident
from tests.watching import incidents, only, under_watch

Forward = Callable[[Tensor, Tensor | None], Tensor]


class Scaled(nn.Module):
    """Divides by the spread of its first batch, and asks a distribution about the result."""

    def __init__(self) -> None:
        super().__init__()
        self.body, self.begun = nn.Linear(3, 3), False
        self.scale = nn.Parameter(torch.ones(3))

    def forward(self, x: Tensor, weight: Tensor | None = None) -> Tensor:
        if not self.begun:
            self.scale.data = torch.log(x.std(dim=0))
            self.begun = True
        y = self.body(x * self.scale)
        return Normal(0.0, 1.0).log_prob(y if weight is None else y * weight)


class Masked(nn.Module):
    """Fills scores with -inf on purpose."""

    def __init__(self, fault: str) -> None:
        super().__init__()
        self.body, self.fault = nn.Linear(3, 3), fault

    def forward(self, x: Tensor, weight: Tensor | None = None) -> Tensor:
        scores = self.body(x).masked_fill(torch.eye(4, 3, dtype=torch.bool), float("-inf"))
        if self.fault == "shape":
            return scores @ torch.ones(2, 2)
        if self.fault == "own":
            raise ValueError("the schedule does not converge")
        return scores


def died(out: Path, step: Callable[[], object]) -> list[Incident]:
    """The incidents of a loop whose one step raises."""
    with under_watch(out) as session:
        try:
            step()
        except (ValueError, RuntimeError, AssertionError) as error:
            session.crashed(error)
    return incidents(out) if any(out.iterdir()) else []


def constant() -> Tensor:
    """A batch whose last column stands still."""
    x = torch.rand(4, 3)
    x[:, 2] = 0.0
    return x


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "keyword"])
def test_a_forward_that_raises_before_any_backward_names_the_birth(tmp_path: Path, weighted: bool) -> None:
    torch.manual_seed(0)
    model, x = Scaled(), constant()
    given = {"weight": torch.ones(3)} if weighted else {}
    died(tmp_path, lambda: model(x, **given))
    found = only(tmp_path)
    assert found.verdict.kind == "log_domain"
    assert found.facts.birth is not None and found.facts.birth.frame is not None
    assert found.facts.birth.frame.code == "self.scale.data = torch.log(x.std(dim=0))"
    assert found.facts.symptom_frame is not None and "log_prob" in found.facts.symptom_frame.code
    assert (found.facts.symptom, found.verdict.step) == ("crash", 0)
    assert model.begun is True  # as the program left it


def test_a_value_that_the_loop_hands_to_a_distribution_is_followed_into_the_model(tmp_path: Path) -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 3), nn.ReLU())

    def step() -> None:
        share = model(-torch.ones(4, 3) * torch.tensor([[0.0], [1.0], [1.0], [1.0]])).mul(0.0)
        Categorical(probs=share / share.sum(-1, keepdim=True))

    (found,) = died(tmp_path, step)
    assert found.verdict.kind == "zero_division"
    assert found.facts.symptom_frame is not None and "Categorical" in found.facts.symptom_frame.code


def test_an_assertion_of_the_program_that_asks_for_finite_values_is_one(tmp_path: Path) -> None:
    model = nn.Linear(3, 3)

    def step() -> None:
        y = torch.log(model(torch.ones(4, 3)) * 0.0)
        assert torch.isfinite(y).all()

    assert [one.verdict.kind for one in died(tmp_path, step)] == ["log_domain"]


@pytest.mark.parametrize("fault", ["shape", "own"])
def test_a_mask_of_minus_infinity_beside_another_exception_is_none(tmp_path: Path, fault: str) -> None:
    model = Masked(fault)
    assert died(tmp_path, lambda: model(torch.rand(4, 3))) == []


def test_a_wrong_shape_beside_missing_values_is_none(tmp_path: Path) -> None:
    def step() -> None:
        marked = torch.tensor([1.0, float("nan"), 2.0])
        torch.ones(2) @ marked

    assert died(tmp_path, step) == []
