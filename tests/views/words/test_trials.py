"""The words of trials, row by row."""

from debugtracer.trace.verdict import Change, Trial, Verdict
from debugtracer.views.words import trials

HEALED = Trial(
    intervention="stable-op=1e-06",
    outcome="healed",
    loss=4.0863,
    grad_l2=0.67,
    probe_loss=4.2238,
    note="clamp_min(1e-06) before the logarithm at train.py:82",
)
AGAIN = Trial(intervention="unchanged", outcome="reproduced", loss="NaN")
IDLE = Trial(intervention="bypass-module", outcome="could not run", note="the fault was born outside any module")


def a_verdict(**more):
    return Verdict(
        kind="log_domain", cause="log-domain", symptom="nan_loss", layer="numerics", iteration=5, step=5, **more
    )


def test_a_step_that_came_again_and_repeats():
    assert trials.trial_text(AGAIN).startswith("the fault came again")
    once = Trial(intervention="unchanged", outcome="not reproduced", repeats=3)
    assert trials.trial_text(once).startswith("the fault did not come again (3 times)")


def test_a_healed_trial_says_what_was_changed_and_what_came():
    said = trials.trial_text(HEALED)
    assert said.startswith("healed: clamp_min(1e-06) before the logarithm at train.py:82; loss 4.086, gradients finite")


def test_a_trial_that_did_not_heal_says_what_is_not_to_blame():
    older = Trial(
        intervention="older-weights=1", outcome="not healed", loss="NaN", note="the weights of the step before"
    )
    assert (
        trials.trial_text(older)
        == "not healed: the weights of the step before; loss nan; so the last updates are not to blame"
    )
    other = Trial(intervention="reference-device", outcome="not healed", note="the CPU in float64")
    assert (
        trials.trial_text(other) == "not healed: the CPU in float64; so neither the device nor its rounding is to blame"
    )
    assert (
        trials.trial_text(Trial(intervention="stable-op=1e-06", outcome="not healed", note="a clamp"))
        == "not healed: a clamp"
    )


def test_what_matters_most_comes_first_and_what_could_not_be_tried_is_one_row():
    batch = Trial(intervention="other-batch", outcome="healed", note="the batch of the last healthy step")
    older = Trial(intervention="older-weights=1", outcome="not healed", note="the weights of the step before")
    known = a_verdict(trials=(IDLE, older, batch, HEALED, AGAIN, IDLE), tested=f"with {HEALED.note}: loss 4.086")
    told = trials.rows(known)
    assert [row[0] for row in told] == ["unchanged", "stable-op=1e-06", "other-batch", "older-weights=1", "not tried"]
    assert told[-1][1] == (
        "bypass-module (the fault was born outside any module); bypass-module (the fault was born outside any module)"
    )
    many = trials.rows(a_verdict(trials=(AGAIN, *[IDLE] * 6)))
    assert many[-1][1].endswith("outside any module); and 2 more")


def test_the_change_is_a_diff_of_the_users_line():
    edit = Change(
        file="/p/train.py",
        line=82,
        before="entropy = -(p * p.log()).sum()",
        after=("entropy = -(p * p.clamp_min(1e-08).log()).sum()",),
    )
    known = a_verdict(change=edit, status="confirmed", tested="with a clamp: loss 4.086")
    assert trials.change(known) == [
        "/p/train.py:82",
        "- entropy = -(p * p.log()).sum()",
        "+ entropy = -(p * p.clamp_min(1e-08).log()).sum()",
    ]
    assert trials.tested(known) == "tried on this step with a clamp: loss 4.086"


def test_nothing_is_claimed_of_a_guess_or_where_nothing_is_proposed():
    edit = Change(file="/p/train.py", line=82, before="a", after=("b",))
    assert trials.tested(a_verdict(change=edit, status="possible", tested="with a clamp: loss 4.086")) == ""
    assert trials.tested(a_verdict(status="confirmed", tested="with another batch: loss 4.086")) == ""
    assert trials.change(a_verdict()) == []


def test_a_fix_of_one_line_tells_what_came_of_the_steps():
    fixed = Trial(intervention="one-line-fix", outcome="healed", note="zero_grad moved")
    assert (
        trials.tested(a_verdict(status="confirmed", trials=(fixed,), tested="with zero_grad moved: mean loss 0.1"))
        == "tried with zero_grad moved: mean loss 0.1"
    )


def test_sides_name_what_else_is_true_and_what_the_team_knows():
    told = trials.sides(
        a_verdict(
            summary="the loss because p is 0",
            evidence=("p is 0", "lr went up"),
            against=("c",),
            equivalents=("zero_division",),
            known="seen in run 7",
        )
    )
    assert told == [
        ("shown", "lr went up"),
        ("against", "c"),
        ("also", "as true of this step: zero_division"),
        ("known", "seen in run 7"),
    ]
