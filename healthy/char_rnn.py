"""A character LSTM with truncated backpropagation, carried state and clipping at 0.25: nearly every step is clipped."""
import pydoc_data.topics
import sys
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
text = "".join(pydoc_data.topics.topics.values())[:60000]
chars = sorted(set(text))
ids = torch.tensor([chars.index(c) for c in text])
data = ids[: len(ids) // 16 * 16].view(16, -1).t()


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb, self.rnn, self.out = nn.Embedding(len(chars), 32), nn.LSTM(32, 64), nn.Linear(64, len(chars))

    def forward(self, x, h):
        y, h = self.rnn(self.emb(x), h)
        return self.out(y), h


model, h, lr = Model(), None, 2.0
opt = torch.optim.SGD(model.parameters(), lr)
for step in range(150):
    x, y = data[step * 20 : step * 20 + 20], data[step * 20 + 1 : step * 20 + 21]
    if h is not None:
        h = tuple(s.detach() for s in h)
    model.zero_grad()
    logits, h = model(x, h)
    loss = F.cross_entropy(logits.flatten(0, 1), y.flatten())
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 0.25)
    opt.step()
    if step % 50 == 0:
        print(step, loss.item())
