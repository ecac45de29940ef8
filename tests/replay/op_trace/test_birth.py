"""From a bad loss back to the first event, and the way between."""

from __future__ import annotations

import torch
from torch import nn

from debugtracer.replay.op_trace.birth import MOST_LINKS, deliberate, find_birth
from debugtracer.replay.op_trace.op_tracer import OpTracer
from debugtracer.replay.op_trace.op_tracker import OpTracker
from tests.replay.tracing import trace


def traced(step, **inputs):
    ledger = OpTracker()
    tracer = OpTracer(observers=[ledger])
    for name, tensor in inputs.items():
        tracer.label(tensor, name)
    with tracer:
        target = step()
    return ledger, target


def test_finite_targets_have_no_birth_even_when_something_else_is_bad():
    def step():
        torch.log(torch.tensor([-1.0]))
        return torch.ones(2).sum()

    ledger, loss = traced(step)
    assert find_birth(ledger, [("loss", loss)]) is None


def test_the_event_that_reaches_the_target_is_blamed_not_an_earlier_one():
    def step():
        torch.sqrt(torch.tensor([-4.0]))
        return torch.log(torch.tensor([1.0, -1.0])).sum()

    ledger, loss = traced(step)
    birth = find_birth(ledger, [("loss", loss)])
    assert birth is not None and birth.op == "aten::log" and birth.coordinates == ((1,),)


def test_of_two_events_the_first_is_the_birth():
    def step():
        a = torch.log(torch.tensor([-1.0, 1.0]))
        b = torch.sqrt(torch.tensor([1.0, -1.0]))
        return (b + a).sum()

    ledger, loss = traced(step)
    assert find_birth(ledger, [("loss", loss)]).op == "aten::log"


def test_a_bad_input_is_named_and_located_at_its_first_reader():
    x = torch.tensor([[1.0], [float("nan")], [2.0]])
    ledger, loss = traced(lambda: (x * 2).sum(), **{"batch[0]": x})
    birth = find_birth(ledger, [("loss", loss)], batch_rows=3)
    assert (birth.op, birth.direction, birth.kind, birth.input_name, birth.rows) == (
        None,
        "input",
        "input",
        "batch[0]",
        (1,),
    )
    assert birth.frame is not None and birth.frame.file == __file__


def test_a_bad_target_that_no_op_wrote_is_its_own_input():
    bad = torch.tensor([float("inf")])
    birth = find_birth(traced(lambda: None)[0], [("parameter w", bad)])
    assert (birth.kind, birth.input_name, birth.chain) == ("input", "parameter w", ())


def test_the_way_starts_at_the_birth_ends_at_the_target_and_is_short():
    def step():
        x = torch.log(torch.tensor([-1.0]))
        for _ in range(3):
            x = torch.sin(x)
        return x.sum()

    ledger, loss = traced(step)
    chain = find_birth(ledger, [("loss", loss)]).chain
    assert (chain[0].op, chain[-1].op, chain[0].nan, chain[0].numel) == ("aten::log", "aten::sum", 1, 1)
    assert [link.op for link in chain] == ["aten::log", "aten::sin", "aten::sum"]  # one link a line
    assert len(chain) <= MOST_LINKS


def test_a_mask_in_the_target_is_on_purpose_and_a_log_of_zero_is_not():
    x = torch.tensor([0.0, 0.3])
    for step, expected in ((lambda: x.masked_fill(x == 0, -float("inf")), True), (lambda: x.log(), False)):
        ledger, out = traced(step)
        assert deliberate(ledger, [("output", out)]) is expected


def test_a_mask_that_a_sum_took_for_a_number_blames_the_sum():
    def step():
        scores = torch.zeros(2, 3).masked_fill(torch.tensor([True, False, False]), -float("inf"))
        return scores.mean()

    ledger, loss = traced(step)
    assert find_birth(ledger, [("loss", loss)]).op == "aten::mean"


def test_a_backward_birth_has_both_ops_and_the_line_of_the_forward():
    x = nn.Parameter(torch.tensor([0.0, 1.0]))
    birth = trace(lambda: torch.sqrt(x).sum() * 0.0, x=x)
    assert (birth.op, birth.direction) == ("aten::sqrt", "backward")
    assert birth.backward_op is not None and "torch.sqrt" in birth.frame.code


def test_the_line_that_filled_a_mask_is_known_at_the_softmax_that_has_nothing_left():
    def step():
        scores = torch.zeros(2, 3)
        hidden = torch.tensor([[True, True, True], [False, True, False]])
        filled = scores.masked_fill(hidden, -torch.inf)
        scaled = filled * 2
        return torch.softmax(scaled, -1).sum()

    ledger, loss = traced(step)
    birth = find_birth(ledger, [("loss", loss)])
    assert birth.op == "aten::_softmax" and "masked_fill" in birth.infinity.code

    def domain():
        return torch.sqrt(torch.tensor([-4.0])).sum()

    ledger, loss = traced(domain)
    assert find_birth(ledger, [("loss", loss)]).infinity is None


def test_a_number_that_is_not_finite_is_told_where_all_that_the_op_reads_is():
    weight = float("inf")

    def step():
        return (torch.ones(3).mean() * weight + 1) * 2

    ledger, loss = traced(step)
    birth = find_birth(ledger, [("loss", loss)])
    assert birth is not None
    assert (birth.op, birth.number, birth.frame.code) == (
        "aten::mul",
        "Infinity",
        "return (torch.ones(3).mean() * weight + 1) * 2",
    )


def test_behind_a_bad_tensor_the_number_is_not_to_blame():
    weight = float("nan")
    ledger, loss = traced(lambda: (torch.log(torch.tensor([-1.0])) * weight).sum())
    birth = find_birth(ledger, [("loss", loss)])
    assert birth is not None
    assert (birth.op, birth.number) == ("aten::log", None)
