"""What a saved state costs training: seconds that the loop waits where it writes the state itself, and where a thread
writes a copy.

    .venv/bin/python benchmarks/saving.py [--rounds 5]

Both ways save the same model (a transformer of 10.7 million parameters with Adam) in turn, in one process. Prints and
keeps benchmarks/results/<date>-saving.json."""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import torch
from torch import nn

from debugtracer.recorder.output.last_good import LastGood, verified
from debugtracer.recorder.run_state import RunState

sys.path.append(str(Path(__file__).resolve().parents[1] / "scripts"))
from stamp import ROOT, stamp


def main() -> None:
    """Save in turn and print the medians."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    torch.set_num_threads(1)
    layer = nn.TransformerEncoderLayer(384, 6, 1536, batch_first=True)
    model = nn.Sequential(nn.TransformerEncoder(layer, 6), nn.Linear(384, 256))
    optimizer = torch.optim.Adam(model.parameters())
    x = torch.randn(4, 32, 384)

    def trained() -> float:
        """One step, in seconds."""
        begin = perf_counter()
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()
        return perf_counter() - begin

    trained()
    state = RunState()
    state.roots.add(model, None)
    here, there, step, beside, whole = [], [], [], [], []
    with tempfile.TemporaryDirectory() as folder:
        writer = LastGood(state)
        for _ in range(rounds):
            step.append(trained())
            begin = perf_counter()
            writer.write(Path(folder), 0, [optimizer])
            here.append(perf_counter() - begin)
            begin = perf_counter()
            writer.write_later(Path(folder), 0, [optimizer])
            there.append(perf_counter() - begin)
            while writer.background.busy:
                beside.append(trained())
            writer.background.finish()
            whole.append(perf_counter() - begin)
        verified(Path(folder) / "last-good" / "rank-0.pt")
        size = (Path(folder) / "last-good" / "rank-0.pt").stat().st_size
    found = {
        **stamp(),
        "threads": 1,
        "parameters": sum(p.numel() for p in model.parameters()),
        "bytes": size,
        "rounds": rounds,
        "waited_where_it_writes_itself_s": round(statistics.median(here), 4),
        "waited_where_a_thread_writes_s": round(statistics.median(there), 4),
        "until_it_was_written_s": round(statistics.median(whole), 4),
        "step_s": round(statistics.median(step), 4),
        "step_beside_the_thread_s": round(statistics.median(beside), 4),
        "cpu_of_the_thread_s": round(writer.background.cpu_s, 4),
    }
    print(json.dumps(found, indent=1))
    (ROOT / "benchmarks" / "results" / f"{found['date']}-saving.json").write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
