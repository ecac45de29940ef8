"""Same training with and without us, to the end of the program, while faults are put to trials in mode observe."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from debugtracer import session
from debugtracer.trace.events import Diagnosed, Incident
from tests.end_to_end.loops import adversarial, built_twice, carried, jointly, loaded, scaled, with_closure
from tests.end_to_end.odd_states import Odd, Reading
from tests.end_to_end.trained import Fault, Trained, plainly
from tests.faults.every import fixed
from tests.watching import events, under_watch

TRIED = True
"""Steps of this kind can be executed again, so that trials must have run."""


def sgd(p: Any) -> torch.optim.Optimizer:
    return torch.optim.SGD(p, lr=0.02, momentum=0.9)


def adam(p: Any) -> torch.optim.Optimizer:
    return torch.optim.Adam(p, lr=1e-2)


def fused(p: Any) -> torch.optim.Optimizer:
    return torch.optim.AdamW(p, lr=1e-2, fused=True)


def foreach(p: Any) -> torch.optim.Optimizer:
    return torch.optim.AdamW(p, lr=1e-2, foreach=True)


CASES: dict[str, tuple[Callable[[Fault], Trained], Fault, bool]] = {
    "sgd with momentum, a spike": (lambda f: plainly(sgd, f), "spike", TRIED),
    "sgd with momentum, gradients never cleared": (lambda f: plainly(sgd, f), "stale", TRIED),
    "adam, a spike": (lambda f: plainly(adam, f), "spike", TRIED),
    # earlier weights are no better on the batches of now: that trial is made and no intervention after it
    "adam, a level that was left": (lambda f: plainly(adam, f), "level", not TRIED),
    "adam, a bad batch": (lambda f: plainly(adam, f), "nan", TRIED),
    "adamw fused, gradients never cleared": (lambda f: plainly(fused, f), "stale", TRIED),
    "adamw foreach, a spike": (lambda f: plainly(foreach, f), "spike", TRIED),
    "accumulation, a spike": (lambda f: plainly(adam, f, every=2), "spike", TRIED),
    "two optimizers in turn, a spike": (adversarial, "spike", not TRIED),
    "two optimizers at once, a spike": (jointly, "spike", TRIED),
    "two optimizers in turn, a bad batch": (adversarial, "nan", TRIED),
    "lbfgs, a spike": (with_closure, "spike", not TRIED),
    "autocast and scaler, a spike": (scaled, "spike", TRIED),
    "a carried state, a spike": (carried, "spike", TRIED),
    "a carried state, a bad batch": (carried, "nan", TRIED),
    "a loader with workers, a spike": (loaded, "spike", TRIED),
    "odd states, healthy": (lambda f: plainly(adam, f, net=Odd), "none", not TRIED),
    "odd states, a bad batch": (lambda f: plainly(adam, f, net=Odd), "nan", TRIED),
    "odd states, a spike": (lambda f: plainly(adam, f, net=Odd), "spike", TRIED),
    "an iterator, a bad batch": (lambda f: plainly(adam, f, net=Reading), "nan", not TRIED),
    "an iterator, a spike": (lambda f: plainly(adam, f, net=Reading), "spike", not TRIED),
    "an optimizer built twice, gradients never cleared": (built_twice, "stale", TRIED),
    "an optimizer built twice, a spike": (built_twice, "spike", TRIED),
}


@pytest.fixture(autouse=True)
def _left_alone():
    yield
    session.stop()


def different(one: Any, other: Any, at: str = "") -> list[str]:
    """Places where two nested values differ by a bit; NaN is equal to itself."""
    if isinstance(one, Tensor):
        same = isinstance(other, Tensor) and one.dtype == other.dtype and one.shape == other.shape
        return (
            []
            if same and torch.equal(one.detach().view(-1).view(torch.uint8), other.detach().view(-1).view(torch.uint8))
            else [at]
        )
    if isinstance(one, dict):
        if not isinstance(other, dict) or list(one) != list(other):
            return [f"{at}: keys"]
        return [place for key in one for place in different(one[key], other[key], f"{at}.{key}")]
    if isinstance(one, (list, tuple)):
        if type(one) is not type(other) or len(one) != len(other):
            return [f"{at}: length"]
        return [
            place for n, (a, b) in enumerate(zip(one, other, strict=True)) for place in different(a, b, f"{at}[{n}]")
        ]
    return [] if repr(one) == repr(other) else [at]


def tried(out: Path) -> set[str]:
    """Interventions that ran."""
    verdicts = [e.verdict for e in events(out) if isinstance(e, (Diagnosed, Incident)) and e.verdict is not None]
    return {t.intervention for v in verdicts for t in v.trials if t.outcome != "could not run"} - {"unchanged"}


@pytest.mark.parametrize("case", fixed(CASES, 2))
def test_nothing_of_a_training_differs_by_a_bit(case: str, tmp_path: Path) -> None:
    train, fault, trials = CASES[case]
    bare = train(fault).bits()
    with under_watch(tmp_path, trials=4, trials_s=600.0) as watching:
        # the machine of a test has no say in how often
        watching.ring.judge = lambda cost_s, step_s: None  # type: ignore[method-assign]
        watched = train(fault).bits()
    assert different(bare, watched) == []
    assert bool(tried(tmp_path)) == trials, f"tried {sorted(tried(tmp_path))}"
