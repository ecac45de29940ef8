from __future__ import annotations

from debugtracer.checks.device.replica_drift import ReplicaDrift
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.crash import UNFINISHED
from tests.checks.crashes import a_crash
from tests.checks.device.replicas import a_replica
from tests.checks.windows import told

CALL = Frame("/home/someone/train.py", 28, "worker", "loss = f(model.module(x), y)")


def found(mine, theirs):
    return list(ReplicaDrift().judge_ranks({0: told(*mine, rank=0), 1: told(*theirs, rank=1)}))


def test_a_call_round_the_wrapper_is_named():
    (one,) = found([a_replica(bypassed=CALL)], [a_replica(rank=1, grads=(3, 9), grad_l2=1.2, bypassed=CALL)])
    assert (one.severity, one.kind, one.exact, one.place.param, one.place.frame) == (
        "error",
        "ddp_replica_drift",
        True,
        "0.bias",
        CALL,
    )
    assert one.message == (
        "step 0, rank 0: 0.bias differs between ranks 0 and 1 in its gradient at the update (1 of 2 parameters): "
        "train.py:28 calls the module inside "
        "DistributedDataParallel, which averages nothing; expected equal replicas. Call the wrapper instead."
    )


def test_weights_set_on_one_rank():
    (one,) = found([a_replica()], [a_replica(rank=1, before=(1, 5), param_l2=2.5)])
    assert (
        "0.bias differs between ranks 0 and 1 before the update (1 of 2 parameters): the weights were set on one rank "
        "after"
    ) in one.message


def test_another_learning_rate_on_one_rank():
    built = Frame("/home/someone/train.py", 12)
    (one,) = found(
        [a_replica(), a_replica(1, built=built)],
        [a_replica(rank=1), a_replica(1, 1, before=(8, 9), param_l2=2.1, lr=0.2)],
    )
    assert (one.step, one.place.frame) == (1, built)
    assert "the learning rate is 0.1 on one and 0.2 on the other" in one.message


def test_equal_replicas_are_silent():
    assert found([a_replica(n) for n in range(3)], [a_replica(n, 1) for n in range(3)]) == []


def test_rounding_is_a_note():
    (one,) = found([a_replica()], [a_replica(rank=1, grads=(3, 9), grad_l2=1.0 + 1e-9)])
    assert one.severity == "note"


def test_clipped_gradients_have_one_norm_and_the_line_says_why_they_differ():
    clipped = {"grads": (3, 9), "grad_l2": 1.0}
    (one,) = found([a_replica(bypassed=CALL)], [a_replica(rank=1, bypassed=CALL, **clipped)])
    assert one.severity == "error"
    assert found([a_replica(replaced=2)], [a_replica(rank=1, replaced=2, **clipped)])[0].severity == "error"


def test_what_may_differ_is_left_out():
    other = {"grads": (3, 9), "grad_l2": 2.0}
    assert found([a_replica(hooked=True)], [a_replica(rank=1, hooked=True, **other)]) == []
    assert found([a_replica(group=(0,))], [a_replica(rank=1, group=(1,), **other)]) == []
    assert found([a_replica(bad=True)], [a_replica(rank=1, **other)]) == []
    assert found([a_replica()], [a_replica(rank=1, names=("a", "b"), **other)]) == []
    assert list(ReplicaDrift().judge(told(a_replica()))) == []


def test_weights_loaded_on_one_rank_after_the_wrapping():
    load = Frame("/home/someone/train.py", 38, "worker", "model.module.load_state_dict(kept)")
    (one,) = found([a_replica(loaded=load)], [a_replica(rank=1, before=(1, 5), param_l2=2.5)])
    assert ": train.py:38 loads weights on one rank after DistributedDataParallel had made them equal" in one.message
    assert one.place.frame == load
    both = found([a_replica(loaded=load)], [a_replica(rank=1, before=(1, 5), param_l2=2.5, loaded=load)])
    assert both[0].place.frame is None


def test_what_a_failed_reduction_left_apart_is_told_by_that():
    crash = a_crash(f"{UNFINISHED} ...")
    apart = a_replica(step=4), a_replica(step=4, rank=1, grads=(3, 9), grad_l2=1.2)
    assert crash.ref.step == 5
    assert found([apart[0], crash], [apart[1]]) == []
    early = a_replica(step=2), a_replica(step=2, rank=1, grads=(3, 9), grad_l2=1.2)
    assert len(found([early[0], crash], [early[1]])) == 1


def test_parameters_that_are_new_since_the_wrapping_are_named():
    wrapped = Frame("/home/someone/train.py", 23, "worker", "model = DistributedDataParallel(net)")
    mine = a_replica(replaced=2, frame=wrapped)
    (one,) = found([mine], [a_replica(rank=1, grads=(5, 9), grad_l2=1.2, replaced=2, frame=wrapped)])
    assert one.message == (
        "step 0, rank 0: 0.weight differs between ranks 0 and 1 in its gradient at the update (2 of 2 parameters): 2 "
        "of them are new since DistributedDataParallel hooked the parameters; expected equal replicas. Convert and "
        "move the model before DistributedDataParallel(model), or wrap it anew."
    )
    assert one.place.frame == wrapped
