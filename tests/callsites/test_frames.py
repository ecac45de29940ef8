"""Facts about frames: the user's lines are told apart from torch's, libraries' and ours, innermost first."""

from __future__ import annotations

import functools
import json
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.utils.checkpoint
from torch import nn

from debugtracer.callsites import frames as frames_module
from debugtracer.callsites.frames import (
    CHECKPOINT,
    ENGINE,
    LIBRARY,
    MOST,
    OPTIMIZER,
    OURS,
    TORCH,
    USER,
    as_frame,
    frames_of,
    innermost_frame,
    owner_module,
    place_of,
    raw_frames,
    traceback_frames,
    user_frames,
)


def inner() -> Any:
    return user_frames()


def outer() -> Any:
    return inner()


def test_the_user_s_lines_come_innermost_first_with_their_text() -> None:
    found = outer()
    assert [f.code for f in found[:3]] == ["return user_frames()", "return inner()", "found = outer()"]
    assert {f.file for f in found[:3]} == {__file__}
    assert found[0].function.endswith("inner")


def test_raw_frames_become_the_same_frames() -> None:
    raw, shown = raw_frames(), user_frames()
    assert [f.function for f in frames_of(raw)] == [f.function for f in shown]
    assert frames_of(()) == ()


@pytest.mark.parametrize(
    ("code", "place"),
    [
        (inner.__code__, USER),
        (json.dumps.__code__, LIBRARY),
        (functools.wraps.__code__, LIBRARY),
        (nn.Linear.forward.__code__, TORCH),
        (torch.autograd.graph._engine_run_backward.__code__, ENGINE),
        (torch.utils.checkpoint.check_backward_validity.__code__, CHECKPOINT),
        (torch.optim.Optimizer.state_dict.__code__, TORCH),  # under the decorator of torch._compile
        (sys.modules["torch.optim.adamw"].adamw.__code__, OPTIMIZER),
        (as_frame.__code__, OURS),
        (compile("1", "<string>", "exec"), LIBRARY),
        (compile("1", "<stdin>", "exec"), USER),
        (compile("1", "<ipython-input-3-abc>", "exec"), USER),
    ],
)
def test_each_code_has_its_place(code: Any, place: int) -> None:
    assert place_of(code) == place
    assert place_of(code) == place, "and keeps it in the cache"


def test_a_file_copied_line_by_line_keeps_its_own_place_and_frames() -> None:
    source = "def forward():\n    return 1\n"
    made = []
    for file in (json.__file__, "/home/me/a/model.py", "/home/me/b/model.py"):
        space: dict[str, Any] = {}
        exec(compile(source, file, "exec"), space)
        made.append(space["forward"].__code__)
    assert made[0] == made[1] == made[2], "Python compares code without its file"
    assert [place_of(code) for code in made] == [LIBRARY, USER, USER]
    assert [as_frame(code, 2).file for code in made[1:]] == ["/home/me/a/model.py", "/home/me/b/model.py"]


def test_only_the_innermost_lines_of_a_deep_stack_are_kept() -> None:
    def deep(n: int) -> Any:
        return deep(n - 1) if n else raw_frames()

    assert len(deep(100)) == MOST


def test_a_stack_without_a_user_line_gives_the_innermost_library_line(tmp_path: Path) -> None:
    code = compile("def hook(obj):\n    raise ValueError(obj)\n", json.__file__, "exec")
    space: dict[str, Any] = {}
    exec(code, space)
    try:
        space["hook"](1)
    except ValueError as error:
        error.__traceback__ = error.__traceback__.tb_next  # the library's part alone
        (found,) = traceback_frames(error)
    assert found.file == json.__file__
    assert found.function == "hook"


def test_the_innermost_frame_is_a_library_s_where_the_user_calls_one() -> None:
    space: dict[str, Any] = {"innermost_frame": innermost_frame}
    exec(compile("def here():\n    return innermost_frame()\n", json.__file__, "exec"), space)
    inside, own = space["here"](), innermost_frame()
    assert (inside.file, inside.line) == (json.__file__, 2)
    assert own is not None
    assert own.file == __file__


def test_a_traceback_gives_the_user_s_lines_innermost_first() -> None:
    def fails() -> None:
        nn.Linear(2, 2)(torch.ones(1, 3))

    with pytest.raises(RuntimeError) as caught:
        fails()
    assert [f.code for f in traceback_frames(caught.value)[:2]] == ["nn.Linear(2, 2)(torch.ones(1, 3))", "fails()"]


def test_a_line_whose_source_is_gone_has_no_text() -> None:
    code = compile("x = 1", "/nowhere/train.py", "exec")
    assert as_frame(code, 1).code == ""
    assert as_frame(code, 1) is as_frame(code, 1)


class Owner(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.part = nn.Sequential(nn.Linear(2, 2))
        self.other = nn.Linear(2, 2)

    def training_step(self) -> nn.Module | None:
        return self.deeper()

    def deeper(self) -> nn.Module | None:
        return owner_module(self.part)

    def stranger(self, module: nn.Module) -> nn.Module | None:
        return owner_module(module)


def test_the_module_whose_method_calls_its_own_part_is_the_owner() -> None:
    owner = Owner()
    assert owner.training_step() is owner
    assert owner.stranger(owner.part[0]) is owner


def test_a_module_that_does_not_hold_it_is_no_owner() -> None:
    assert Owner().stranger(nn.Linear(1, 1)) is None
    assert owner_module(nn.Linear(1, 1)) is None


def test_the_outermost_owner_wins() -> None:
    class Whole(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.owner = Owner()

        def fit(self) -> nn.Module | None:
            return self.owner.training_step()

    whole = Whole()
    assert whole.fit() is whole


def test_ours_is_this_package_and_torch_s_is_torch() -> None:
    assert Path(frames_module.OUR_HOME).name == "debugtracer"
    assert Path(frames_module.TORCH_HOME).name == "torch"
