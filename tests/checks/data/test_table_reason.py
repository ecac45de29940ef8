"""Why a table has no row for an id."""

from __future__ import annotations

from debugtracer.checks.data.table_reason import BY_ONE, COUNTED, VOCABULARY, of_labels, of_size, of_text
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.crash import ModuleSeen, TensorSeen
from tests.trace.facts.test_long_text import a_long_text
from tests.trace.facts.test_overwritten_ids import overwritten

LENGTH, GIVEN, BUILT = (Frame("/p/data.py", line) for line in (45, 48, 12))


def ids(low: int, high: int) -> TensorSeen:
    return TensorSeen(name="input", shape=(4,), low=low, high=high)


def test_the_line_of_the_size_says_what_is_wrong_with_it() -> None:
    short = ModuleSeen(path="q", kind="Embedding", short=(LENGTH, GIVEN))
    assert (of_size(short, ids(0, 50), 50).advice, of_size(short, ids(0, 50), 50).frame) == (BY_ONE, LENGTH)
    counted = ModuleSeen(path="q", kind="Embedding", counted=LENGTH)
    assert (of_size(counted, ids(0, 99), 50).advice, of_size(counted, ids(0, 99), 50).frame) == (COUNTED, LENGTH)


def test_without_such_a_line_that_of_the_layer_where_the_ids_are_near() -> None:
    plain = ModuleSeen(path="q", kind="Embedding", built=BUILT)
    for high, frame in ((99, BUILT), (100, None)):
        reason = of_size(plain, ids(0, high), 50)
        assert (reason.advice, reason.frame, reason.known) == (VOCABULARY, frame, False)
    assert of_size(plain, ids(-1, 9), 50).frame is None
    assert of_size(None, None, 50).frame is None


def test_ids_that_are_none_of_a_vocabulary_have_one_remedy() -> None:
    for reason in (of_text(a_long_text(), None), of_labels(overwritten())):
        assert reason.known and reason.complete and len(reason.first) == 1
    assert not of_labels(overwritten(frame=None)).known
