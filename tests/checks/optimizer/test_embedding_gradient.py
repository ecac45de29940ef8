"""The share of an embedding in the gradient."""

from __future__ import annotations

from debugtracer.checks.optimizer.embedding_gradient import EmbeddingGradient, share_of
from tests.checks.optimizer.jumps import after_jumps
from tests.checks.test_snapshots import a_snapshot, an_activation, an_update
from tests.trace.facts.test_health import a_row


def at(step, embedding, function="Embedding"):
    rows = (a_row("emb.weight", role="gradient", l2=embedding), a_row("out.weight", role="gradient", l2=1.0))
    return a_snapshot(step, *rows, an_activation("emb", function), params=(an_update("emb.weight"),))


def test_a_share_far_above_its_usual_is_a_note():
    usual = [at(step, 0.2) for step in (0, 1, 2, 100)]
    (finding,) = after_jumps(EmbeddingGradient(), [*usual, at(200, 9.0)], {204})
    assert (finding.severity, finding.step, finding.place.param) == ("note", 200, "emb.weight")
    assert finding.message == (
        "step 200, rank 0: emb.weight has 99% of the gradient norm, 5.1 times its usual share; expected below 3 times. "
        "The loss jumped at step 204: shrink its gradient."
    )
    assert after_jumps(EmbeddingGradient(), [*usual, at(200, 9.0)], {230}) == []


def test_a_usual_share_a_short_history_and_other_layers_are_left_alone():
    assert after_jumps(EmbeddingGradient(), [at(step, 9.0) for step in range(100, 106)], {106}) == []
    assert after_jumps(EmbeddingGradient(), [at(99, 0.2), at(100, 9.0)], {101}) == []
    others = [at(step, 0.2, "Linear") for step in range(5)]
    assert after_jumps(EmbeddingGradient(), [*others, at(100, 9.0, "Linear")], {101}) == []
    assert share_of(at(0, 0.0), "missing") is None
