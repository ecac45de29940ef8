"""What programs of other people import and this repository does not have: a scratch environment beside their sources
that inherits ours."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

# torchvision as PyPI has it is built for CUDA; beside torch for the CPU its operators cannot be loaded, and it cannot
# be imported then, since it describes two of them. No program of the table calls one.
NMS = "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"
DESCRIBED = ("nms", "qnms")


def interpreter(sources: Path, packages: tuple[str, ...]) -> str:
    """The Python that has these packages beside ours, made at the first call; ours where none are needed. Raises
    CalledProcessError where one cannot be installed."""
    if not packages:
        return sys.executable
    folder = sources / "-".join(["venv", *(name.translate(str.maketrans("<>=.", "____")) for name in packages)])
    python = folder / "bin" / "python"
    if not (folder / "whole").exists():
        venv.create(folder, with_pip=False, clear=True)
        site = folder / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
        (site / "inherited.pth").write_text(f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n")
        install = [sys.executable, "-m", "pip", "--python", str(python), "install", "-q", *packages]
        subprocess.run(install, check=True)
        describe_operators(site / "torchvision" / "_meta_registrations.py")
        (folder / "whole").touch()
    return str(python)


def describe_operators(file: Path) -> None:
    """Have the scratch copy of torchvision define the operators that it describes, where it brings none."""
    if file.exists():
        defined = "".join(f"    torch.library.define('torchvision::{name}', {NMS!r})\n" for name in DESCRIBED)
        imported = "import torchvision.extension  # noqa: F401\n"
        text = file.read_text()
        assert imported in text, f"{file}: no line {imported!r}"
        guard = f"{imported}if not torchvision.extension._has_ops():\n{defined}"
        file.write_text(text.replace(imported, guard))
