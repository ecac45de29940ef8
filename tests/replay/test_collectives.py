"""A replay on one rank never waits for another (two real gloo ranks)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

SCRIPT = """
import os, torch, torch.nn as nn, torch.distributed as dist, torch.multiprocessing as mp

class SyncBatchNorm(nn.Module):  # stands for every layer that talks to the other ranks; torch's own needs a GPU
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 1)
    def forward(self, x):
        mean = x.mean().clone()
        dist.all_reduce(mean)
        return self.fc(x - mean / 2)

def work(rank, store):
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=2)
    torch.manual_seed(rank)
    model = SyncBatchNorm(); optimizer = torch.optim.SGD(model.parameters(), 0.01)
    for step in range(4):
        y = model(torch.rand(4, 3))
        loss = (y * (float("nan") if rank == 1 and step == 2 else 1.0)).pow(2).mean()
        optimizer.zero_grad(); loss.backward(); optimizer.step()
    print("rank", rank, "done", flush=True)

if __name__ == "__main__":
    import tempfile
    mp.start_processes(work, args=(os.path.join(tempfile.mkdtemp(), "store"),), nprocs=2, start_method="fork")
"""


def test_a_layer_that_talks_to_other_ranks_is_not_replayed_alone(run_watched: Any, tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(SCRIPT)
    watched = run_watched(script, mode="observe", timeout_s=400.0)
    assert watched.stdout.count("done") == 2, watched.stderr
    assert watched.report["verdict"]["rank"] == 1
    assert "SyncBatchNorm computes together with the other ranks" in watched.stderr.replace("\n          ", " ")
