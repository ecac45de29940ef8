"""Runs each program in a process of its own, forked after torch is imported, and keeps its console:
`make_texts.py OUT [NAME ...]`."""

from __future__ import annotations

import contextlib
import os
import sys
import traceback
import types
from pathlib import Path

PROGRAMS = Path(__file__).resolve().parent / "programs"


def main(out: Path, names: list[str]) -> None:
    """One folder per program with its copy `train.py` and its console `log.txt`."""
    import torch
    import torch._dynamo  # the first step of an optimizer imports it: once here, not in every child

    torch.set_num_threads(1)
    for name in names or sorted(path.stem for path in PROGRAMS.glob("*.py")):
        folder = out / name
        folder.mkdir(parents=True, exist_ok=True)
        child = os.fork()
        if child == 0:
            os._exit(console(name, folder))
        os.waitpid(child, 0)


def console(name: str, folder: Path) -> int:
    """Runs one program as `python train.py` would, stdout and stderr into one file."""
    script = folder / "train.py"
    script.write_text((PROGRAMS / f"{name}.py").read_text())
    log = os.open(folder / "log.txt", os.O_CREAT | os.O_TRUNC | os.O_WRONLY | os.O_APPEND)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.chdir(folder)
    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    sys.argv = ["train.py"]
    try:
        exec(compile(script.read_text(), str(script), "exec"), module.__dict__)
    except BaseException as error:
        sys.stdout.flush()
        own = error.__traceback__.tb_next if error.__traceback__ else None  # our own frame is none of the program's
        traceback.print_exception(type(error), error, own)
    with contextlib.suppress(BrokenPipeError):
        sys.stdout.flush()
        sys.stderr.flush()
    return 0


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
