from __future__ import annotations

from debugtracer.checks.data.restarted_pass import RestartedPass
from debugtracer.trace.facts.epochs import Restart
from tests.checks.windows import LOADER, ref, told


def found(asked: int = 1, batches: int | None = 40):
    fact = Restart(ref=ref(10), loader=0, frame=LOADER, first=0, count=10, asked=asked, batches=batches)
    return list(RestartedPass().judge(told(fact, step=10)))


def test_ten_passes_of_one_batch():
    (one,) = found()
    assert (one.severity, one.place.frame) == ("warning", LOADER)
    assert one.message == (
        "step 10, rank 0: the batch of iteration 0 has come 10 more times, each time as the first and only one of a "
        "new pass over 40 batches (train.py:20); "
        "expected new samples in each step. Make the iterator once, outside the loop."
    )


def test_whole_passes_in_a_fixed_order_and_overfit_tests_are_silent():
    assert found(asked=40) == []
    assert found(batches=3) == []
    assert found(batches=None) == []
