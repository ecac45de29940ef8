"""Calls whose result is dropped."""

from __future__ import annotations

import dis

from debugtracer.callsites.discarded_call import discarded_call, is_dropped


def test_the_next_instruction_decides():
    code = compile("f()\nx = f()\na + b\n", "<program>", "exec")
    calls = [one for one in dis.get_instructions(code) if one.opname in ("CALL", "CALL_FUNCTION")]
    assert [is_dropped(code, one.offset) for one in calls] == [True, False]


def test_another_instruction_is_no_call():
    assert not is_dropped(compile("x\n", "<program>", "exec"), 0)


def test_the_line_of_a_user_that_drops_a_value_is_told():
    seen = []

    def note():  # stands for the hook: its own frame is a user's here, and keeps what it is given
        seen.append(discarded_call("note"))

    note()
    assert seen == [()]
