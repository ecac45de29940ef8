"""Guesses the words that the wind has taken from a forecast: each forecast follows a rule of its station."""

import torch
from torch import nn

torch.manual_seed(9)
WORDS, LENGTH, GONE = 48, 14, 47


def forecasts(count):
    words = torch.empty(count, LENGTH, dtype=torch.long)
    words[:, 0] = torch.randint(1, GONE, (count,))
    for place in range(1, LENGTH):
        words[:, place] = (words[:, place - 1] * 5 + 3) % (GONE - 1) + 1
    return words


class Guesser(nn.Module):
    def __init__(self):
        super().__init__()
        self.word = nn.Embedding(WORDS, 32)
        self.place = nn.Parameter(torch.randn(LENGTH, 32) * 0.1)
        self.read = nn.TransformerEncoderLayer(32, 2, 64, dropout=0.0, batch_first=True)
        self.say = nn.Linear(32, WORDS)

    def forward(self, words):
        return self.say(self.read(self.word(words) + self.place))


known, new = forecasts(800), forecasts(200)
gone_of_new = torch.rand(new.shape) < 0.15
model = Guesser()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for turn in range(6):
    for rows in torch.randperm(len(known)).split(32):
        words = known[rows]
        gone = torch.rand(words.shape) < 0.15
        labels = words.clone()
        loss = nn.functional.cross_entropy(model(words.masked_fill(gone, GONE)).flatten(0, 1), labels.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
with torch.no_grad():
    guessed = model(new.masked_fill(gone_of_new, GONE)).argmax(-1)
print(f"loss {loss.item():.4f} right of the words taken {(guessed == new)[gone_of_new].float().mean():.3f}")
