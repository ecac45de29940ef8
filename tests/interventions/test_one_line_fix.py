"""The missing line of a loop; on real steps it is tried in tests/replay/trials/test_history_trials.py and
tests/diagnosis/test_loop_fix.py."""

import torch

from debugtracer.interventions.intervention import interventions
from debugtracer.interventions.rerun import Rerun


def a_rerun(**more):
    model = torch.nn.Linear(2, 1)
    for parameter in model.parameters():
        parameter.grad = torch.ones_like(parameter)
    return Rerun("nan_loss", [], [model], [], **more)


def test_it_drops_gradients_where_a_step_begins_and_leaves_the_loops_own_call_out():
    rerun = a_rerun(broken="gradients_cleared", replays_past=True, history=11)
    assert interventions()["one-line-fix"].apply(rerun) == "zero_grad moved before the backward in the last 12 steps"
    assert rerun.left_out == {"zero_grad"}
    rerun.before_step[0]()
    assert all(p.grad is None for p in rerun.roots[0].parameters())


def test_it_says_what_it_lacks():
    fix = interventions()["one-line-fix"]
    assert fix.refuses(a_rerun(broken="stale_gradients")) == "the steps before are not kept"
    assert (
        fix.refuses(a_rerun(broken="lr_too_high", replays_past=True))
        == "no broken invariant is known that one line of the loop cures"
    )
    assert fix.refuses(a_rerun(broken="stale_gradients", replays_past=True)) == ""
