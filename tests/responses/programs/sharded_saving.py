"""Two ranks with sharded weights (FSDP2, gloo) save while they train: `sharded_saving.py HOW FOLDER`. The thread of the
last rank is slow. `waits`: both wait for it at the end; `destroys`: they destroy their process groups first; `dies`: the
last one is killed. `fails`: the last one cannot keep a state, twice, and the ranks go on saving."""

import os
import signal
import socket
import sys
import threading
import time
from pathlib import Path

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

from debugtracer.errors import DebugTracerError
from debugtracer.recorder.output.last_good import LastGood
from debugtracer.recorder.output.shards import Shards
from debugtracer.recorder.run_state import RunState
from debugtracer.trace.store.saved_state import newest

HOW, FOLDER = sys.argv[1], Path(sys.argv[2])
SLOW_S, WAIT_S = 2.0, 4.0


class Slow(Shards):
    def write_as(self, rank, size, folder, name, values):
        if rank == size - 1 and threading.current_thread() is not threading.main_thread():
            if HOW == "dies":
                threading.Timer(SLOW_S / 2, os.kill, [os.getpid(), signal.SIGKILL]).start()
            time.sleep(SLOW_S)
        return super().write_as(rank, size, folder, name, values)


class Full(LastGood):
    """The disk of the last rank is full at two states, when its shards are in place."""

    def save(self, parts, target, rank, files, replaced=""):
        if rank == dist.get_world_size() - 1 and self.state.step in (7, 8):
            raise OSError("no space left")
        super().save(parts, target, rank, files, replaced)


def worker(rank, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=2)
    mesh = init_device_mesh("cpu", (2,))
    model = nn.Linear(8, 6)
    fully_shard(model, mesh=mesh)
    optimizer = torch.optim.Adam(model.parameters())
    state = RunState()
    state.roots.add(model, None)
    last_good = LastGood(state, shards=Slow(wait_s=WAIT_S))

    def train(steps):
        for _ in range(steps):
            optimizer.zero_grad()
            model(torch.randn(4, 8)).square().mean().backward()
            optimizer.step()
            state.step += 1

    if HOW == "fails":
        last_good = Full(state, shards=Shards(wait_s=WAIT_S))
        for _ in range(5, 11):
            train(6 if state.step == 0 else 1)
            try:
                last_good.write(FOLDER, rank, [optimizer])
            except DebugTracerError as error:
                os.write(1, f"failed {rank} {state.step}: {error}\n".encode())
            dist.barrier()
            os.write(1, f"common {rank} {state.step} {newest(FOLDER)[0]}\n".encode())
            dist.barrier()
        return
    train(5)
    last_good.write(FOLDER, rank, [optimizer])
    train(1)
    begin = time.perf_counter()
    last_good.write_later(FOLDER, rank, [optimizer])
    train(4)
    trained = time.perf_counter() - begin < SLOW_S and last_good.background.busy
    skipped = last_good.write_later(FOLDER, rank, [optimizer]) is None
    if HOW == "destroys":
        dist.destroy_process_group()
    last_good.background.finish()
    failed = last_good.background.failure()
    words = f"rank {rank} trained {trained} skipped {skipped} failed {failed is not None} "
    os.write(1, f"{words}{time.perf_counter() - begin:.0f} s: {str(failed)[:80]}\n".encode())


if __name__ == "__main__":
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    context = mp.get_context("fork")
    ranks = [context.Process(target=worker, args=(rank, port)) for rank in range(2)]
    for one in ranks:
        one.start()
    for one in ranks:
        one.join()
