"""Builds the device and registers it as torch_npu does: PrivateUse1 named npu, its module torch.npu, the overflow flag
by its documented names.

A program imports `start` and calls it before anything else; DEVICE_BUILD names the folder the library was built in.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sysconfig
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from torch.utils import cpp_extension

NAME = "stand_in_device"


def build(folder: Path) -> Path:
    """The library, compiled without optimisation (20 s)."""
    library = folder / f"{NAME}{sysconfig.get_config_var('EXT_SUFFIX')}"
    includes = [f"-isystem{path}" for path in (*cpp_extension.include_paths(), sysconfig.get_paths()["include"])]
    links = [word for path in cpp_extension.library_paths() for word in (f"-L{path}", f"-Wl,-rpath,{path}")]
    abi = f"-D_GLIBCXX_USE_CXX11_ABI={int(torch._C._GLIBCXX_USE_CXX11_ABI)}"
    flags = ["-O0", "-shared", "-fPIC", "-std=c++20", "-w", abi, f"-DTORCH_EXTENSION_NAME={NAME}"]
    source = str(Path(__file__).with_name("device.cpp"))
    words = [
        "c++",
        *flags,
        *includes,
        source,
        "-o",
        str(library),
        *links,
        "-lc10",
        "-ltorch_cpu",
        "-ltorch",
        "-ltorch_python",
    ]
    subprocess.run(words, check=True, capture_output=True, text=True, timeout=400)
    return library


class Event:
    """What ends with the work queued before it: here at once, unless the device has died."""

    def __init__(self, library: Any) -> None:
        self.library = library

    def record(self) -> None:
        """Queued, no wait."""

    def synchronize(self) -> None:
        self.library.wait()

    def query(self) -> bool:
        self.library.wait()
        return True


class Npu:
    """The module torch.npu, as far as anything here asks for it."""

    def __init__(self, library: Any, saturating: bool) -> None:
        self.library = library
        self.asked = 0
        self.Event = partial(Event, library)
        self.utils = SimpleNamespace(is_support_inf_nan=lambda: not saturating)

    def is_initialized(self) -> bool:
        return True

    def is_available(self) -> bool:
        return True

    def current_device(self) -> int:
        return 0

    def device_count(self) -> int:
        return 1

    def memory_allocated(self) -> int:
        return 0

    def memory_reserved(self) -> int:
        return 0

    def max_memory_allocated(self) -> int:
        return 0

    def get_device_properties(self, index: int) -> SimpleNamespace:
        """What CUDA asks its driver for, at the first call, and cannot once the device has died."""
        self.library.wait()
        return SimpleNamespace(total_memory=2**30)

    def _is_in_bad_fork(self) -> bool:
        return False

    def manual_seed_all(self, seed: int) -> None:
        """Random ops fall back to the generator of the host."""

    def get_amp_supported_dtype(self) -> list[torch.dtype]:
        return [torch.float16, torch.bfloat16]

    def get_npu_overflow_flag(self) -> bool:
        self.asked += 1
        return bool(self.library.overflowed())

    def clear_npu_overflow_flag(self) -> None:
        self.library.clear()

    def die(self, at_once: bool) -> None:
        """Fail at whatever is asked from here on, as CUDA does after a kernel's assert; or from the next wait on, since
        kernels run later than they are called."""
        self.library.die(at_once)


def start(saturating: bool = False) -> Npu:
    """The device, from here on."""
    library = next(Path(os.environ["DEVICE_BUILD"]).glob(f"{NAME}*"))
    spec = importlib.util.spec_from_file_location(NAME, library)
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    loaded.start(saturating)
    torch.utils.rename_privateuse1_backend("npu")
    module = Npu(loaded, saturating)
    torch._register_device_module("npu", module)
    torch.utils.generate_methods_for_privateuse1_backend()
    return module
