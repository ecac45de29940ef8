"""The running functions of the program."""

from __future__ import annotations

import sys

from debugtracer.callsites.program_stack import program_stack


def inner():
    return [frame.f_code.co_name for frame in program_stack(sys._getframe())]


def test_the_innermost_function_comes_first_and_libraries_are_left_out():
    names = sorted([0], key=lambda _: len(inner())) and inner()
    assert names[:2] == ["inner", "test_the_innermost_function_comes_first_and_libraries_are_left_out"]
    assert not {"pytest_pyfunc_call", "_hookexec"}.intersection(names)


def test_no_frame_has_no_stack():
    assert not list(program_stack(None))
