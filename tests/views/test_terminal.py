"""What a person reads at three in the morning."""

from __future__ import annotations

from pathlib import Path

import pytest

from debugtracer.diagnosis.proof.rank import rank
from debugtracer.testing import AT, TRAIN, a_birth, a_finding, a_masked_row, a_tensor, a_trace, an_incident, some_facts
from debugtracer.trace.birth import Frame
from debugtracer.trace.events import Acted, Crashed, Found, Judged
from debugtracer.trace.incident import ReplayFacts
from debugtracer.trace.store.reader import open_trace
from debugtracer.views.terminal import Terminal, render_verdict

RUN = Path("debug-tracer-runs/run-1")
INCIDENT = RUN / "incidents/step-000048-rank0"
SAMPLE = Path(__file__).parent / "masked_row.txt"


def shown(facts, **options):
    return render_verdict(facts, rank(facts), RUN, INCIDENT, **options)


def test_the_verdict_of_a_masked_row_word_for_word():
    assert shown(a_masked_row()) == SAMPLE.read_text()


@pytest.mark.parametrize("width", [80, 100])
def test_no_line_but_a_command_is_wider_than_the_terminal(width):
    for line in shown(a_masked_row(), width=width).splitlines():
        assert len(line) <= width or line.startswith("  debug-tracer ")


def test_colour_comes_only_when_asked_for():
    assert "\x1b[" not in shown(a_masked_row())
    assert "\x1b[" in shown(a_masked_row(), color=True)


def test_markup_of_the_users_code_is_text():
    text = shown(some_facts(a_birth("aten::log", a_tensor(0.0), code="x[bold] = [/red] log(p)[:link]")))
    assert "x[bold] = [/red] log(p)[:link]" in text


def test_a_bad_batch_shows_the_tensor_and_no_op():
    birth = a_birth(
        None, kind="input", direction="input", input_name="batch[0]", output=a_tensor(shape=(32, 6), nan=1), rows=(4,)
    )
    text = shown(some_facts(birth))
    assert "data_nonfinite, confirmed (confidence 0.97)" in text
    assert "tensor  batch[0] float32 [32, 6]: 1 of 192 NaN" in text
    assert "row 4 of the batch = dataset index 904" in text
    assert "aten::" not in text


def test_an_unknown_cause_says_which_replay_was_tried_and_what_was_refused():
    facts = some_facts(
        None,
        replay=ReplayFacts(
            mechanism="flight-record",
            reproduced=False,
            parity="not replayed: compiled step",
            refused=("tape: an opaque operator",),
        ),
    )
    text = " ".join(shown(facts).split())
    assert "the cause is unknown: replay (flight-record) did not show the fault (not replayed: compiled step)" in text
    assert "nothing was executed again; this is the flight record alone: not replayed: compiled step" in text
    assert "not used: tape: an opaque operator" in text


def test_a_run_of_several_ranks_names_the_rank():
    assert shown(some_facts(a_birth("aten::log", a_tensor(0.0)), rank=1, world_size=4)).startswith(
        "debug-tracer: the loss is not finite at step 48, rank 1 of 4\n"
    )


def test_a_healthy_run_is_one_line_and_the_layers(tmp_path):
    judged = Judged(at=AT, asked={"numerics/nan-loss": 49})
    text = Terminal().render(open_trace(a_trace(tmp_path, judged, exit_code=0, stopped=False)))
    assert text.splitlines()[0] == "debug-tracer: run run-1, 49 steps (49 backward calls) on 1 rank: every loss,"
    assert text.splitlines()[1] == "gradient and update was finite"
    assert "Layers\n  data       not measurable: no batch of a DataLoader was seen\n" in text
    assert "  numerics   silent (1 check asked)\n" in text
    assert text.endswith("  cost       1.0% of the run's time was ours, 1 host syncs per step\n")


def test_a_run_without_a_backward_call_is_said(tmp_path):
    text = Terminal().render(open_trace(a_trace(tmp_path, steps=0, exit_code=0, stopped=False)))
    assert text.startswith("debug-tracer: run run-1 made no backward call that was seen;")


def test_a_report_holds_verdict_findings_and_what_was_done(tmp_path):
    facts = a_masked_row()
    run = a_trace(
        tmp_path,
        an_incident(facts, rank(facts)),
        Found(at=AT, finding=a_finding()),
        Found(at=AT, finding=a_finding("data/range-extreme", "note", message="step 48, rank 0: batch[0] reaches 117")),
        Acted(at=AT + 6, action="stop", iteration=48, step=48, reason="mode dev stops at an error"),
    )
    text = Terminal().render(open_trace(run))
    assert text.startswith("debug-tracer: the loss is not finite at step 48, rank 0\n")
    assert "Further findings\n  note     data/range-extreme: step 48, rank 0: batch[0] reaches 117\n" in text
    assert "numerics/nan-loss" not in text  # the verdict is its answer
    assert "  stop    step 48, rank 0: mode dev stops at an error\n" in text
    assert f"{run}/incidents/step-000048-rank0\n" in text


def test_a_crash_of_the_program_is_shown_with_its_line(tmp_path):
    crash = Crashed(
        at=AT,
        error="ValueError",
        message="Expected more than 1 value per channel\nmore",
        iteration=50,
        step=50,
        frames=(Frame(file=TRAIN, line=34),),
    )
    text = " ".join(Terminal().render(open_trace(a_trace(tmp_path, crash, exit_code=1, stopped=False))).split())
    assert f"rank 0 ValueError: Expected more than 1 value per channel at {TRAIN}:34, step 50, backward call 50" in text


def test_a_torn_line_is_told_and_the_rest_is_shown(tmp_path):
    run = a_trace(tmp_path, exit_code=0, stopped=False)
    with (run / "rank=0" / "events.jsonl").open("a") as file:
        file.write('{"type": "no-such-event"}\n')
    assert "Skipped while reading\n" in Terminal().render(open_trace(run))
