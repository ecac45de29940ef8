"""Schedulers of every kind over one loop: OneCycle, plateau on a metric, LambdaLR lists, SequentialLR, ChainedScheduler, warm restarts, by hand."""
import warnings

import torch
from torch import nn
from torch.optim import lr_scheduler as schedules

warnings.filterwarnings("ignore")
MAKERS = [
    lambda o: schedules.OneCycleLR(o, max_lr=[0.1, 0.05], total_steps=6, cycle_momentum=True),
    lambda o: schedules.ReduceLROnPlateau(o, patience=0, factor=0.5),
    lambda o: schedules.LambdaLR(o, [lambda n: 1 / (n + 1), lambda n: 0.9 ** n]),
    lambda o: schedules.SequentialLR(o, [schedules.LinearLR(o, 0.1, total_iters=2), schedules.CosineAnnealingLR(o, 4)], milestones=[2]),
    lambda o: schedules.ChainedScheduler([schedules.ConstantLR(o, 0.5, 2), schedules.ExponentialLR(o, 0.9)]),
    lambda o: schedules.CosineAnnealingWarmRestarts(o, 2, 2),
    lambda o: schedules.CyclicLR(o, 0.001, 0.1, step_size_up=2, mode="triangular2"),
    lambda o: schedules.PolynomialLR(o, 5), lambda o: schedules.MultiplicativeLR(o, lambda n: 0.95), lambda o: schedules.MultiStepLR(o, [1, 3])]
for make in MAKERS:
    torch.manual_seed(0)
    first, second = nn.Linear(3, 4), nn.Linear(4, 1)
    optimizer = torch.optim.SGD([{"params": first.parameters()}, {"params": second.parameters(), "lr": 0.02}], lr=0.05, momentum=0.9)
    scheduler, rates = make(optimizer), []
    for step in range(6):
        loss = second(first(torch.randn(5, 3)).relu()).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step(*([loss] if isinstance(scheduler, schedules.ReduceLROnPlateau) else []))
        rates.append(optimizer.param_groups[1]["lr"])
        if step == 3:
            saved = scheduler.state_dict()
            scheduler.load_state_dict(saved)
            optimizer.load_state_dict(optimizer.state_dict())
    print(type(scheduler).__name__, loss.item().hex(), [r.hex() for r in rates])
