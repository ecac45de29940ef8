"""The number of the process, asked once and in each forked child."""

from __future__ import annotations

import os

from debugtracer.trace.store.own_process import OwnProcess


def test_a_forked_child_finds_its_own_number():
    process = OwnProcess()
    assert process.pid == os.getpid()
    child = os.fork()
    if child == 0:
        os._exit(0 if process.pid == os.getpid() else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert process.pid == os.getpid()
