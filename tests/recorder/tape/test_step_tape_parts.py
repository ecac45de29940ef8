"""What a tensor of the tape is taken for, and when a segment is renewed in its place."""

from __future__ import annotations

import pytest
import torch

from debugtracer.recorder.tape.step_tape import Segment, Tape, address

# the limits as they are promised
MOST_DEFERRED = 4


def a_tape() -> Tape:
    return Tape(lambda: ())


def graph(value=1.0):
    return torch.tensor(value, requires_grad=True) * 2


def test_a_tensor_with_a_graph_is_that_of_the_segment_before_or_foreign():
    tape, made, other = a_tape(), graph(), graph()
    tape.close(tape.open("fn", torch.mul, (), {}), made)
    tape.boundary(1, 1)
    assert tape.new_leaf(made).origin is not None and tape.new_leaf(made).foreign is False
    assert tape.new_leaf(other).origin is None and tape.new_leaf(other).foreign is True
    slot = tape.previous.made.pop(id(made))
    tape.previous.made[id(other)] = slot
    assert tape.new_leaf(other).foreign is True, "an identity that was used again"
    tape.previous = None
    assert tape.new_leaf(made).foreign is True
    assert tape.new_leaf(torch.ones(1)).foreign is False


def test_arguments_are_referred_to_unless_they_are_so_already():
    tape, x = a_tape(), torch.ones(1)
    assert tape.open("fn", torch.neg, (x,), {}).args[0] is not x
    assert tape.open("fn", torch.neg, (x,), {}, encoded=True).args[0] is x


@pytest.mark.parametrize(
    ("entries", "losses", "rested", "rests", "renewed"),
    [
        (0, 0, True, True, True),
        (1, 0, True, True, False),
        (0, 1, True, True, False),
        (0, 0, False, True, False),
        (0, 0, True, False, False),
    ],
)
def test_a_segment_is_renewed_in_its_place_where_nothing_was_recorded_and_all_rests(
    entries, losses, rested, rests, renewed
):
    tape = a_tape()
    segment = tape.current
    segment.entries, segment.losses = [None] * entries, [None] * losses
    segment.rested, tape.rests = rested, rests
    tape.renew(3, 2)
    assert (tape.current is segment) is renewed
    assert (tape.current.number, tape.current.first_iteration, tape.current.first_step) == (1, 3, 2)


def test_so_many_root_calls_are_kept_by_reference_the_oldest_goes_first():
    tape = a_tape()
    for number in range(MOST_DEFERRED + 1):
        tape.defer(number, (), {}, None)
    assert [call[0] for call in tape.deferred] == list(range(1, MOST_DEFERRED + 1))


@pytest.mark.parametrize(
    ("output", "argument", "marked"),
    [
        (torch.tensor(1.0), graph(), True),
        (torch.ones(2), graph(), False),
        (1.0, graph(), False),
        (torch.tensor(1.0), 1.0, False),
        (torch.tensor(1.0), torch.tensor(1.0), False),
        (torch.tensor(1.0), torch.tensor(1.0, requires_grad=True), False),
    ],
)
def test_a_number_made_of_a_loss_is_one(output, argument, marked):
    tape = a_tape()
    tape.mark_losslike(output, argument)
    assert bool(tape.losslike) is marked and (not marked or tape.is_losslike(output))


def test_a_loss_is_a_floating_number_with_a_graph():
    tape = a_tape()
    assert tape.is_losslike(graph())
    weights = torch.ones(2, requires_grad=True)
    for other in (weights * 2, torch.tensor(1.0), torch.tensor(1), torch.tensor(1.0, requires_grad=True)):
        assert not tape.is_losslike(other)
    with torch.no_grad():
        assert not tape.is_losslike(graph())
    other, known = torch.tensor(1.0), torch.tensor(2.0)
    tape.mark_losslike(known, graph())
    tape.losslike[id(other)] = tape.losslike[id(known)]
    assert not tape.is_losslike(other), "an identity that was used again"


def test_a_layout_without_memory_of_its_own_has_no_address():
    assert address(torch.ones(2).to_sparse()) == 0
    x = torch.ones(2)
    assert address(x) == address(x[1:]) != 0


def test_the_next_segment_has_the_next_number():
    tape = a_tape()
    assert isinstance(tape.current, Segment) and tape.current.number == 0
    tape.start(5, 4)
    assert (tape.current.number, tape.current.first_iteration, tape.current.first_step) == (1, 5, 4)
