"""An allocation that failed."""

from __future__ import annotations

from debugtracer.checks.device.out_of_memory import OutOfMemory
from tests.checks.crashes import a_batch, a_crash, seen, silent_on_another_error, told


def test_the_sizes_that_can_be_changed_are_named():
    gib = 2**30
    text = "CUDA out of memory. Tried to allocate 18.20 GiB. GPU 0 has a total capacity of 79.10 GiB"
    tensors = (seen("q", 256, 16, 64), seen("scores", 256, 16, 4096, 4096))
    memory = {"peak": 75 * gib, "total": 79 * gib}
    (finding,) = told(
        OutOfMemory(), a_crash(text, "OutOfMemoryError", tensors=tensors, memory=memory, batch=a_batch(256))
    )
    assert finding.message == (
        "step 5, rank 0: an allocation of 18.20 GiB failed; peak 75.00 of 79.00 GiB, the batch has 256 rows, the "
        "largest tensor of the call is scores "
        "(256, 16, 4096, 4096); expected it to fit. Make the batch smaller, or do not build that tensor whole."
    )


def test_bytes_of_the_host_allocator_are_said_in_gib():
    (finding,) = told(
        OutOfMemory(),
        a_crash("DefaultCPUAllocator: can't allocate memory: you tried to allocate 4294967296 bytes. Error code 12"),
    )
    assert "an allocation of 4.00 GiB failed; expected it to fit" in finding.message


def test_another_exception_is_none_of_its_business():
    silent_on_another_error(OutOfMemory())
