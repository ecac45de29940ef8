"""Training state was lost or mapped wrongly on resume."""

from __future__ import annotations

from tests.causes.listening import change, guess, hears, is_silent, told


def test_hears_restore_mismatch():
    finding = told("rollback/restore-mismatch")
    evidence = hears("resume-state", finding)
    assert evidence.leading == finding
    assert evidence.exact is False
    assert evidence.remedies[0].startswith("compute the loss of one ")


def test_what_else_was_seen_counts():
    finding = guess(told("rollback/restore-mismatch"))
    alone = hears("resume-state", finding).confidence
    assert hears("resume-state", finding, told("optimizer/lr-jump")).confidence > alone
    assert hears("resume-state", finding, told("rollback/ckpt-incomplete")).confidence == alone  # the same family


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("resume-state", told("data/loader-bound"), told("optimizer/lr-jump"))


def test_the_change_is_made_at_the_line():
    assert change("resume-state", "model.load_state_dict(state, strict=False)") == (
        "model.load_state_dict(state, strict=True)",
    )
    assert change("resume-state", "pass") is None
