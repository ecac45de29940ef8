"""Training and inference encode text differently."""

from __future__ import annotations

from tests.causes.listening import guess, hears, is_silent, told


def test_hears_token_out_of_table():
    finding = told("data/token-out-of-table", "tokenizer_mismatch")
    evidence = hears("tokenizer-mismatch", finding)
    assert evidence.leading == finding
    assert evidence.exact is True
    assert evidence.remedies[0].startswith("make the table as long a")


def test_what_else_was_seen_counts():
    finding = guess(told("data/token-out-of-table", "tokenizer_mismatch"))
    alone = hears("tokenizer-mismatch", finding).confidence
    assert hears("tokenizer-mismatch", finding, told("data/token-out-of-table")).confidence == alone  # the same family


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("tokenizer-mismatch", told("data/loader-bound"), told("data/token-out-of-table"))
