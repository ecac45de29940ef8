"""A real Jupyter kernel for tests, forked from a process that has torch (tests/forked): cells are sent to it as a
notebook sends them."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

import ipykernel_launcher
from jupyter_client.manager import KernelManager

from tests import forked

COLOR = re.compile(r"\x1b\[[0-9;]*m")


@dataclass
class Output:
    """What a cell has shown."""

    stdout: str = ""
    stderr: str = ""
    shown: list[dict[str, str]] = field(default_factory=list)
    """Each display and the value of the cell, by MIME type."""
    error: str = ""
    """Name of the exception that ended it."""
    traceback: str = ""


class Kernel:
    """One kernel in a folder; leaving the with block ends it."""

    def __init__(self, folder: Path, **environment: str) -> None:
        self.manager = KernelManager(kernel_name="python3")
        spec = self.manager.kernel_spec
        assert spec is not None
        spec.argv = [*forked.programs().python, str(ipykernel_launcher.__file__), "-f", "{connection_file}"]
        self.manager.start_kernel(cwd=str(folder), env={**os.environ, "DEBUG_TRACER_STRICT": "1", **environment})
        self.client = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=120)

    def run(self, source: str, cell: str = "") -> Output:
        """Run one cell to its end; `cell` is its identity in the notebook, as JupyterLab tells it."""
        content = {
            "code": source,
            "silent": False,
            "store_history": True,
            "user_expressions": {},
            "allow_stdin": False,
            "stop_on_error": False,
        }
        request = self.client.session.msg("execute_request", content, metadata={"cellId": cell} if cell else {})
        self.client.shell_channel.send(request)
        output = Output()
        while True:
            message = self.client.get_iopub_msg(timeout=200)
            if message["parent_header"].get("msg_id") == request["header"]["msg_id"] and take(output, message):
                return output

    def __enter__(self) -> Kernel:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)


def take(output: Output, message: dict[str, Any]) -> bool:
    """One message of the kernel; True when the cell is over."""
    kind, content = message["msg_type"], message["content"]
    if kind == "stream":
        setattr(output, content["name"], getattr(output, content["name"]) + content["text"])
    elif kind in ("display_data", "execute_result"):
        output.shown.append(content["data"])
    elif kind == "error":
        output.error, output.traceback = content["ename"], COLOR.sub("", "\n".join(content["traceback"]))
    return bool(kind == "status" and content["execution_state"] == "idle")
