"""The gradient on its way to the first layers."""

from __future__ import annotations

from debugtracer.checks.model.vanishing_gradient import VanishingGradient
from debugtracer.trace.birth import Frame
from tests.checks.test_snapshots import a_snapshot, an_activation, an_update, judged


def profile(*pulls):
    return tuple(an_update(f"layers.{i}.weight", grad_l2=10.0 * p) for i, p in enumerate(pulls))


DYING, ALIVE = profile(1e-9, 1e-7, 1e-5, 1e-3, 1e-2), profile(1e-3, 2e-3, 1e-3, 4e-3, 1e-2)


def test_a_gradient_that_falls_layer_by_layer_is_told_once_it_was_seen_twice_after_the_first_update():
    (finding,) = judged(VanishingGradient(), *(a_snapshot(step, params=DYING) for step in (0, 1, 2)))
    assert (finding.severity, finding.kind, finding.place.param, finding.step) == (
        "warning",
        "vanishing_gradients",
        "layers.0.weight",
        1,
    )
    assert finding.message == (
        "step 1, rank 0: the gradient of layers.0.weight is 1e-09 of its weight and that of layers.4.weight 0.01, "
        "1e+07 times more, falling layer by layer "
        "through 5 matrices; expected within a factor of 1e+04. Add normalisation or residual connections."
    )


def test_a_head_that_starts_at_zero_gives_no_gradient_at_step_0_only():
    assert (
        judged(
            VanishingGradient(),
            a_snapshot(0, params=profile(0, 0, 0, 0, 1e-2)),
            a_snapshot(1, params=ALIVE),
            a_snapshot(2, params=ALIVE),
        )
        == []
    )


def test_a_converged_run_and_a_small_first_layer_alone_are_left_alone():
    snapshots = [a_snapshot(step, params=DYING) for step in (1, 2)]
    assert judged(VanishingGradient(), *snapshots, loss=(2.0, 0.01)) == []
    embedding = profile(1e-9, 1e-2, 2e-2, 1e-2, 5e-3, 1e-2)
    assert judged(VanishingGradient(), *(a_snapshot(step, params=embedding) for step in (1, 2))) == []
    assert judged(VanishingGradient(), *(a_snapshot(step, params=DYING[2:]) for step in (1, 2))) == []


def test_a_last_layer_that_began_at_zero_and_a_table_are_left_out():
    begun = tuple(an_update(p.name, grad_l2=1.0, weight_l2=0.0 if p is ALIVE[-1] else 10.0) for p in ALIVE)
    grown = (*ALIVE[:-1], *profile(0, 0, 0, 0, 1e3)[4:])
    snapshots = [a_snapshot(1, params=grown), a_snapshot(2, params=grown)]
    assert len(judged(VanishingGradient(), a_snapshot(0, params=ALIVE), *snapshots)) == 1
    assert judged(VanishingGradient(), a_snapshot(0, params=begun), *snapshots) == []
    table = an_activation("layers.0", "Embedding")
    six = profile(1e-9, 1e-3, 2e-3, 1e-3, 4e-3, 1e-2)
    assert judged(VanishingGradient(), *(a_snapshot(step, table, params=six) for step in (0, 1, 2))) == []


def test_the_line_of_the_function_that_flattens_is_the_place():
    line = Frame(file="train.py", line=21, function="forward", code="x = torch.sigmoid(layer(x))")
    sigmoid = an_activation("torch.sigmoid", "sigmoid", frame=line)
    (finding,) = judged(VanishingGradient(), *(a_snapshot(step, sigmoid, params=DYING) for step in (0, 1, 2)))
    assert finding.place.frame == line


def test_of_a_layer_that_flattens_it_is_the_line_that_chooses_it():
    called, chosen = (Frame(file="train.py", line=n, function="<module>", code="") for n in (30, 10))
    inside = an_activation("1:sigmoid", "sigmoid", frame=called)
    layer = an_activation("1", "Sigmoid", frame=chosen)
    (finding,) = judged(VanishingGradient(), *(a_snapshot(step, inside, layer, params=DYING) for step in (0, 1, 2)))
    assert finding.place.frame == chosen
