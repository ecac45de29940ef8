"""Evaluations in another language than training."""

from __future__ import annotations

import pytest

from debugtracer.checks.data.unseen_token import UnseenToken
from debugtracer.trace.facts.unseen_token import UnseenToken as Unseen
from tests.checks.facts_at import judged, line, ref


def seen(number: int = 0, **fields: object) -> Unseen:
    given = {
        "share": 0.33, "tokens": 1800, "trained_tokens": 4800, "inside": 0.7, "columns": 6, "column_share": 0.2,
        "made": line(36), **fields,
    }  # fmt: skip
    return Unseen(ref=ref(24 + number), root="Intent", number=number, token=1, trained=0.0, frame=line(60), **given)


def test_a_third_of_unknown_words_is_told_at_the_line_that_encodes():
    (finding,) = judged(UnseenToken(), [seen(n) for n in range(3)])
    assert finding.message == (
        "step 24, rank 0: 33% of the 1800 ids that Intent is given without gradients (train.py:60) are 1, which is 0 "
        "of the 4800 ids of training; expected the same text. Encode both with the same function."
    )
    assert (finding.severity, finding.kind) == ("warning", "tokenizer_mismatch")
    assert (finding.place.frame, finding.place.symptom_frame) == (line(36), line(60))


def test_small_calls_must_agree():
    assert judged(UnseenToken(), [seen(tokens=60)]) == []
    assert len(judged(UnseenToken(), [seen(n, tokens=60) for n in range(2)])) == 1


@pytest.mark.parametrize(
    "fields",
    [{"share": 0.09}, {"inside": 0.2}, {"columns": 2}, {"column_share": 0.6}, {"trained_tokens": 100}],
    ids=["few", "padding", "special tokens", "a column of a table", "hardly trained"],
)
def test_unknown_words_padding_special_tokens_and_tables_are_silent(fields):
    assert judged(UnseenToken(), [seen(n, **fields) for n in range(3)]) == []
