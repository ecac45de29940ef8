"""What a person and a program read, word for word."""

from __future__ import annotations

import json
from pathlib import Path

from debugtracer.logs.chunks import Chunk
from debugtracer.logs.document import as_json, as_text
from debugtracer.logs.judge import judge
from debugtracer.logs.scan import Scan

LOG = """$ python train.py --lr 1e-3
step 0 loss 0.91
train.py:8: UserWarning: Error detected in LogBackward0. Traceback of forward call that caused the error:
  File "train.py", line 5, in loss_of
    return -(p * torch.log(p)).sum()
 (Triggered internally at python_anomaly_mode.cpp:122.)
Traceback (most recent call last):
  File "train.py", line 8, in <module>
    loss.backward()
RuntimeError: Function 'LogBackward0' returned nan values in its 0th output.
"""
TEXT = """debug-tracer: log domain (likely) in run.log
----------------------------------------------------------------------------------------------------
  what    anomaly mode: LogBackward0 returned NaN as gradient 0; the derivative of log is 1/x: it is
          infinite at 0, and 0 times that is NaN
          log_domain, likely (confidence 0.85), from the text alone: nothing was executed again, so
          nothing is confirmed
  where   train.py:5 in loss_of
              return -(p * torch.log(p)).sum()
          it showed at train.py:8  loss.backward()
          aten::log, backward, ran LogBackward0
  log     line 10 of 10

Why
  for      anomaly mode: LogBackward0 returned NaN as gradient 0; the derivative of log is 1/x: it
           is infinite at 0, and 0 times that is NaN
           anomaly mode: LogBackward0 returned NaN as gradient 0; the line calls log

What else it may be
  0.30  backward_nan_op: it too can make the gradient of log NaN
  0.24  zero_division: it too can make the gradient of log NaN

What to do
  1.  take the loss from logits (log_softmax, cross_entropy, binary_cross_entropy_with_logits), or
      clamp the argument: torch.log(p.clamp_min(1e-8))
  2.  for p * log(p): p * p.clamp_min(1e-8).log()

To be sure
  debug-tracer run python train.py --lr 1e-3
      stops at the bad step, executes it again and names the operator, the line and the sample
"""


def read(text: str, source: str = "run.log"):
    scan = Scan(source)
    scan.feed(Chunk(1, text.removesuffix("\n")))
    facts = scan.finish()
    return facts, judge(facts)


def test_the_text_word_for_word():
    assert as_text(*read(LOG), width=100) == TEXT


def test_the_json_has_the_verdict_of_the_contract_and_an_unknown_iteration_is_null():
    told = json.loads(as_json(*read(LOG)))
    assert told["schema"] == "debug-tracer.explain/1"
    assert told["next"] == "debug-tracer run python train.py --lr 1e-3"
    assert {
        key: told["verdict"][key]
        for key in (
            "class",
            "op",
            "direction",
            "backward_op",
            "file",
            "line",
            "symptom_line",
            "status",
            "iteration",
            "step",
        )
    } == {
        "class": "log_domain",
        "op": "aten::log",
        "direction": "backward",
        "backward_op": "LogBackward0",
        "file": "train.py",
        "line": 5,
        "symptom_line": 8,
        "status": "likely",
        "iteration": None,
        "step": 0,
    }
    assert told["candidates"][0]["log_line"] == 10


def test_the_sample_that_the_text_names_is_shown():
    assert "a sample of that batch whose label is 17" in as_text(*read("IndexError: Target 17 is out of bounds."))


def test_an_empty_log_a_healthy_one_and_an_unknown_exception_say_so():
    assert as_text(*read("\n\n")) == "debug-tracer: run.log is empty; expected the text log of a training run\n"
    healthy = " ".join(as_text(*read("step 0 loss 0.9\nstep 1 loss 0.8\n")).split())
    assert healthy.startswith(
        "debug-tracer: nothing in run.log speaks of a fault (2 lines, 2 loss values read, the last 0.8 at step 1 (log "
        "line 2)) To be sure"
    )
    crash = " ".join(
        as_text(
            *read(
                'Traceback (most recent call last):\n  File "a.py", '
                "line 3, in <module>\n    f()\nZeroDivisionError: division by zero"
            )
        ).split()
    )
    assert crash.startswith(
        "debug-tracer: run.log ends in ZeroDivisionError: division by zero at a.py:3; no cause of training failures is "
        "known"
    )


def test_nothing_of_the_log_reaches_the_terminal_as_markup(tmp_path: Path):
    facts, judged = read("IndexError: Target 3 is out of bounds. [bold]x[/bold]\x07")
    assert "\x07" not in as_text(facts, judged)
