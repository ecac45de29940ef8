"""The sentences about a run without an incident, word for word."""

from __future__ import annotations

from typing import Any

import pytest

from debugtracer.views.words import run_wording


def report(**log: Any) -> dict[str, Any]:
    """What `quiet` reads of a report."""
    run: dict[str, Any] = {"id": "r1", "steps": 1, "iterations": 2, "world_size": 1}
    return {"run": run | log}


@pytest.mark.parametrize(
    ("iterations", "crashed", "text"),
    [
        (
            2,
            False,
            "debug-tracer: run r1, 1 step (2 backward calls) on 1 rank: every loss, gradient and update was finite",
        ),
        (
            2,
            True,
            (
                "debug-tracer: run r1 crashed after 1 step (2 backward calls) on 1 rank; no non-finite value was seen "
                "before"
            ),
        ),
        (
            0,
            False,
            "debug-tracer: run r1 made no backward call that was seen; `debug-tracer doctor` says what was hooked",
        ),
    ],
)
def test_a_run_without_a_finding(iterations: int, crashed: bool, text: str) -> None:
    assert run_wording.quiet(report(iterations=iterations), crashed, []) == text


@pytest.mark.parametrize(
    ("own", "text"),
    [
        (1, "2 backward calls and 1 update written by the loop itself on 1 rank: every loss, gradient and update was"),
        (0, "2 backward calls and no update of the weights on 1 rank: every loss and gradient was"),
    ],
)
def test_a_run_without_an_optimizer_tells_what_its_loop_wrote(own: int, text: str) -> None:
    assert run_wording.quiet(report(own_updates=own), False, []) == f"debug-tracer: run r1, {text} finite"


@pytest.mark.parametrize(
    ("bad", "short", "text"),
    [
        (None, (), "every logged number is finite"),
        ("loss at step 3", (), "not every logged number is finite (loss at step 3)"),
        (None, ("optimizer/loss-spike",), "every logged number is finite; too few rows for loss-spike"),
    ],
)
def test_a_log_in_which_nothing_was_found(bad: str | None, short: tuple[str, ...], text: str) -> None:
    assert run_wording.quiet_log({"first_bad": bad, "too_short_for": short}) == text


def test_a_layer_that_fired_is_red_and_one_that_was_not_measured_is_dim() -> None:
    rows = run_wording.layers(
        {"layers": {"data": "silent", "model": "fired: 2 findings", "device": "not measurable: no GPU"}}
    )
    assert [(name, style) for name, _, style in rows] == [("data", ""), ("model", "bold red"), ("device", "dim")]


def test_what_was_not_measured_costs_no_line() -> None:
    assert run_wording.cost({"overhead": {"own_time_share": 0.0, "host_syncs_per_step": 0.0}}) == []
    measured = {"overhead": {"own_time_share": 0.012, "host_syncs_per_step": 1.0}}
    rows = run_wording.cost({"run": {}} | measured)
    assert rows == [("cost", "1.2% of the run's time was ours, 1 host syncs per step", "dim")]


def test_what_rested_is_said_with_what_it_loses() -> None:
    rows = run_wording.cost(
        {
            "run": {"capture": {"close looks": 0.5, "the tape": 0.25}},
            "overhead": {"own_time_share": 0.03, "host_syncs_per_step": 0.0},
        }
    )
    assert rows[1][1] == (
        "to stay under the promised cost, of the steps rested: close looks in 50%, the tape in 25%; a bad step without "
        "its tape can be executed again from its batch alone; --cost 1 keeps all"
    )
    assert run_wording.resting({"observers": 0.9}) == (
        "to stay under the promised cost, of the steps rested: observers in 90%; without observers a step is asked for "
        "its loss and gradient norm alone; --cost 1 keeps all"
    )
    assert "tape" not in run_wording.resting({"close looks": 0.5})
    assert "no forward can be executed again" in run_wording.resting({"root calls and batches": 0.5})
    assert "told by the loss after it" in run_wording.resting({"the norm of the gradients": 0.5})
    assert "up to 17 later; --cost 1" in run_wording.resting({"whole steps": 0.5})


@pytest.mark.parametrize(
    ("part", "read"), [("the tape", False), ("the norm of the gradients", True), ("whole steps", True)]
)
def test_where_some_numbers_were_not_read_it_is_said(part: str, read: bool) -> None:
    rested = report()
    rested["run"]["capture"] = {part: 0.5}
    assert run_wording.quiet(rested, False, []).endswith(f"gradient and update{' that was read' * read} was finite")


@pytest.mark.parametrize(("code", "killed"), [(137, 9), (143, 15), (130, None), (3, None), (0, None), (None, None)])
def test_a_killed_run_is_told_as_that(code: int | None, killed: int | None):
    told = run_wording.quiet(report(exit_code=code), False, [])
    assert (f"run r1 was killed by signal {killed} after 1 step (2 backward calls) on 1 rank" in told) is bool(killed)
    assert "every loss, gradient and update was finite" in told or killed
