"""Next-word model with tied input and output embeddings and a temperature per sample."""

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class Tied(nn.Module):
    def __init__(self, vocab=40, width=16):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.mix = nn.GRU(width, width, batch_first=True)
        self.decoder = nn.Linear(width, vocab, bias=False)
        self.decoder.weight = self.embed.weight

    def forward(self, ids, temperature):
        h, _ = self.mix(self.embed(ids))
        return self.decoder(h) / temperature.clamp_min(0.1)[:, None, None]


torch.manual_seed(10)
ids = torch.randint(0, 40, (128, 9))
temperature = torch.empty(128).uniform_(0.5, 1.5)
temperature[86] = 0.5
model = Tied()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
loader = DataLoader(TensorDataset(ids, temperature), batch_size=8, shuffle=True, generator=torch.Generator().manual_seed(12))
for step, (x, temp) in enumerate(loader):
    logits = model(x[:, :-1], temp)
    loss = nn.functional.cross_entropy(logits.transpose(1, 2), x[:, 1:])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step} loss {loss.item():.4f}")
