"""Which trials are of the kind of a change."""

import pytest

from debugtracer.causes.rewrite.rewritten import EDITS
from debugtracer.diagnosis.proof.remedy_effects import KINDS, failed, healing, honest
from debugtracer.interventions.intervention import interventions
from debugtracer.trace.verdict import Change, Trial
from tests.views.words.test_trials import a_verdict


def of(edit):
    return Change(file="train.py", line=3, before="a", after=("b",), edit=edit)


def a_trial(slug, outcome):
    return Trial(intervention=slug, outcome=outcome, note=slug, loss=1.5)


def test_every_edit_and_every_intervention_of_the_table_exists():
    assert set(KINDS) <= set(EDITS)
    assert {slug for slugs in KINDS.values() for slug in slugs} <= set(interventions())


@pytest.mark.parametrize(
    ("edit", "slug"),
    [("clamp-argument", "stable-op=0.001"), ("lower-lr", "lower-lr=0.1"), ("as-float", "full-precision")],
)
def test_a_trial_of_the_same_kind_speaks_for_the_change(edit, slug):
    assert healing(of(edit), [a_trial("without-sample", "healed"), a_trial(slug, "healed")]).intervention == slug
    assert failed(of(edit), [a_trial("without-sample", "not healed"), a_trial(slug, "not healed")]).intervention == slug


def test_one_that_healed_on_a_further_value_has_not_failed():
    trials = [a_trial("stable-op=1e-06", "not healed"), a_trial("stable-op=0.001", "healed")]
    assert failed(of("clamp-argument"), trials) is None
    assert failed(of("clamp-argument"), [a_trial("stable-op", "could not run")]) is None


def test_the_words_of_a_fix_of_the_loop_stay():
    fixed = a_verdict(
        change=of("zero-grad"),
        trials=(a_trial("one-line-fix", "healed"),),
        tested="with zero_grad moved: mean loss 0.1",
    )
    assert honest(fixed) == fixed


def told(edit, *trials):
    return honest(a_verdict(change=of(edit), trials=trials, tested="before", remedy=("keep",)))


def test_a_change_keeps_the_words_of_its_own_trial_and_loses_those_of_others():
    own, other = a_trial("stable-op=0.001", "healed"), a_trial("without-sample", "healed")
    assert told("clamp-argument", other, own).tested == "with stable-op=0.001: loss 1.5"
    assert told("clamp-argument", other).tested == ""
    assert told("clamp-argument", other).change == of("clamp-argument")
    assert told("clamp-argument").tested == ""


def test_a_learning_rate_is_proposed_only_with_a_trial():
    assert told("lower-lr").change is None
    assert told("lower-lr", a_trial("lower-lr=0.1", "healed")).change == of("lower-lr")


def test_a_change_in_vain_is_dropped_and_what_healed_instead_is_said():
    vain = a_trial("stable-op", "not healed")
    alone = told("clamp-argument", vain)
    assert (alone.change, alone.tested, alone.remedy[1:]) == (None, "", ("keep",))
    assert alone.remedy[0] == "stable-op alone did not heal the recorded step (loss 1.5, still not healthy)"
    for slug, rows in (("without-sample", True), ("sanitised-batch", True), ("other-batch", True), ("lower-lr", False)):
        (first, *_) = told("clamp-argument", vain, a_trial(slug, "healed")).remedy
        assert f"; {slug} did (loss 1.5)" in first
        assert first.endswith("look at the guilty rows first (`debug-tracer report RUN --batch`)") is rows


def test_without_a_change_nothing_is_touched_and_words_of_several_steps_stay():
    plain = a_verdict(change=None, trials=(a_trial("stable-op", "not healed"),), tested="before")
    assert honest(plain) is plain
    several = Trial(intervention="stable-op", outcome="not healed", note="x", loss=1.5, spread=0.1)
    trained = a_verdict(change=of("clamp-argument"), trials=(several,), tested="before")
    assert honest(trained) is trained
