"""Where a change begins."""

from __future__ import annotations

import torch

from debugtracer.observers.model.difference import culprit, difference, distance
from debugtracer.observers.model.shadow_model import RecordedForward
from debugtracer.trace.birth import Frame


def line(number: int):
    code = compile("\n" * (number - 1) + "x = 1", __file__, "exec")
    return ((code, number),)


def seen(name: str, given: float, output: float, *inside: tuple[str, int], at: int = 9) -> RecordedForward:
    spread = torch.arange(4.0)
    return RecordedForward(
        name, spread + given, spread + output, [(function, line(number)) for function, number in inside], line(at)
    )


def whole(value):
    return value


def test_the_first_module_that_changes_what_came_in_unchanged():
    before = [seen("a", 0, 0), seen("b", 0, 0)]
    assert culprit(
        list(
            zip(
                before,
                [seen("a", 0, 0, ("softmax", 3)), seen("b", 0, 1, ("view", 5), ("softmax", 4), ("sum", 6))],
                strict=True,
            )
        ),
        whole,
    ) == (
        "b",
        line(4),
    )


def test_what_came_in_changed_was_changed_by_the_code_around():
    before = [seen("block.norm", 0, 0), seen("block.out", 0, 0)]
    after = [seen("block.norm", 0, 0), seen("block.out", 1, 1, ("matmul", 7))]
    assert culprit(list(zip(before, after, strict=True)), whole) == ("block", line(7))


def test_no_change_is_no_difference_and_a_change_is_told_in_standard_deviations():
    base = torch.tensor([0.0, 2.0])
    assert difference(base, base, [], [], whole) == {"changed": False, "size": 0.0}
    told = difference(base, base + 1, [seen("a", 0, 0)], [seen("a", 0, 1)], whole)
    assert told["changed"]
    assert abs(told["size"] - 1 / 2**0.5) < 1e-6
    assert isinstance(told["frame"], Frame)
    assert distance(base, torch.zeros(3)) is None
