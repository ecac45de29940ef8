"""The next letter of a ferry's name; the output layer uses the weights of the letters."""

import torch
from torch import nn

torch.manual_seed(33)
LETTERS, WIDTH = 30, 400


class Namer(nn.Module):
    def __init__(self):
        super().__init__()
        self.letter = nn.Embedding(LETTERS, WIDTH)
        self.read = nn.GRU(WIDTH, WIDTH, batch_first=True)
        self.norm = nn.LayerNorm(WIDTH)
        self.next = nn.Linear(WIDTH, LETTERS, bias=False)
        self.next.weight = self.letter.weight
        nn.init.normal_(self.letter.weight)

    def forward(self, letters):
        states, _ = self.read(self.letter(letters))
        return self.next(self.norm(states))


g = torch.Generator().manual_seed(2)
follows = torch.randint(LETTERS, (LETTERS, 3), generator=g)
names = [torch.randint(LETTERS, (640,), generator=g)]
for position in range(11):
    names.append(follows[names[-1], torch.randint(3, (640,), generator=g)])
names = torch.stack(names, 1)
model = Namer()
optimizer = torch.optim.AdamW(model.parameters(), lr=6e-5)
for epoch in range(8):
    for rows in torch.randperm(640, generator=g).split(32):
        optimizer.zero_grad()
        scores = model(names[rows, :-1])
        loss = nn.functional.cross_entropy(scores.transpose(1, 2), names[rows, 1:])
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
