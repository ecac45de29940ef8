"""Whose line a warning of torch's C++ is filed under."""

from __future__ import annotations

import sys
import traceback
import warnings
import weakref

import torch

from debugtracer.callsites import caller as forwarded
from debugtracer.callsites.caller import from_caller
from debugtracer.callsites.frames import OURS, place_of
from tests.watching import under_watch


def called(function, *args):
    return from_caller()(function, args, {})


def test_the_frame_that_runs_has_the_callers_file_line_and_globals():
    def look():
        import sys

        frame = sys._getframe(1)
        return frame.f_code.co_filename, frame.f_lineno, frame.f_globals is globals(), place_of(frame.f_code)

    here = look.__code__.co_firstlineno + 7
    assert called(look) == (__file__, here, True, OURS)


def test_globals_of_the_program_are_not_kept():
    class Kept:
        pass

    space = {"called": called, "kept": Kept()}
    reference = weakref.ref(space["kept"])
    exec(compile("called(len, [1])", "<made>", "exec"), space)
    del space
    assert reference() is None


def test_other_globals_have_their_own():
    def one():
        return called(from_here)

    def from_here():
        import sys

        return sys._getframe(1).f_globals

    assert one() is one() is globals()
    code = compile("seen = called(from_here)", "<made>", "exec")
    first, second = {"called": called, "from_here": from_here}, {"called": called, "from_here": from_here}
    for space in (first, second):
        exec(code, space)
    assert first["seen"] is first
    assert second["seen"] is second


def test_code_that_is_made_as_the_program_goes_does_not_pile_up(monkeypatch):
    monkeypatch.setattr(forwarded, "MOST", 8)
    monkeypatch.setattr(forwarded, "_made", {})
    for number in range(30):
        exec(compile(f"called(len, [{number}])", f"<{number}>", "exec"), {"called": called})
    assert len(forwarded._made) <= 8


def test_a_warning_of_torch_names_the_line_of_the_program(tmp_path):
    torch.set_warn_always(True)
    try:
        with under_watch(tmp_path), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            torch.ones(1).std()
        assert [(one.filename, one.lineno) for one in caught] == [(__file__, traceback.extract_stack()[-1].lineno - 1)]
    finally:
        torch.set_warn_always(False)


def test_the_place_of_a_warning_that_a_loss_function_gives_its_caller(tmp_path):
    model = torch.nn.Linear(2, 1)
    with under_watch(tmp_path), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        torch.nn.functional.mse_loss(model(torch.ones(4, 2)), torch.ones(4))
    assert [one.filename for one in caught if "target size" in str(one.message)] == [__file__]


def test_a_program_that_is_traced_or_profiled_meets_no_frame_of_its_own_files_more():
    def look():
        return sys._getframe(1).f_code.co_filename

    sys.setprofile(lambda *_: None)
    try:
        seen = called(look)
    finally:
        sys.setprofile(None)
    assert seen == forwarded.__file__
    assert called(look) == __file__
