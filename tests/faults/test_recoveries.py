"""Scripts that are ruined without us reach the loss of their healthy twins under mode prod; faults that stay end with a
stop. All of them: `python scripts/recoveries.py --check`."""

from __future__ import annotations

import pytest

from tests.faults.every import SWEEP
from tests.faults.scoring import part
from tests.forked import Programs

recoveries = part("recoveries")
QUICK = (
    *("data/inplace_standardise", "numerics/masked_attention", "numerics/fp16_scores", "numerics/sqrt0_norm"),
    *("numerics/closed_corridor", "optimizer/normalised_update"),
    *("numerics/function_backward", "numerics/carried_hidden_state", "numerics/augmented_batchnorm"),
)
"""Without loader workers and frameworks: a second each."""

QUICK_LASTING = [*list(recoveries.LASTING)[:5], "data/decimal_commas", "numerics/half_twin_distance"]


@pytest.fixture
def tools(programs: Programs) -> object:
    return recoveries.Tools(programs.python, programs.tool)


@pytest.mark.parametrize("name", list(recoveries.RECOVER) if SWEEP else QUICK)
def test_the_script_reaches_the_loss_of_its_healthy_twin(name: str, tools: object) -> None:
    row = recoveries.recovery(name, tools, others=False)
    assert row["status"] == 0, row["stderr"]
    assert row["actions"], "nothing was done"
    assert row["off"] <= recoveries.LIMIT, row


@pytest.mark.parametrize("name", list(recoveries.LASTING) if SWEEP else QUICK_LASTING)
def test_a_fault_that_stays_ends_with_a_stop_and_few_skips(name: str, tools: object) -> None:
    row = recoveries.lasting(name, tools)
    assert row["status"] == 3, row["stderr"]
    assert row["actions"][-1] == "stop" and row["verdict"]
    assert len(row["actions"]) <= 5
    assert row["backwards"] <= 26, "it went on for long"
    assert "last good state" in row["stderr"] or "its state was not written" in row["stderr"]


def test_quick_ones_are_of_the_list() -> None:
    assert set(QUICK) <= set(recoveries.RECOVER)
    assert len(QUICK) >= 8
