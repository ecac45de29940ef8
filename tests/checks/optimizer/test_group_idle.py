"""Groups without a learning rate."""

from __future__ import annotations

from debugtracer.checks.optimizer.group_idle import GroupIdle
from debugtracer.trace.facts.idle_group import IdleGroup
from tests.checks.optimizer.seen import at, found, line


def fact(updates=200):
    return IdleGroup(
        ref=at(199), optimizer=0, kind="AdamW", frame=line(11), group=0, groups=2, updates=updates, values=5000,
        share=0.78, param="0.weight", rate=1e-3,
    )  # fmt: skip


def test_a_group_of_new_weights_is_told():
    (finding,) = found(GroupIdle(), [fact()])
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "lr_zero", line(11))
    assert finding.message == (
        "step 199, rank 0: group 0 of AdamW (train.py:11), 78% of what it holds, had a learning rate of 0 in all 200 "
        "updates, and 0.weight has the values of a new layer; expected the rate of the other groups, 0.001, or weights "
        'that were loaded. Take "lr" out of the group.'
    )


def test_a_run_of_few_updates_is_silent():
    assert found(GroupIdle(), [fact(49)]) == []
