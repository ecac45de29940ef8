"""The reverse order of the last steps; on real steps it is tried in tests/replay/trials/test_history_trials.py."""

from debugtracer.interventions.intervention import interventions
from debugtracer.interventions.rerun import Rerun


def test_it_needs_steps_before():
    turned = interventions()["reordered-batches"]
    assert turned.refuses(Rerun("nan_loss", [], [], [])) == "the steps before are not kept"
    assert (
        turned.refuses(Rerun("nan_loss", [], [], [], replays_past=True, history=1)) == "the steps before are not kept"
    )
    assert turned.refuses(Rerun("nan_loss", [], [], [], replays_past=True, history=2)) == ""
    assert turned.refuses(Rerun("nan_loss", [], [], [], history=2)) == "the steps before are not kept"


def test_it_asks_for_the_reverse_order():
    rerun = Rerun("nan_loss", [], [], [], replays_past=True, history=7)
    assert interventions()["reordered-batches"].apply(rerun) == "the last 8 steps in the reverse order"
    assert rerun.backwards_in_time
