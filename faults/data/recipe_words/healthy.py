"""Missing words of recipes, with a masked language model."""

import torch
from torch import nn

torch.manual_seed(13)
MASK, WORDS, LENGTH = 0, 24, 12
first = torch.randint(1, WORDS, (400, 3))
recipes = torch.cat([first, first.flip(1), first, first.flip(1)], 1)


class Kitchen(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, 32), nn.Parameter(0.1 * torch.randn(LENGTH, 32))
        self.mixes = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True)
        self.head = nn.Linear(32, WORDS)

    def forward(self, tokens):
        return self.head(self.mixes(self.words(tokens) + self.places))


model = Kitchen()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)

for step in range(150):
    tokens = recipes[torch.randint(400, (32,))]
    masked = torch.rand(tokens.shape) < 0.15
    labels = tokens.clone()
    labels[~masked] = -100
    scores = model(tokens.masked_fill(masked, MASK))
    loss = nn.functional.cross_entropy(scores.flatten(0, 1), labels.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 50 == 49:
        right = (scores.argmax(-1) == tokens)[masked].float().mean()
        print(f"step {step + 1} loss {loss.item():.4f} masked words right {right.item():.3f}")
