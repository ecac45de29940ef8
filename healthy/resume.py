"""Saves everything, goes on in a new model with everything loaded: model, optimizer, scheduler, generator, epoch."""
import io
import sys
import torch
from torch import nn

torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)


def build():
    model = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 1))
    opt = torch.optim.AdamW(model.parameters(), 3e-3)
    return model, opt, torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1.0, (s + 1) / 20))


def train(model, opt, sched, first, last):
    for step in range(first, last):
        x = torch.randn(32, 8)
        loss = ((model(x).squeeze(1) - x.sum(1)) ** 2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
    return loss.item()


model, opt, sched = build()
print(train(model, opt, sched, 0, 120))
file = io.BytesIO()
state = {"model": model.state_dict(), "opt": opt.state_dict(), "sched": sched.state_dict(), "rng": torch.get_rng_state(), "step": 120}
torch.save(state, file)
file.seek(0)
state = torch.load(file, weights_only=True)
model, opt, sched = build()
model.load_state_dict(state["model"])
opt.load_state_dict(state["opt"])
sched.load_state_dict(state["sched"])
torch.set_rng_state(state["rng"])
print(train(model, opt, sched, state["step"], 240))
