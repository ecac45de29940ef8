"""Ranks that expect other sizes than they are sent."""

from __future__ import annotations

import msgspec

from debugtracer.checks.device.collective_mismatch import CollectiveMismatch
from debugtracer.checks.device.exchange_sizes import ExchangeSizes
from debugtracer.trace.exchange import Exchange
from tests.checks.device.test_collective_mismatch import GLOO, a_stand
from tests.checks.windows import told


def a_call(number, size):
    return Exchange(number, "all_to_all_single", (size, size), (size, size), (0, 1), "/home/someone/train.py", 19)


def stands(first, second):
    mine = a_stand(0, "crashed", "all_to_all_single", 19, GLOO)
    other = a_stand(1, "killed", "", 27, updates=None)
    calls = ([a_call(24, first)], [a_call(24, second), a_call(25, second)])
    return [msgspec.structs.replace(s, exchanges=tuple(e)) for s, e in zip((mine, other), calls, strict=True)]


def found(check, *given):
    return list(check.judge_ranks({s.ref.rank: told(s, rank=s.ref.rank) for s in given}))


def test_the_call_and_both_sizes_are_named():
    (one,) = found(ExchangeSizes(), *stands(96, 128))
    assert (one.severity, one.kind, one.exact, one.place.frame.line) == ("error", "ddp_desync", True, 19)
    assert one.message == (
        "step 6, rank 0: in call 24 of all_to_all_single (train.py:19) rank 0 sends 96 elements to rank 1, which "
        "expects 128; expected the same on both sides. Exchange the sizes first, or pad to the largest of all ranks."
    )
    assert found(CollectiveMismatch(), *stands(96, 128)) == []


def test_equal_sizes_are_left_to_the_other_check():
    assert found(ExchangeSizes(), *stands(96, 96)) == []
    assert len(found(CollectiveMismatch(), *stands(96, 96))) == 1


def test_nobody_was_left_alone():
    ended = [msgspec.structs.replace(s, how="ended", call="") for s in stands(96, 128)]
    assert found(ExchangeSizes(), *ended) == []
