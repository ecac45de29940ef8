"""Codes of ledger entries, one for each letter of a line of unequal length."""

import torch
from torch import nn

PAD, LONGEST = 0, 20
torch.manual_seed(15)
lengths = torch.randint(3, 10, (600,))
letters = torch.randint(1, 12, (600, LONGEST))
letters[torch.arange(LONGEST) >= lengths[:, None]] = PAD
codes = (letters * 5 + letters.roll(1, 1)) % 11 + 1
codes[letters == PAD] = PAD
model = nn.ModuleDict(
    {
        "table": nn.Embedding(12, 24, padding_idx=PAD),
        "read": nn.GRU(24, 32, batch_first=True),
        "head": nn.Linear(32, 12),
    }
)
criterion = nn.CrossEntropyLoss(ignore_index=PAD)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(6):
    for rows in torch.randperm(600).split(30):
        states, _ = model["read"](model["table"](letters[rows]))
        scores = model["head"](states)
        loss = criterion(scores.transpose(1, 2), codes[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    real = codes[rows] != PAD
    right = (scores.argmax(2) == codes[rows])[real].float().mean()
    print(f"epoch {epoch} loss {loss.item():.4f} right of the real ones {right.item():.3f}")
