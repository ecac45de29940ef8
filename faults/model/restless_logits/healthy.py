"""Next note of a melody; the logits are kept in place by a penalty on their normaliser."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
NOTES, WIDTH, LENGTH = 48, 32, 16
follow = torch.softmax(1.5 * torch.randn(NOTES, NOTES), dim=-1)


class Melody(nn.Module):
    def __init__(self):
        super().__init__()
        self.notes = nn.Embedding(NOTES, WIDTH)
        self.body = nn.Sequential(nn.Linear(WIDTH, 64), nn.GELU(), nn.Linear(64, WIDTH))
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, NOTES)

    def forward(self, notes):
        x = self.notes(notes)
        return self.head(self.norm(x + self.body(x)))


def melodies(count=32):
    played = [torch.randint(0, NOTES, (count,))]
    for _ in range(LENGTH):
        played.append(torch.multinomial(follow[played[-1]], 1).squeeze(1))
    return torch.stack(played, dim=1)


model = Melody()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.0)
for step in range(620):
    batch = melodies()
    logits = model(batch[:, :-1]).flatten(0, 1)
    nll = F.cross_entropy(logits, batch[:, 1:].flatten())
    loss = nll + 5e-3 * logits.logsumexp(dim=-1).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 100 == 0:
        print(step, f"{nll.item():.4f}")
