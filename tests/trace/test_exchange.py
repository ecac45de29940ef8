"""What ranks send to each other, written down and compared."""

from __future__ import annotations

from debugtracer.trace.exchange import Exchange, as_text, exchanges_of, unequal


def a_call(number, sent, received=None, ranks=(0, 1), call="all_to_all_single"):
    return Exchange(number, call, sent, received or sent, ranks, "/home/some one/train.py", 19)


def test_it_survives_a_file_that_is_written_over():
    calls = (a_call(3, (8, 8)), a_call(4, (8, 0), (8, 4)))
    assert exchanges_of(as_text(calls) + "\0\0") == calls
    assert exchanges_of("") == () and exchanges_of("half a li") == ()
    assert exchanges_of(as_text((a_call(1, ()),))) == (a_call(1, ()),)


def test_the_first_pair_of_other_sizes_is_told():
    ranks = {0: [a_call(3, (8, 8)), a_call(4, (6, 6))], 1: [a_call(3, (8, 8)), a_call(4, (8, 8)), a_call(5, (8, 8))]}
    found = unequal(ranks)
    assert (found.sender, found.receiver, found.sent, found.expected, found.at.number) == (0, 1, 6, 8, 4)


def test_split_sizes_that_fit_are_equal():
    assert unequal({0: [a_call(0, (1, 5), (1, 2))], 1: [a_call(0, (2, 7), (5, 7))]}) is None


def test_what_is_no_common_call_is_not_compared():
    one = a_call(3, (8, 8))
    assert unequal({0: [one], 1: [a_call(4, (6, 6))]}) is None
    assert unequal({0: [one], 1: [a_call(3, (6, 6), call="all_to_all")]}) is None
    assert unequal({0: [one], 1: [a_call(3, (6, 6), ranks=(1, 2))]}) is None
    assert unequal({0: [one], 1: []}) is None and unequal({}) is None
