"""Trains in the kind of loop that is named; after update 13 a weight is NaN. Prints the state after each update."""

import hashlib
import sys
import tempfile
import warnings

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
SPOILED_AFTER, UPDATES = 13, 24


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Dropout(0.2), nn.Tanh(), nn.Linear(8, 1))

    def forward(self, x):
        return {"loss": (self.net(x) - x.sum(1, keepdim=True)).square().mean()}


class Told:
    """Prints what an update has left, and spoils one."""

    def __init__(self):
        self.updates = 0

    def update_is_over(self, model, optimizer, scaler=None):
        if scaler is not None:
            print("scale", scaler.get_scale())
        optimizer = getattr(optimizer, "optimizer", optimizer)
        moments = [optimizer.state[p] for p in model.parameters()]
        tensors = [*model.state_dict().values(), *(v for s in moments for v in s.values())]
        state = b"".join(t.detach().cpu().numpy().tobytes() for t in tensors)
        print("state", self.updates, hashlib.sha256(state).hexdigest())
        self.updates += 1
        if self.updates == SPOILED_AFTER:
            with torch.no_grad():
                next(model.parameters())[0, 0] = float("nan")


def rows():
    torch.manual_seed(0)
    return torch.randn(8 * UPDATES, 4)


def amp(told, batch=8, accumulate=1):
    model = Net()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    scaler = torch.amp.GradScaler("cpu", init_scale=256.0, growth_interval=3)
    for number, (x,) in enumerate(DataLoader(TensorDataset(rows()), batch_size=batch)):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = model(x)["loss"] / accumulate
        scaler.scale(loss).backward()
        if number % accumulate == accumulate - 1:
            scaler.unscale_(optimizer)
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
            told.update_is_over(model, optimizer, scaler)


def accumulation(told):
    amp(told, batch=2, accumulate=4)


def lightning(told):
    import lightning.pytorch as pl

    class Lit(pl.LightningModule):
        def __init__(self):
            super().__init__()
            self.model = Net()

        def training_step(self, batch, index):
            return self.model(batch[0])["loss"]

        def configure_optimizers(self):
            return torch.optim.AdamW(self.parameters(), lr=1e-2)

        def on_train_batch_end(self, outputs, batch, index):
            told.update_is_over(self.model, self.optimizers())

    quiet = {"logger": False, "enable_checkpointing": False, "enable_progress_bar": False}
    trainer = pl.Trainer(max_epochs=1, accelerator="cpu", enable_model_summary=False, **quiet)
    trainer.fit(Lit(), DataLoader(TensorDataset(rows()), batch_size=8))


def trainer(told):
    from transformers import Trainer, TrainerCallback, TrainingArguments

    class Tells(TrainerCallback):
        def on_step_end(self, args, state, control, model=None, optimizer=None, **more):
            told.update_is_over(model, optimizer)

    data = [{"x": row} for row in rows()]
    where = tempfile.mkdtemp()
    options = {"report_to": [], "save_strategy": "no", "disable_tqdm": True, "use_cpu": True}
    told_to = TrainingArguments(where, per_device_train_batch_size=8, num_train_epochs=1, **options)
    Trainer(Net(), told_to, train_dataset=data, callbacks=[Tells()]).train()


def accelerate(told):
    from accelerate import Accelerator

    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2, momentum=0.9)
    loader = DataLoader(TensorDataset(rows()), batch_size=4)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for (x,) in loader:
        with accelerator.accumulate(model):
            accelerator.backward(model(x)["loss"])
            optimizer.step()
            optimizer.zero_grad()
        if accelerator.sync_gradients:
            told.update_is_over(model, optimizer)


told = Told()
globals()[sys.argv[1]](told)
