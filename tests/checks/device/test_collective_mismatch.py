from __future__ import annotations

from debugtracer.checks.device.collective_mismatch import LEAVES, CollectiveMismatch, left_alone
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.standing import Standing
from tests.checks.windows import ref, told

GLOO = (
    "RuntimeError: [gloo/transport/tcp/unbound_buffer.cc:78] Timed out waiting 10000ms for recv operation to complete"
)
CLOSED = "RuntimeError: [gloo/transport/tcp/pair.cc:553] Connection closed by peer [127.0.0.1]:56023."


def a_stand(
    rank: int, how: str, call: str = "", line: int | None = None, message: str = "", updates: int | None = 6
) -> Standing:
    frame = Frame("/home/someone/train.py", line, "main") if line else None
    return Standing(ref=ref(updates or 0, rank), how=how, updates=updates, call=call, frame=frame, message=message)


def found(*stands: Standing):
    return list(CollectiveMismatch().judge_ranks({s.ref.rank: told(s, rank=s.ref.rank) for s in stands}))


def test_both_sides_are_named_and_the_explicit_collective_is_the_place():
    (one,) = found(a_stand(0, "crashed", "backward", 21, CLOSED), a_stand(1, "crashed", "barrier", 29, GLOO))
    assert (one.severity, one.kind, one.exact, one.place.frame.line, one.place.symptom_frame.line) == (
        "error",
        "ddp_desync",
        True,
        29,
        21,
    )
    assert one.message == (
        "step 6, rank 0: rank 0 stands in backward at train.py:21 after 6 updates, rank 1 in barrier at train.py:29 "
        "after 6 updates; expected all ranks in the same collective. Give each rank as many batches as the others, and "
        "take no branch with a collective on some ranks only."
    )


def test_a_rank_that_ended_or_stands_in_no_collective():
    (ended,) = found(a_stand(0, "crashed", "backward", 21, CLOSED), a_stand(1, "ended", updates=5))
    assert "rank 1 at the end of its program after 5 updates" in ended.message and ended.place.frame.line == 21
    (alone,) = found(a_stand(0, "crashed", "backward", 21, GLOO), a_stand(1, "killed", "", 27, updates=None))
    assert "rank 1 in no collective at train.py:27; expected" in alone.message and alone.place.frame.line == 27


def test_many_ranks_are_grouped_and_the_few_are_the_place():
    (one,) = found(
        *(a_stand(n, "crashed", "backward", 21, CLOSED) for n in range(6) if n != 4),
        a_stand(4, "crashed", "all_reduce", 40, GLOO),
    )
    assert (
        "ranks 0, 1, 2 and 2 more stand in backward at train.py:21 after 6 updates, rank 4 in all_reduce at train.py:40"
        in one.message
    )
    assert one.place.frame.line == 40


def test_ranks_that_still_wait_are_a_warning():
    (one,) = found(a_stand(0, "waits", "backward", 21), a_stand(1, "waits", "barrier", 29))
    assert (one.severity, one.exact) == ("warning", False)


def test_an_abort_inside_a_collective_counts_and_a_plain_kill_does_not():
    (one,) = found(a_stand(0, "killed", "backward", 21), a_stand(1, "killed", "all_reduce", 32, "Aborted"))
    assert one.place.frame.line == 32
    assert found(a_stand(0, "killed", "backward", 21), a_stand(1, "killed", "", 18)) == []


def test_silent_where_another_cause_leads():
    waiting = a_stand(0, "crashed", "backward", 21, CLOSED)
    assert found(waiting, a_stand(1, "crashed", "", 12, "ValueError: no such file")) == []
    assert found(waiting, a_stand(1, "crashed", "", 12, "KeyboardInterrupt: ")) == []
    assert found(waiting, a_stand(1, "crashed", "backward", 21, GLOO)) == []
    assert found(waiting) == []
    assert found(waiting, a_stand(1, "stopped")) == []
    assert found(a_stand(0, "crashed", "recv", 21, GLOO), a_stand(1, "crashed", "send", 29, GLOO)) == []
    assert found(a_stand(0, "ended"), a_stand(1, "ended", updates=7)) == []


def test_one_rank_alone_is_not_judged():
    assert list(CollectiveMismatch().judge(told(a_stand(0, "crashed", "backward", 21, GLOO)))) == []


def test_a_rank_is_left_alone_inside_a_collective_only():
    for how, message in (("crashed", CLOSED), ("waits", ""), ("killed", "Aborted")):
        assert left_alone(a_stand(0, how, "all_reduce", 32, message))
        assert not left_alone(a_stand(0, how, "", 32, message))
        assert not left_alone(a_stand(0, how, LEAVES, 32, message))
    assert not left_alone(a_stand(0, "ended", "all_reduce", 32))
    assert not left_alone(a_stand(0, "killed", "all_reduce", 32, "Killed"))


def test_the_earliest_rank_that_was_left_alone_is_the_place_in_the_run():
    (one,) = found(
        a_stand(0, "ended"), a_stand(1, "waits", "barrier", 29, updates=4), a_stand(2, "waits", "barrier", 29)
    )
    assert (one.rank, one.step) == (1, 4)
