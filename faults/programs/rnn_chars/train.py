"""A character model of orders that come in as one long stream of text; the hidden state is carried from window to window."""

import random

import torch
import torch.nn as nn
import torch.nn.functional as F

WINDOW = 24
LANES = 16
STEPS = 400
RATE = 4e-3
ALPHABET = "\n abcdefghijklmnopqrstuvwxyz0123456789.,"


def orders(count, seed):
    pick = random.Random(seed)
    things = ["bolts", "nuts", "washers", "rods", "hinges", "screws", "brackets"]
    towns = ["leiden", "gent", "aachen", "lille", "metz", "trier"]
    lines = []
    for _ in range(count):
        amount = pick.randint(1, 99)
        lines.append(f"{amount} {pick.choice(things)} to {pick.choice(towns)} by day {pick.randint(1, 30)}.\n")
    return "".join(lines)


class Stream:
    def __init__(self, text):
        codes = torch.tensor([ALPHABET.index(c) for c in text])
        length = len(codes) // LANES
        self.lanes = codes[: length * LANES].view(LANES, length)

    def window(self, step):
        start = (step * WINDOW) % (self.lanes.shape[1] - WINDOW - 1)
        part = self.lanes[:, start : start + WINDOW + 1]
        return part[:, :-1], part[:, 1:]


class Writer(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.embed = nn.Embedding(len(ALPHABET), 24)
        self.rnn = nn.LSTM(24, width, batch_first=True)
        self.gate = nn.GRUCell(width, width)
        self.norm = nn.LayerNorm(width)
        self.out = nn.Linear(width, len(ALPHABET))

    def forward(self, codes, state):
        h, state = self.rnn(self.embed(codes), state)
        topic = self.gate(h[:, 0], h[:, 0])
        h = self.norm(h + 0.1 * topic.unsqueeze(1))
        return self.out(h), state


def cut(state):
    return tuple(part.detach() for part in state)


@torch.no_grad()
def evaluate(model, stream, windows=8):
    model.eval()
    total, state = 0.0, None
    for i in range(windows):
        x, y = stream.window(i)
        logits, state = model(x, state)
        total += F.cross_entropy(logits.flatten(0, 1), y.flatten()).item()
    model.train()
    return total / windows


def main():
    torch.manual_seed(8)
    train, test = Stream(orders(6400, seed=1)), Stream(orders(200, seed=2))
    model = Writer()
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, step_size=150, gamma=0.5)
    state = None
    for step in range(STEPS):
        x, y = train.window(step)
        logits, state = model(x, state)
        state = cut(state)
        loss = F.cross_entropy(logits.flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if step % 20 == 0:
            print(f"step {step} loss {loss.item():.4f} gradient {norm:.3f}")
        if step % 100 == 99:
            print(f"step {step} test loss {evaluate(model, test):.4f}")


if __name__ == "__main__":
    main()
