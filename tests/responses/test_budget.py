"""Counters of what was done: rows of bad steps, shares of updates, roll-backs."""

from __future__ import annotations

from debugtracer.responses.budget import LAST, LEAST, PER, ROLL_BACKS, ROW, WITHIN, Budget


def test_a_row_of_bad_steps_ends_the_skipping() -> None:
    budget = Budget()
    for step in range(ROW):
        assert budget.refuses_skip(step) == ""
        budget.saw_bad(step, step)
    assert budget.refuses_skip(ROW) == "3 bad steps in a row: leaving updates out has not helped"


def test_a_good_step_between_begins_a_new_row() -> None:
    budget = Budget()
    for step in range(0, 20, 2):
        budget.saw_bad(step, step)
    assert budget.row == 1


def test_two_optimizers_of_one_backward_are_one_bad_step() -> None:
    budget = Budget()
    for step in range(4):
        budget.saw_bad(step, step // 2)
    assert budget.row == 2


def test_a_short_run_may_leave_out_a_few_and_a_long_one_its_share() -> None:
    budget = Budget()
    assert [budget.allowed(step) for step in (0, 1000, 5999, 9999, 10**6)] == [LEAST, LEAST, 30, 50, 50]
    for step in range(0, 2 * LEAST, 2):
        assert budget.refuses_skip(step) == ""
        budget.skipped(step)
    assert "20 of the last 41 updates were left out already" in budget.refuses_skip(2 * LEAST)


def test_skips_of_long_ago_do_not_count() -> None:
    budget = Budget()
    for step in range(50):
        budget.skipped(step)
    assert budget.refuses_skip(9000)
    assert budget.refuses_skip(LAST + 49) == ""


def test_three_roll_backs_in_a_thousand_steps_are_enough() -> None:
    budget = Budget()
    for number in range(ROLL_BACKS):
        assert budget.refuses_roll_back(number * 100) == ""
        budget.rolled_back(number * 100)
    assert "3 times in the last 1000 steps" in budget.refuses_roll_back(300)
    assert budget.refuses_roll_back(PER + 1) == ""


def test_weights_that_go_bad_again_soon_after_two_are_a_cause_that_stays() -> None:
    budget = Budget()
    budget.rolled_back(100)
    assert budget.refuses_roll_back(110) == ""
    budget.rolled_back(110)
    assert "bad again within 50 steps of a roll-back, 2 times" in budget.refuses_roll_back(120)
    assert budget.refuses_roll_back(110 + WITHIN) == ""


def test_the_same_parent_is_put_back_once() -> None:
    budget = Budget()
    budget.rolled_back(40, 25)
    assert "state of step 25 was put back before" in budget.refuses_roll_back(300, 25)
    assert budget.refuses_roll_back(300, 275) == "" == budget.refuses_roll_back(300)
    budget.forgive()
    assert budget.refuses_roll_back(300, 25) == ""


def test_what_did_not_help_is_not_taken_again_for_a_while() -> None:
    budget = Budget()
    budget.took("full-precision", 10)
    assert budget.refuses_again("full-precision", 20) == ""
    assert budget.did_not_help("full-precision", 15) == "5 steps"
    assert "had not helped at step 15" in budget.refuses_again("full-precision", 20)
    assert budget.refuses_again("full-precision", 15 + PER) == ""
    for step in (2000, 2100, 2200):
        budget.took("full-precision", step)
    assert "3 times in the last 1000 steps" in budget.refuses_again("full-precision", 2300)


def test_data_that_are_bad_from_the_start_are_not_dropped_for_long() -> None:
    budget = Budget()
    budget.skipped(0)
    assert budget.refuses_drop(1) == ""
    budget.dropped(1)
    assert "no update was written yet" in budget.refuses_drop(1)
    assert budget.refuses_drop(2) == "", "an update was written since"
