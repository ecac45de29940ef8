"""One process of a data-parallel run; the auxiliary head is trained later."""

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel


class TwoHeads(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(8, 16)
        self.main = nn.Linear(16, 3)
        self.side = nn.Linear(16, 2)

    def forward(self, x):
        hidden = self.body(x).relu()
        return self.main(hidden), self.side(hidden)


torch.manual_seed(2)
dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
model = DistributedDataParallel(TwoHeads())
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for step in range(8):
    x, y = torch.randn(16, 8), torch.randint(0, 3, (16,))
    main, side = model(x)
    loss = nn.functional.cross_entropy(main, y) + side.square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step} loss {loss.item():.4f}")
dist.destroy_process_group()
