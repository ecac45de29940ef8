"""Loads of wind turbines from eight shards, with accelerate: warm-up, clipping, a schedule."""

import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import ConcatDataset, DataLoader, TensorDataset


def shard(number):
    g = torch.Generator().manual_seed(number)
    wind = torch.rand(160, 6, generator=g) * 20 + 1
    load = torch.log(wind[:, :3]).sum(1) + 0.4 * torch.randn(160, generator=g)
    if number == 5:
        wind[40:43, 4] = -9999.0
    return TensorDataset(wind, load)


def main():
    torch.manual_seed(7)
    accelerator = Accelerator(cpu=True)
    model = nn.Sequential(nn.Linear(6, 24), nn.GELU(), nn.Linear(24, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 0.2, total_iters=20)
    loader = DataLoader(ConcatDataset([shard(n) for n in range(8)]), batch_size=16, shuffle=True)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for epoch in range(4):
        for wind, load in loader:
            guess = model(torch.log(wind)).squeeze(1)
            loss = nn.functional.mse_loss(guess, load)
            optimizer.zero_grad()
            accelerator.backward(loss)
            accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
        accelerator.print(f"epoch {epoch} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
