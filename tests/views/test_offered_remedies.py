"""The remedies that are offered are those that the interventions say they can try offline."""

from __future__ import annotations

from debugtracer.interventions.intervention import asked
from debugtracer.views.offered_remedies import offered_remedies


def test_every_offered_word_is_an_intervention_with_a_sentence() -> None:
    known = offered_remedies()
    assert {"larger-eps", "without-sample", "lower-lr"} <= set(known)
    for slug, what in known.items():
        assert asked(slug).slug == slug
        assert len(what.split()) >= 3, slug
