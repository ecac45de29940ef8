"""Whose state does a recurrent layer begin with?"""

from __future__ import annotations

import pytest

from debugtracer.checks.model.state_carried import StateCarried
from debugtracer.trace.facts.carried_state import CarriedState
from tests.checks.facts_at import judged, line, ref


def looks(count: int = 2) -> list[CarriedState]:
    given = {"module": "r", "layer": "GRU", "rows": 8, "before": (311, 4), "now": (20, 7), "loader": line(9)}
    given |= {"made": line(30), "frame": line(14)}
    return [CarriedState(ref=ref(step), **given) for step in range(1, 1 + count)]  # type: ignore[arg-type]


def test_a_state_of_the_batch_before_is_told_at_the_line_that_carries_it():
    (finding,) = judged(StateCarried(), looks(3))
    assert finding.message == (
        "step 1, rank 0: the GRU r (train.py:14) begins with the state that it left in the batch before, in 2 batches; "
        "row 0 was sample 311 there and is sample 20 now, and so on (train.py:9); expected zeros for samples of their "
        "own. Leave the state out, or begin it anew in each batch."
    )
    assert (finding.severity, finding.place.frame, finding.place.symptom_frame) == ("warning", line(30), line(14))


@pytest.mark.parametrize("given", [looks(1), looks(1) * 3])
def test_one_batch_is_no_proof(given):
    assert not judged(StateCarried(), given, ended=True)
