"""The command of a log, and what to type to be sure."""

from __future__ import annotations

import pytest

from debugtracer.logs.command_line import command_of, run_command
from debugtracer.logs.exceptions import Raised
from debugtracer.trace.birth import Frame


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("$ python train.py --lr 3", "python train.py --lr 3"),
        ("+ torchrun --nproc_per_node 4 train.py --bf16", "torchrun --nproc_per_node 4 train.py --bf16"),
        ("(env) me@box:~/x$ CUDA_VISIBLE_DEVICES=0 python3 -m pkg.train --epochs 2", "python3 -m pkg.train --epochs 2"),
        ("accelerate launch run.py", "accelerate launch run.py"),
        ('  File "train.py", line 3, in <module>', ""),
        ("see train.py for the options", ""),
        ("python -m debugtracer run train.py", ""),
    ],
)
def test_a_command_is_seen_and_prose_is_not(line, command):
    assert command_of(line) == command


def test_without_a_command_the_program_of_the_traceback_is_named():
    raised = Raised(
        begin=1,
        frames=[Frame("/home/a/my run.py", 3, "<module>"), Frame("/x/site-packages/torch/nn.py", 9, "f")],
        error="E",
    )
    assert run_command("", raised) == "debug-tracer run python '/home/a/my run.py' ..."
    assert run_command("python train.py --lr 3", raised) == "debug-tracer run python train.py --lr 3"
    assert run_command("", None) == "debug-tracer run python train.py ..."
