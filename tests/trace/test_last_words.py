"""Last words are read as they were written, by us or by a signal handler."""

from __future__ import annotations

from debugtracer.trace.last_words import FORWARDS, Entry, last_words, section

TORCH = "/venv/lib/python3.11/site-packages/torch"
BARRIER = (
    Entry(f"{TORCH}/distributed/distributed_c10d.py", 5356, "barrier"),
    Entry(f"{TORCH}/distributed/c10d_logger.py", 83, "wrapper"),
)
USER = Entry("/home/a b/train.py", 29, "main")
DUMP = f"""Thread 0x00007f6d36f546c0 (most recent call first):
  File "/usr/lib/python3.11/threading.py", line 331 in wait

Current thread 0x00007f6d5fbceb80 (most recent call first):
  File "{TORCH}/autograd/graph.py", line 979 in _engine_run_backward
  File "/home/a b/train.py", line 21 in main
"""


def test_an_exception_is_read_back_and_comes_before_all_else():
    text = DUMP + section("crashed", 6, (*BARRIER, USER), "RuntimeError: Timed out\nwaiting")
    said = last_words(text)
    assert said == ("crashed", (*BARRIER, USER), 6, "RuntimeError: Timed out waiting")


def test_a_wait_counts_until_it_moves_on():
    waits = section("waits", 3, (*BARRIER, USER))
    assert last_words(waits) == ("waits", (*BARRIER, USER), 3, "")
    assert last_words(waits + section("moved", 3)) is None
    assert last_words("") is None


def test_a_signal_handler_shows_the_main_thread_of_its_first_dump():
    killed = last_words(section("waits", 3, (USER,)) + DUMP)
    assert (
        killed.how == "killed" and killed.stack[-1] == Entry("/home/a b/train.py", 21, "main") and killed.message == ""
    )
    aborted = last_words("Fatal Python error: Aborted\n\n" + DUMP + DUMP.replace("line 21", "line 99"))
    assert (aborted.message, aborted.stack[-1].line) == ("Aborted", 21)


def test_code_of_ours_that_calls_on_for_the_program_is_no_line_of_its_stack():
    forwarded = Entry("/home/a b/train.py", 29, FORWARDS)
    assert last_words(section("waits", 3, (*BARRIER, forwarded, USER))).stack == (*BARRIER, USER)
