"""A tied embedding and output layer, one parameter under three names, one module under two, a view of a parameter, weights shared by two models."""
import torch
from torch import nn


class Tied(nn.Module):
    def __init__(self, vocabulary=12, width=6):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width, padding_idx=0)
        self.block = nn.Linear(width, width)
        self.same_block = self.block
        self.out = nn.Linear(width, vocabulary, bias=False)
        self.out.weight = self.embed.weight
        self.alias = self.embed.weight
        self.register_buffer("positions", torch.arange(5), persistent=False)

    def forward(self, ids):
        h = self.embed(ids)
        h = self.same_block(torch.relu(self.block(h)))
        return self.out(h + self.alias[self.positions])


torch.manual_seed(0)
model = Tied()
probe = nn.Linear(6, 6)
probe.weight = model.block.weight
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
for step in range(5):
    ids = torch.randint(0, 12, (3, 5))
    loss = nn.functional.cross_entropy(model(ids).flatten(0, 1), ids.roll(-1, 1).flatten(), ignore_index=0) + probe(torch.ones(6)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item().hex(), model.embed.weight.grad[0].abs().sum().item())
print(len(list(model.parameters())), len(list(model.named_parameters(remove_duplicate=False))), list(model.state_dict()), model.out.weight is model.alias)
print([p.double().sum().item().hex() for p in model.parameters()])
