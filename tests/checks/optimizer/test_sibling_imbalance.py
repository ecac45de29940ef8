"""One of several like matrices that moves far more than the others."""

from __future__ import annotations

from debugtracer.checks.optimizer.sibling_imbalance import SiblingImbalance, families_of
from debugtracer.trace.facts.health import Health
from debugtracer.trace.step import StepRef
from tests.checks.test_snapshots import an_update, judged
from tests.trace.facts.test_health import a_row

BLOCKS = [f"blocks.{i}.up.weight" for i in range(4)]


def look(step, names=tuple(BLOCKS), times=22.0, begun=10.0, **more):
    rows = [
        an_update(name, update_l2=0.01 * (times if name == names[-1] else 1.0), log_v=-5.0, **more) for name in names
    ]
    weights = tuple(a_row(p.name, shape=(64, 64), l2=10.0 if step else begun) for p in rows)
    return Health(ref=StepRef(iteration=step, step=step), tensors=weights, params=tuple(rows))


def run(*steps, **more):
    return judged(SiblingImbalance(), *(look(step, **more) for step in steps or (0, 100, 200, 300)))


def test_the_same_matrix_of_one_block_that_moves_far_more_is_a_note_once():
    (finding,) = run()
    assert (finding.severity, finding.step, finding.place.param) == ("note", 100, "blocks.3.up.weight")
    assert finding.message == (
        "step 100, rank 0: the step changes blocks.3.up.weight by 0.022 times its norm, 22 times as much as the median "
        "of its 4 siblings (Adam, lr 0.001); "
        "expected below 10 times. A loss spike may follow in tens of steps: initialise it like them."
    )


def test_at_the_threshold():
    assert run(times=10.1)
    assert run(times=9.9) == []


def test_query_key_and_value_of_one_attention_are_siblings():
    assert run(names=("attn.q_proj.weight", "attn.v_proj.weight", "attn.k_proj.weight"))
    assert run(names=("attn.q_proj.weight", "attn.out.weight", "attn.k_proj.weight")) == []
    assert list(families_of("layers.1.attn.to_q.weight")) == [
        ("blocks", "layers.*.attn.to_q.weight"),
        ("attention", "layers.1.attn.weight"),
    ]
    assert list(families_of("head.weight")) == []


def test_first_steps_one_look_and_two_siblings_say_nothing():
    assert run(0, 1, 2, 100) == []
    assert run(names=tuple(BLOCKS[:2])) == []


def test_weights_that_began_near_zero_and_other_optimizers_are_left_alone():
    assert run(begun=0.5) == []
    rows = look(100).params
    plain = [
        Health(
            ref=look(s).ref,
            tensors=look(s).tensors,
            params=tuple(an_update(p.name, update_l2=p.update_l2) for p in rows),
        )
        for s in (100, 200)
    ]
    assert judged(SiblingImbalance(), *plain) == []


def test_layerwise_rates_are_no_imbalance():
    def layered(step):
        rows = tuple(an_update(n, update_l2=0.01 * 4**i, lr=1e-3 * 4**i, log_v=-5.0) for i, n in enumerate(BLOCKS))
        return Health(ref=look(step).ref, tensors=look(step).tensors, params=rows)

    assert judged(SiblingImbalance(), layered(100), layered(200)) == []
