"""Functions of ours that stand in the place of torch's: Dynamo does not compile their frames, so they add no graph and
no break of their own."""

from __future__ import annotations

from typing import Any

import torch


def unseen(function: Any) -> Any:
    """The same function, its frame passed over by Dynamo; what it calls is compiled as ever. Imports no Dynamo
    (seconds)."""
    code = getattr(function, "__code__", None)
    if code is None:
        return function
    frames: Any = torch._C._dynamo.eval_frame
    try:
        if hasattr(frames, "set_code_exec_strategy"):  # torch 2.8 and later
            frames.set_code_exec_strategy(
                code, frames._FrameExecStrategy(frames._FrameAction.SKIP, frames._FrameAction.DEFAULT)
            )
        elif hasattr(frames, "skip_code"):
            frames.skip_code(code)
    except (AttributeError, TypeError):  # another torch: a break more in the user's graph, no harm
        pass
    return function


def compiling() -> bool:
    """True while Dynamo traces this code or runs it inside a compiled function: our own code would be compiled with
    it."""
    return torch.compiler.is_compiling() or running() is not None


running: Any = getattr(torch._C._dynamo.eval_frame, "get_eval_frame_callback", lambda: None)
"""The compiler of the frame that runs now; None outside of compiled regions."""
