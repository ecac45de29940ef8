"""No target counts."""

from __future__ import annotations

import msgspec

from debugtracer.testing import a_birth, a_tensor, evidence_of, some_facts
from debugtracer.trace.birth import Frame

SLUG = "labels-all-ignored"


def nll(*targets, classes=9, weight=None):
    scores = a_tensor(-3.0, -0.1, shape=(320, classes))
    extra = [] if weight is None else [a_tensor(*weight, shape=(classes,))]
    target = a_tensor(*targets, shape=(320,), dtype="int64")
    return some_facts(
        a_birth(
            "aten::nll_loss_forward", scores, target, *extra, kind="0/0", output=a_tensor(shape=(), nan=1), module=None
        )
    )


def test_a_single_target_value_that_no_class_has_is_exact():
    evidence = evidence_of(SLUG, nll(-100.0))
    assert evidence is not None
    assert evidence.exact
    assert evidence.whole_batch
    assert (
        evidence.because
        == "all 320 targets are -100 in this batch: none counts, so the mean in nll_loss_forward divides 0 by 0"
    )
    assert evidence.remedies[0].startswith("divide by max(count, 1)")


def test_a_loss_inside_a_library_is_not_rewritten_the_labels_are():
    facts = nll(-100.0)
    birth = msgspec.structs.replace(facts.birth, library=Frame("/env/site-packages/trans/loss.py", 36))
    evidence = evidence_of(SLUG, msgspec.structs.replace(facts, birth=birth))
    assert evidence is not None
    assert evidence.remedies[0].startswith("drop samples without a label")


def test_a_padding_class_that_is_ignored_is_likely_not_exact():
    evidence = evidence_of(SLUG, nll(0.0))
    assert evidence is not None
    assert not evidence.exact
    assert evidence.confidence == 0.85


def test_targets_whose_range_is_not_known_make_it_likely():
    evidence = evidence_of(SLUG, nll())
    assert evidence is not None
    assert not evidence.exact
    assert evidence.confidence == 0.85


def test_the_targets_of_an_image_are_counted_by_the_class_dimension():
    scores, target = a_tensor(-1.0, shape=(4, 21, 8, 8)), a_tensor(255.0, shape=(4, 8, 8), dtype="int64")
    evidence = evidence_of(SLUG, some_facts(a_birth("aten::nll_loss2d_forward", scores, target, kind="0/0")))
    assert evidence is not None
    assert evidence.exact


def test_stays_silent_when_the_targets_differ_or_the_scores_are_bad():
    assert evidence_of(SLUG, nll(-100.0, 3.0)) is None
    bad = a_birth("aten::nll_loss_forward", a_tensor(nan=3), a_tensor(-100.0, dtype="int64"), kind="0/0")
    assert evidence_of(SLUG, some_facts(bad)) is None
    assert evidence_of(SLUG, some_facts(a_birth("aten::mean", kind="0/0"))) is None


def test_labels_that_are_cut_to_a_length_are_edited_where_they_are_cut():
    cut = Frame("/home/someone/data.py", 31, "__getitem__", "labels = labels[:24]")
    facts = msgspec.structs.replace(nll(-100.0), ignored="all 24 values of batch['labels'] are -100", cut=cut)
    evidence = evidence_of(SLUG, facts)
    assert evidence is not None
    assert evidence.place is not None
    assert evidence.place.frame == cut
    assert ", cut at data.py:31" in evidence.because
