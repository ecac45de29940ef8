"""Which collective a stack is in, derived from files and functions alone; needs no torch."""

from __future__ import annotations

from collections.abc import Iterable

from debugtracer.trace.last_words import Entry

C10D = "torch/distributed/"
DDP = "torch/nn/parallel/distributed.py"
# they say nothing of what was called
WRAPPERS = frozenset({"wrapper", "inner", "_fn", "_wrapped_call_impl", "_call_impl", "decorate_context"})
PIPELINE = "a pipeline schedule"
POINT_TO_POINT = frozenset(
    {PIPELINE, "send", "recv", "isend", "irecv", "batch_isend_irecv", "send_object_list", "recv_object_list"}
)
LEAVES = "destroy_process_group"


def collective(stack: Iterable[Entry]) -> str:
    """The function of torch.distributed that the user's side called (`barrier`, `all_gather_object`), `backward` or
    `forward` where a wrapper reduces; "" for a stack in none. `stack` is innermost first."""
    found = ""
    for entry in stack:
        file = entry.file.replace("\\", "/")
        if entry.function in WRAPPERS:
            continue
        if entry.function == "_engine_run_backward":
            return "backward"
        if file.endswith(DDP):
            return "forward of DistributedDataParallel" if "forward" in entry.function else "DistributedDataParallel"
        if "torch/distributed/pipelining/" in file:
            return PIPELINE
        if C10D in file and "/torch/distributed/elastic/" not in file:
            found = entry.function
        elif found:
            return found
    return found
