"""Is the model evaluated in training mode?"""

from __future__ import annotations

from debugtracer.checks.model.train_mode_eval import TrainModeEval
from debugtracer.trace.facts.module_modes import ModuleModes
from tests.checks.facts_at import judged, line, ref


def test_calls_without_a_graph_in_training_mode_are_a_note():
    (finding,) = judged(
        TrainModeEval(), [ModuleModes(ref=ref(39), root="Net", total=4, training=4, silent=3, frame=line(63))]
    )
    assert finding.message == (
        "step 39, rank 0: Net was called 3 times without a graph with 4 dropout or batch-norm layers in training mode "
        "(line 63); "
        "expected evaluation mode. Call model.eval() before the evaluation."
    )
    assert finding.severity == "note"


def test_modes_at_a_backward_are_no_matter_of_it():
    assert not judged(TrainModeEval(), [ModuleModes(ref=ref(39), root="Net", total=4, training=4)])


def test_an_evaluation_in_training_mode_is_a_warning():
    fact = ModuleModes(ref=ref(39), root="Net", total=4, training=4, silent=3, evaluation=True, frame=line(63))
    (finding,) = judged(TrainModeEval(), [fact])
    assert (finding.severity, finding.kind) == ("warning", "train_eval_mode")
