"""The optimizer holds other parameters than the model."""

from __future__ import annotations

from tests.causes.listening import guess, hears, is_silent, told


def test_hears_missing_params():
    finding = told("optimizer/missing-params")
    evidence = hears("optimizer-params-mismatch", finding)
    assert evidence.leading == finding
    assert evidence.exact is True
    assert evidence.remedies[0].startswith("build the optimizer afte")


def test_what_else_was_seen_counts():
    finding = guess(told("optimizer/missing-params"))
    alone = hears("optimizer-params-mismatch", finding).confidence
    assert hears("optimizer-params-mismatch", finding, told("optimizer/no-update")).confidence > alone
    against = told("model/frozen-held")
    assert hears("optimizer-params-mismatch", finding, against).confidence < alone
    assert hears("optimizer-params-mismatch", finding, against).against == (against.message,)


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("optimizer-params-mismatch", told("data/loader-bound"), told("optimizer/no-update"))
