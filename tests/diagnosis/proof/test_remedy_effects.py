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
