"""The closing case of an article (docs/closing_case.md) is diagnosed, and trains to its end with what the verdict
proposes."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from debugtracer.trace.verdict import Change
from tests.same_words import assert_same

ROOT = Path(__file__).resolve().parents[2]

UNCURED = re.compile(r"loss \S+ -> \S+, accuracy \S+ -> \S+ \(not cured\)")
"""A training that does not converge: another processor gives other numbers from its first epochs on."""
SOURCE = "model = net()\nfor batch in data:\n    loss = step(batch)\n    optimizer.step()\n"


@pytest.fixture(scope="module")
def case() -> Any:
    """The script, as a module."""
    spec = importlib.util.spec_from_file_location("closing_case", ROOT / "scripts" / "closing_case.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["closing_case"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.sweep
def test_the_case_is_cured_by_its_own_verdict_and_the_page_shows_it() -> None:
    done = subprocess.run(
        [sys.executable, "scripts/closing_case.py"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("as it is: loss nan -> nan, accuracy 0.0")
    assert done.stdout.endswith("cured after 2 of the verdict's remedies\n")
    shown = re.search(
        r"<!-- output:begin -->\n```\n(.*?)```", (ROOT / "docs" / "closing_case.md").read_text(), re.DOTALL
    )
    assert shown is not None
    page, now = (UNCURED.sub("NUMBERS (not cured)", text) for text in (shown[1], done.stdout))
    # at the end of a whole training
    assert_same(page, now, "run `python scripts/closing_case.py --write`", rel=0.1, absolute=0.1)


def test_changes_go_to_the_lines_they_name(case: Any) -> None:
    lower = Change(file="train.py", line=3, before="loss = step(batch)", after=("loss = step(batch) / 2",))
    assert case.applied(SOURCE, [lower, case.clipped(SOURCE)]) == (
        "model = net()\nfor batch in data:\n    loss = step(batch) / 2\n    "
        "torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n    optimizer.step()\n"
    )


def test_a_line_that_is_another_is_not_overwritten(case: Any) -> None:
    with pytest.raises(ValueError, match=r"line 1 is 'model = net\(\)'; expected 'loss = step\(batch\)'"):
        case.applied(SOURCE, [Change(file="train.py", line=1, before="loss = step(batch)", after=("pass",))])


@pytest.mark.parametrize(
    ("losses", "accuracies", "good"),
    [((2.0, 0.1), (0.3, 0.9), True), ((2.0, float("nan")), (0.3, 0.9), False), ((2.0, 0.1), (0.3, 0.3), False)],
)
def test_trained_is_a_finite_loss_and_a_risen_accuracy(
    case: Any, losses: tuple[float, ...], accuracies: tuple[float, ...], good: bool
) -> None:
    assert case.Course(losses, accuracies).is_trained is good
