"""Gradient checkpointing, both kinds, nested and sequential: modules run again inside the backward, with dropout replayed."""
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint, checkpoint_sequential


class Block(nn.Module):
    runs = 0

    def __init__(self):
        super().__init__()
        self.layer, self.drop = nn.Linear(6, 6), nn.Dropout(0.3)

    def forward(self, x, scale=1.0):
        Block.runs += 1
        return x + self.drop(torch.tanh(self.layer(x))) * scale


torch.manual_seed(0)
blocks = nn.ModuleList(Block() for _ in range(4))
optimizer = torch.optim.SGD(blocks.parameters(), lr=0.05)
for step in range(5):
    x = torch.randn(5, 6, requires_grad=True)
    h = checkpoint(blocks[0], x, use_reentrant=True)
    h = checkpoint(blocks[1], h, scale=0.5, use_reentrant=False)
    h = checkpoint(lambda v: blocks[2](checkpoint(blocks[3], v, use_reentrant=False)), h, use_reentrant=False)
    h = checkpoint_sequential(list(blocks), 2, h, use_reentrant=step % 2 == 0)
    loss = h.pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item().hex(), Block.runs, x.grad.sum().item().hex())
print([p.double().sum().item().hex() for p in blocks.parameters()], torch.rand(1).item().hex())
