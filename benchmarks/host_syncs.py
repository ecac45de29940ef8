"""Host syncs per step on a GPU, bare and watched, in modes dev, observe and prod, with fused and unfused AdamW.

    .venv/bin/python benchmarks/host_syncs.py

Counts what torch.cuda.set_sync_debug_mode("warn") reports, plus the recorder's own count. Without a GPU it says so and
measures nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import warnings

import torch

STEPS = 20
BEFORE = 60  # steps that are not counted: the first are inspected


def count(mode: str, fused: bool) -> dict[str, float]:
    from torch import nn

    if mode != "bare":
        os.environ |= {"DEBUG_TRACER_MODE": mode, "DEBUG_TRACER_OUT": tempfile.mkdtemp()}
        from debugtracer import session

        session.start()
    model = nn.Sequential(
        *(layer for _ in range(6) for layer in (nn.Linear(512, 512), nn.GELU())), nn.Linear(512, 10)
    ).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=fused)
    x, y = torch.randn(64, 512, device="cuda"), torch.randint(0, 10, (64,), device="cuda")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for step in range(BEFORE + STEPS):
            if step == BEFORE:
                caught.clear()
                torch.cuda.set_sync_debug_mode("warn")
            loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        torch.cuda.set_sync_debug_mode("default")
    return {"syncs_per_step": sum("synchroniz" in str(w.message) for w in caught) / STEPS}


def main() -> None:
    if len(sys.argv) == 3:
        print(json.dumps(count(sys.argv[1], sys.argv[2] == "fused")))
        return
    if not torch.cuda.is_available():
        print("host_syncs: no CUDA device here, nothing measured")
        return
    for fused in ("fused", "unfused"):
        for mode in ("bare", "dev", "observe", "prod"):
            done = subprocess.run([sys.executable, __file__, mode, fused], capture_output=True, text=True, check=True)
            print(f"{fused:8} {mode:8} {done.stdout.strip().splitlines()[-1]}")


if __name__ == "__main__":
    main()
