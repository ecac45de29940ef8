"""What the source of a loop over a loader says of its counts."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from debugtracer.callsites.pass_tallies import compared, loop_at, pass_tallies
from debugtracer.source.program import parse

KEPT = """
total = 0.0
for epoch in range(3):
    {reset}
    for x, y in loader:
        loss = weigh(model(x), y)
        total += {added}
    {use}
"""
SHARED = """
def test(model):
    right = {begun}
    for x, y in loader:
        guess = model(x).argmax(1)
        {write}
    return 100. * right / {by}
"""


def found(source):
    program = parse(Path("train.py"), textwrap.dedent(source).encode())
    at = next(number for number, one in enumerate(source.split("\n"), 1) if "in loader" in one)
    return list(pass_tallies(program, loop_at(program, at)))


def kept(reset="pass", added="loss.item()", use="print(total / len(loader))"):
    return found(KEPT.format(reset=reset, added=added, use=use))


def shared(begun="0", write="right += (guess == y).sum().item()", by="len(data)"):
    return found(SHARED.format(begun=begun, write=write, by=by))


@pytest.mark.parametrize(
    "use", ["print(total / len(loader))", "print(f'{total / 4:.2f}')", "if total < best: best = total"]
)
def test_a_sum_that_is_set_before_all_epochs_is_kept(use):
    (one,) = kept(use=use)
    assert (one.kind, one.name, one.write.lineno, one.begun.lineno, one.mean) == ("kept", "total", 7, 2, False)


@pytest.mark.parametrize(
    "given",
    [
        {"reset": "total = 0.0"},
        {"use": "print(total)"},
        {"use": "print(total / (epoch + 1))"},
        {"use": "if total > budget: stop = True"},
        {"added": "x.size(0)"},
        {"added": "clock() - begun"},
    ],
    ids=str,
)
def test_a_sum_that_is_set_anew_or_is_no_metric_is_left_alone(given):
    assert not kept(**given)


def test_a_divisor_that_goes_on_as_well_makes_a_mean():
    source = KEPT.format(reset="pass", added="loss.item(); rows += len(x)", use="print(total / rows)")
    assert [one.mean for one in found(source)] == [True]


@pytest.mark.parametrize("write", ["right += (guess == y).sum().item()", "right = right + guess.eq(y).sum()"])
def test_a_count_of_equal_elements_is_shared(write):
    (one,) = shared(write=write)
    assert (one.kind, one.sides) == ("shared", ("guess", "y"))


@pytest.mark.parametrize(
    "given",
    [
        {"begun": "start"},
        {"write": "right += (guess == y).float().mean()"},
        {"write": "right += ((guess == y) * weight).sum()"},
        {"write": "if x.any(): right += (guess == y).sum()"},
        {"write": "rows = len(x); right += (guess == y).sum()", "by": "rows"},
        {"write": "right += (guess == y).sum(); break"},
    ],
    ids=str,
)
def test_a_count_that_may_be_of_other_rows_is_left_alone(given):
    assert not shared(**given)


def test_a_count_that_each_batch_writes_anew_is_the_last_one():
    (one,) = shared(write="right = (guess == y).sum()")
    assert (one.kind, one.name, one.write.lineno) == ("last", "right", 6)
    assert not shared(write="right = (guess == y).sum(); every.append(right)")


OWNED = """
class Trainer:
    def __init__(self):
        self.total = 0.0
        self.meter = Meter()
    def test(self):
        {reset}
        for x, y in loader:
            loss = weigh(self.model(x), y)
            {write}
        return {use}
"""


def owned(reset="pass", write="self.total += loss.item()", use="self.total / len(loader)"):
    return found(OWNED.format(reset=reset, write=write, use=use))


def test_an_attribute_that_is_set_where_its_object_is_built_is_kept():
    (one,) = owned()
    assert (one.kind, one.name, one.begun.lineno, one.write.lineno) == ("kept", "self.total", 4, 10)
    assert not owned(reset="self.total = 0.0")
    assert not owned(write="self.total += loss.item(); self.n += 1", use="self.total / self.n")


def test_an_object_that_is_told_of_each_batch_is_a_meter():
    (one,) = owned(write="self.meter.update(loss.item(), len(x))", use="self.meter.avg")
    assert (one.kind, one.name) == ("meter", "self.meter")
    assert not owned(write="self.meter.update(clock() - begun)", use="self.meter.avg")
    assert not owned(write="self.meter.update(loss.item())", use="0")


def test_two_comparisons_are_no_count():
    program = parse(Path("a.py"), b"((a == b) == c).sum()")
    assert compared(program.tree.body[0].value) == ()


LISTED = """
losses = []
for epoch in range(3):
    {reset}
    for x, y in loader:
        losses.append(weigh(model(x), y).item() * len(x))
    {use}
"""


def test_a_list_that_is_made_before_all_epochs_and_summed_as_one_pass_is_listed():
    (one,) = found(LISTED.format(reset="pass", use="print(sum(losses) / len(data))"))
    assert (one.kind, one.name, one.write.lineno, one.begun.lineno) == ("listed", "losses", 6, 2)


@pytest.mark.parametrize(
    ("reset", "use"),
    [
        ("losses = []", "print(sum(losses) / len(data))"),
        ("losses.clear()", "print(sum(losses) / len(data))"),
        ("del losses[:]", "print(sum(losses) / len(data))"),
        ("losses[:] = []", "print(sum(losses) / len(data))"),
        ("pass", "print(sum(losses) / len(losses))"),
        ("pass", "print(sum(losses) / (epoch + 1))"),
        ("seen += len(data)", "print(sum(losses) / seen)"),
        ("pass", "print(sum(losses[-5:]) / 5)"),
        ("pass", "torch.save(losses, 'losses')"),
    ],
)
def test_a_list_of_one_pass_or_a_history_of_all_is_not(reset, use):
    assert not found(LISTED.format(reset=reset, use=use))
