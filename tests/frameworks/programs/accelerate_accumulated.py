"""Accelerate with accelerator.accumulate, a prepared scheduler, clipping and gathered metrics."""
import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def main():
    torch.manual_seed(4)
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=3)
    model = nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.Linear(8, 2))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    x = torch.randn(60, 4)
    loader = DataLoader(TensorDataset(x, (x.sum(1) > 0).long()), batch_size=6, shuffle=True)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, total_iters=10)
    model, optimizer, loader, schedule = accelerator.prepare(model, optimizer, loader, schedule)
    for epoch in range(2):
        for x, y in loader:
            with accelerator.accumulate(model):
                loss = nn.functional.cross_entropy(model(x), y)
                accelerator.backward(loss)
                if accelerator.sync_gradients:
                    accelerator.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                schedule.step()
                optimizer.zero_grad()
            print(epoch, accelerator.gather(loss.detach()).mean().item().hex(), schedule.get_last_lr())


if __name__ == "__main__":
    main()
