"""What numbers keys, and what does not."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from debugtracer.callsites.key_numbers import FEWEST, GAPS, key_numbers, of_columns

WORDS = [f"w{n}" for n in range(FEWEST)]


@pytest.mark.parametrize(
    "value",
    [
        {word: at for at, word in enumerate(WORDS)},
        {word: at + GAPS for at, word in enumerate(WORDS)},
        {100 - at: at for at in range(FEWEST)},
        WORDS,
        tuple(WORDS),
    ],
)
def test_a_numbering(value: Any) -> None:
    found = key_numbers(value)
    assert found is not None and len(found) == FEWEST


@pytest.mark.parametrize(
    "value",
    [
        {word: at for at, word in enumerate(WORDS[1:])},
        {word: at + GAPS + 1 for at, word in enumerate(WORDS)},
        {word: 9 * at for at, word in enumerate(WORDS)},
        dict.fromkeys(WORDS, 1),
        {word: float(at) for at, word in enumerate(WORDS)},
        {(word, 1): at for at, word in enumerate(WORDS)},
        Counter(WORDS),
        [*WORDS, WORDS[0]],
        list(range(FEWEST)),
        WORDS[1:],
        3,
        None,
    ],
)
def test_no_numbering(value: Any) -> None:
    assert key_numbers(value) is None


def test_columns_of_a_table_in_either_order() -> None:
    ids = list(range(FEWEST))
    assert of_columns(WORDS, ids) == of_columns(ids, WORDS) == dict(zip(WORDS, ids, strict=True))
    assert of_columns([WORDS[0], *WORDS[:-1]], ids) is None
    assert of_columns([900 + 3 * n for n in ids], ids) == {900 + 3 * n: n for n in ids}


def test_a_table_of_two_columns() -> None:
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"item": WORDS, "number": range(FEWEST)})
    assert key_numbers(table) == dict(zip(WORDS, range(FEWEST), strict=True))
    assert key_numbers(table.assign(third=1)) is None
