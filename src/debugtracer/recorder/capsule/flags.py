"""The global switches of torch that change the bits of a result."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Literal

import msgspec
import torch


class Flags(msgspec.Struct, frozen=True, kw_only=True):
    """Switches at the time of the step."""

    threads: int = 1
    deterministic: bool = False
    matmul_precision: Literal["highest", "high", "medium"] = "highest"
    mkldnn: bool = True
    flush_denormal: bool = False
    cudnn: bool = True
    cudnn_benchmark: bool = False
    cudnn_deterministic: bool = False
    cudnn_tf32: bool = True


def read_flags() -> Flags:
    """The switches now. No host sync."""
    return Flags(
        threads=torch.get_num_threads(),
        deterministic=torch.are_deterministic_algorithms_enabled(),
        matmul_precision=torch.get_float32_matmul_precision(),  # type: ignore[arg-type]
        mkldnn=bool(torch.backends.mkldnn.enabled),
        flush_denormal=bool(torch.tensor(1e-40) * 1 == 0),
        cudnn=torch.backends.cudnn.enabled,
        cudnn_benchmark=torch.backends.cudnn.benchmark,
        cudnn_deterministic=torch.backends.cudnn.deterministic,
        cudnn_tf32=tf32(),
    )


def tf32() -> bool:
    """True where convolutions may use TF32; also where convolutions and recurrent layers are set apart, which torch has
    no one answer for."""
    try:
        return bool(torch.backends.cudnn.allow_tf32)
    except RuntimeError:
        return True


def write_flags(flags: Flags) -> None:
    """Set the switches of torch to these values."""
    torch.set_num_threads(min(max(flags.threads, 1), 1024))
    torch.use_deterministic_algorithms(flags.deterministic, warn_only=True)
    torch.set_float32_matmul_precision(flags.matmul_precision)
    setattr(torch.backends.mkldnn, "enabled", flags.mkldnn)  # noqa: B010 - a property of the module, which mypy does not see
    torch.set_flush_denormal(flags.flush_denormal)
    torch.backends.cudnn.enabled = flags.cudnn
    torch.backends.cudnn.benchmark = flags.cudnn_benchmark
    torch.backends.cudnn.deterministic = flags.cudnn_deterministic
    if tf32() != flags.cudnn_tf32:  # asking alone raises when convolutions and recurrent layers are set apart
        torch.backends.cudnn.allow_tf32 = flags.cudnn_tf32


@contextlib.contextmanager
def under(flags: Flags) -> Iterator[None]:
    """Set these switches inside the context, those of before afterwards."""
    before = read_flags()
    write_flags(flags)
    try:
        yield
    finally:
        write_flags(before)
