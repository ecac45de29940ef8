"""Letters of telegrams from the marks of the operator: a recurrent decoder, time first."""

import torch
from torch import nn

PAD, START, LETTERS, LONGEST = 0, 1, 14, 22
torch.manual_seed(27)


def telegrams(count):
    lengths = torch.randint(4, 11, (count,))
    text = torch.randint(2, LETTERS, (count, LONGEST))
    text[torch.arange(LONGEST) >= lengths[:, None]] = PAD
    marks = (text * 3) % (LETTERS - 2) + 2
    marks[text == PAD] = PAD
    return marks.t(), torch.cat([torch.full((1, count), START), text.t()])


class Operator(nn.Module):
    def __init__(self, width=40):
        super().__init__()
        self.marks = nn.Embedding(LETTERS, width, padding_idx=PAD)
        self.letters = nn.Embedding(LETTERS, width, padding_idx=PAD)
        self.decode = nn.GRU(2 * width, width)
        self.head = nn.Linear(width, LETTERS)

    def forward(self, marks, before):
        states, _ = self.decode(torch.cat([self.marks(marks), self.letters(before)], 2))
        return self.head(states)


marks, text = telegrams(640)
model = Operator()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(5):
    for rows in torch.randperm(640).split(32):
        scores = model(marks[:, rows], text[:-1, rows])
        loss = criterion(scores.reshape(-1, LETTERS), text[1:, rows].reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    real = text[1:, rows] != PAD
    right = (scores.argmax(2) == text[1:, rows])[real].float().mean()
    print(f"epoch {epoch} loss {loss.item():.4f} right of the real ones {right.item():.3f}")
