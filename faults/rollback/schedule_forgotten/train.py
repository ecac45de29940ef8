"""Training in two shifts with a warmup and a decay."""

import io

import torch
import torch.nn as nn

torch.manual_seed(13)


def start():
    model = nn.Sequential(nn.Linear(5, 24), nn.ReLU(), nn.Linear(24, 3))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: min(1.0, (s + 1) / 20) * 0.98**s)
    return model, optimizer, schedule


def run(model, optimizer, schedule, first, last):
    for step in range(first, last):
        x = torch.randn(32, 5, generator=torch.Generator().manual_seed(step))
        loss = nn.functional.cross_entropy(model(x), x[:, :3].argmax(1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    print(f"step {last} loss {loss.item():.4f} lr {schedule.get_last_lr()[0]:.2e}")


model, optimizer, schedule = start()
run(model, optimizer, schedule, 0, 70)
file = io.BytesIO()
torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "schedule": schedule.state_dict(), "step": 70}, file)
file.seek(0)
state = torch.load(file)
model, optimizer, schedule = start()
model.load_state_dict(state["model"])
optimizer.load_state_dict(state["optimizer"])
schedule.state_dict().update(state["schedule"])
run(model, optimizer, schedule, state["step"], 120)
