"""The words of trials, row by row."""

from debugtracer.trace.verdict import Change, Trial, Verdict
from debugtracer.views import trials

HEALED = Trial(
    intervention="stable-op=1e-06", outcome="healed", loss=4.0863, grad_l2=0.67, probe_loss=4.2238, note="clamp_min(1e-06) before the logarithm at train.py:82"
)
AGAIN = Trial(intervention="unchanged", outcome="reproduced", loss="NaN")
IDLE = Trial(intervention="bypass-module", outcome="could not run", note="the fault was born outside any module")


def a_verdict(**more):
    return Verdict(kind="log_domain", cause="log-domain", symptom="nan_loss", layer="numerics", iteration=5, step=5, **more)


def test_a_step_that_came_again_and_repeats():
    assert trials.said(AGAIN).startswith("the fault came again")
    once = Trial(intervention="unchanged", outcome="not reproduced", repeats=3)
    assert trials.said(once).startswith("the fault did not come again (3 times)")


def test_a_healed_trial_says_what_was_changed_and_what_came():
    said = trials.said(HEALED)
    assert said.startswith("healed: clamp_min(1e-06) before the logarithm at train.py:82; loss 4.086, gradients finite")


def test_what_could_not_be_tried_comes_last_with_its_reason():
    told = trials.rows(a_verdict(trials=(IDLE, AGAIN, HEALED)))
    assert [row[0] for row in told] == ["unchanged", "stable-op=1e-06", "bypass-module"]
    assert "the fault was born outside any module" in told[-1][1]


def test_the_change_is_a_diff_of_the_users_line():
    edit = Change(file="/p/train.py", line=82, before="entropy = -(p * p.log()).sum()", after=("entropy = -(p * p.clamp_min(1e-08).log()).sum()",))
    told = trials.change(a_verdict(change=edit, status="confirmed", tested="with a clamp: loss 4.086"))
    assert told[:3] == ["/p/train.py:82", "- entropy = -(p * p.log()).sum()", "+ entropy = -(p * p.clamp_min(1e-08).log()).sum()"]
    assert any("loss 4.086" in line for line in told[3:])


def test_nothing_is_claimed_of_a_guess():
    assert trials.change(a_verdict(status="possible", tested="with a clamp: loss 4.086")) == []


def test_sides_name_what_else_is_true_and_what_the_team_knows():
    told = trials.sides(
        a_verdict(summary="the loss because p is 0", evidence=("p is 0", "lr went up"), against=("c",), equivalents=("zero_division",), known="seen in run 7")
    )
    assert told == [("because", "lr went up"), ("against", "c"), ("also", "as true of this step: zero_division"), ("known", "seen in run 7")]
