"""Gradients cleared before their step."""

from __future__ import annotations

import msgspec

from debugtracer.checks.optimizer.zero_grad_misplaced import ZeroGradMisplaced
from debugtracer.trace.facts.wiring import OptimizerWiring, Wiring
from tests.checks.optimizer.seen import at, call, found, line, order

CALLS = (call("forward"), call("backward", 20, live=True), call("zero_grad", 21, live=True))


def test_it_names_the_misplaced_call():
    (finding,) = found(ZeroGradMisplaced(), [order(n, *CALLS, empty=True) for n in range(4)])
    assert finding.message == (
        "step 0, rank 0: zero_grad (train.py:21) is called between backward (train.py:20) and step, so SGD found no "
        "gradient in two updates running; "
        "expected zero_grad before backward or after step. Move it."
    )
    assert (finding.place.frame, finding.exact) == (line(21), True)


def test_a_guard_that_clears_now_and_then_is_healthy():
    guard = [order(n, *CALLS, empty=n % 2 == 0) for n in range(6)]
    assert found(ZeroGradMisplaced(), guard) == []


def test_the_other_order_and_a_foreign_backward_are_healthy():
    zero_first = (call("zero_grad"), call("backward", live=True))
    foreign = (call("backward", live=False), call("zero_grad"))
    assert found(ZeroGradMisplaced(), [order(n, *zero_first, empty=True) for n in range(3)]) == []
    assert found(ZeroGradMisplaced(), [order(n, *foreign, empty=True) for n in range(3)]) == []


def test_gradients_that_another_optimizer_has_used_are_not_thrown_away():
    twin = OptimizerWiring(kind="SGD", frame=line(5), held=4, strangers=0, shared=4)
    wiring = Wiring(ref=at(0), params=(), optimizers=(twin,))
    assert found(ZeroGradMisplaced(), [wiring, *(order(n, *CALLS, empty=True) for n in range(4))]) == []
    own = msgspec.structs.replace(wiring, optimizers=(msgspec.structs.replace(twin, shared=1),))
    assert len(found(ZeroGradMisplaced(), [own, *(order(n, *CALLS, empty=True) for n in range(4))])) == 1
