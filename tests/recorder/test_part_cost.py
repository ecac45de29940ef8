"""What of a duration counts as ours."""

import pytest

from debugtracer.recorder.part_cost import KEPT, MOST, PartCost


def test_a_duration_counts_whole_and_a_stall_of_the_machine_does_not():
    cost = PartCost()
    assert cost.usual_s() == 0.0
    assert cost.counted(0.002) == 0.002
    for _ in range(5):
        assert cost.counted(0.001) == 0.001
    assert cost.counted(0.5) == pytest.approx(MOST * 0.001)
    assert cost.usual_s() == 0.001


def test_what_has_become_dear_counts_whole_after_a_few_times():
    cost = PartCost()
    for _ in range(KEPT):
        cost.counted(0.001)
    counted = [cost.counted(0.1) for _ in range(KEPT)]
    assert counted[0] == pytest.approx(MOST * 0.001)
    assert counted[-1] == 0.1
