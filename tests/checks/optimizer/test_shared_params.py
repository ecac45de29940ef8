"""Two optimizers on one gradient."""

from __future__ import annotations

from debugtracer.checks.optimizer.shared_params import SharedParams
from tests.checks.optimizer.seen import found, line, order


def test_all_parameters_of_an_optimizer_applied_before():
    (finding,) = found(SharedParams(), [order(n, shared=4) for n in (1, 2, 3)])
    assert finding.message == (
        "step 1, rank 0: SGD (train.py:5) applies the gradients of 4 of its 4 parameters that another optimizer has "
        "applied already; expected each gradient to "
        "be used once. Give each parameter to one optimizer."
    )
    assert (finding.severity, finding.place.frame) == ("warning", line(5))


def test_a_shared_encoder_is_a_note_and_one_update_says_nothing():
    assert [f.severity for f in found(SharedParams(), [order(n, shared=2) for n in (1, 2, 3)])] == ["note"]
    assert found(SharedParams(), [order(0, shared=4), order(1), order(2)]) == []
