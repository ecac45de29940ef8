"""Two ranks under torchrun: DDP with no_sync accumulation, an all-reduced metric, rank 0 prints."""
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(5)
    model = DistributedDataParallel(module=nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1)))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    x = torch.randn(64, 4)
    rows = TensorDataset(x, x.sum(1))
    sampler = DistributedSampler(rows, shuffle=True)
    for epoch in range(2):
        sampler.set_epoch(epoch)
        for i, (a, b) in enumerate(DataLoader(rows, batch_size=4, sampler=sampler)):
            if i % 2 == 0:
                with model.no_sync():
                    nn.functional.mse_loss(model(a).squeeze(1), b).backward()
                continue
            loss = nn.functional.mse_loss(model(a).squeeze(1), b)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            mean = loss.detach().clone()
            dist.all_reduce(mean)
            if dist.get_rank() == 0:
                print(epoch, i, mean.item().hex(), flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
