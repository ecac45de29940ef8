"""Where ranks stood when the run ended, read from files of a run."""

from __future__ import annotations

import pytest

from debugtracer.diagnosis.judging.rank_end import standing, user_line, with_rank_end
from debugtracer.testing import a_trace, a_window
from debugtracer.trace.events import Acted, RankEnded, RankStarted
from debugtracer.trace.exchange import LAST_EXCHANGES, Exchange, as_text
from debugtracer.trace.facts.standing import Standing
from debugtracer.trace.last_words import LAST_WORDS, Entry, section
from debugtracer.trace.store.schema import rank_folder
from tests.trace.test_last_words import BARRIER, DUMP

STARTED = RankStarted(at=1.0, rank=1, pid=2, world_size=2)
ENDED = RankEnded(at=2.0, rank=1, steps=6, iterations=6)


@pytest.fixture
def run(tmp_path):
    return a_trace(tmp_path, ranks=2)


@pytest.fixture
def user(tmp_path):
    script = tmp_path / "train.py"
    script.write_text("\n" * 28 + "dist.barrier()\n")
    return Entry(str(script), 29, "main")


def says(run, text):
    (rank_folder(run, 1) / LAST_WORDS).write_text(text)


def test_a_rank_that_waits_is_named_with_its_collective_and_line(run, user):
    says(run, section("waits", 6, (*BARRIER, user)))
    found = standing(run, 1, [STARTED])
    assert (found.how, found.updates, found.call, found.frame.line, found.frame.code) == (
        "waits",
        6,
        "barrier",
        29,
        "dist.barrier()",
    )
    assert (found.ref.rank, found.ref.step) == (1, 6)


def test_what_a_signal_handler_wrote_counts_as_many_updates_as_the_events_do(run):
    says(run, DUMP)
    heartbeat = RankEnded(at=2.0, rank=1, steps=4, iterations=4, final=False)
    found = standing(run, 1, [STARTED, heartbeat])
    assert (found.how, found.updates, found.call) == ("killed", 4, "backward")


def test_a_rank_that_ended_has_only_its_count_whatever_it_waited_for_before(run, user):
    says(run, section("waits", 3, (*BARRIER, user)))
    assert standing(run, 1, [STARTED, ENDED]) == Standing(
        ref=standing(run, 1, [STARTED, ENDED]).ref, how="ended", updates=6
    )


def test_a_rank_that_crashed_says_so_although_it_ended(run, user):
    says(run, section("crashed", 6, (user,), "ValueError: no"))
    found = standing(run, 1, [STARTED, ENDED])
    assert (found.how, found.message, found.call) == ("crashed", "ValueError: no", "")


def test_a_rank_that_we_stopped_is_told_apart(run):
    stop = Acted(at=2.0, rank=1, action="stop", iteration=5, step=5, reason="a verdict")
    assert standing(run, 1, [STARTED, stop, ENDED]).how == "stopped"


def test_a_process_alone_and_one_killed_without_a_word_say_nothing(run):
    assert standing(run, 1, [RankStarted(at=1.0, rank=1, pid=2, world_size=1), ENDED]) is None
    assert standing(run, 1, [STARTED]) is None
    window = a_window()
    assert with_rank_end(window, run, []) is window


def test_no_line_of_the_user_is_no_line():
    assert user_line(BARRIER) is None


def test_the_last_exchanges_of_a_rank_are_read(run, user):
    call = Exchange(3, "all_to_all_single", (8, 8), (8, 8), (0, 1), "train.py", 19)
    says(run, section("waits", 6, (*BARRIER, user)))
    assert standing(run, 1, [STARTED]).exchanges == ()
    (rank_folder(run, 1) / LAST_EXCHANGES).write_text(as_text([call]) + "\0")
    assert standing(run, 1, [STARTED]).exchanges == (call,)
