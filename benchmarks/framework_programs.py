"""Two plain runs over frameworks of others, started by benchmarks/programs.py: `framework_programs.py trainer|lightning
STEPS`. Each prints its losses."""

from __future__ import annotations

import sys
import tempfile
import warnings
from typing import Any

import torch
from torch import nn


class Rows(torch.utils.data.Dataset[dict[str, torch.Tensor]]):
    """Sequences whose next token is mostly one more than the last."""

    def __init__(self, rows: int) -> None:
        start = torch.randint(0, 64, (rows, 1), generator=torch.Generator().manual_seed(1))
        self.ids = (start + torch.arange(48)) % 64

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, index: int) -> dict[str, torch.Tensor]:
        return {"input_ids": self.ids[index], "labels": self.ids[index]}


def trainer(steps: int, folder: str) -> None:
    """Train a small GPT-2 with the Trainer of transformers."""
    from transformers import GPT2Config, GPT2LMHeadModel, PrinterCallback, Trainer, TrainingArguments, set_seed

    set_seed(3)
    model = GPT2LMHeadModel(GPT2Config(vocab_size=64, n_positions=64, n_embd=96, n_layer=3, n_head=4))
    arguments = TrainingArguments(
        output_dir=folder,
        max_steps=steps,
        per_device_train_batch_size=8,
        logging_steps=10,
        save_strategy="no",
        report_to=[],
        disable_tqdm=True,
        use_cpu=True,
        seed=3,
    )
    run = Trainer(model=model, args=arguments, train_dataset=Rows(512))
    run.remove_callback(PrinterCallback)  # it prints times
    run.train()
    for row in run.state.log_history:
        print(row["step"], row.get("loss"), row.get("grad_norm"))


def lightning(steps: int, folder: str) -> None:
    """Train a small classifier with the Trainer of Lightning."""
    import lightning as framework

    class Classifier(framework.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.net = nn.Sequential(
                nn.Linear(64, 128), nn.BatchNorm1d(128), nn.ReLU(), nn.Dropout(0.1), nn.Linear(128, 10)
            )

        def training_step(self, batch: Any, index: int) -> torch.Tensor:
            loss = nn.functional.cross_entropy(self.net(batch[0]), batch[1])
            if index % 10 == 0:
                print(index, float(loss))
            return loss

        def configure_optimizers(self) -> torch.optim.Optimizer:
            return torch.optim.AdamW(self.parameters(), lr=1e-3)

    framework.seed_everything(2, verbose=False)
    x = torch.randn(2048, 64)
    data = torch.utils.data.TensorDataset(x, x[:, :10].argmax(1))
    run = framework.Trainer(
        accelerator="cpu",
        max_steps=steps,
        logger=False,
        default_root_dir=folder,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    run.fit(Classifier(), torch.utils.data.DataLoader(data, batch_size=64, shuffle=True))


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    with tempfile.TemporaryDirectory() as written:
        {"trainer": trainer, "lightning": lightning}[sys.argv[1]](int(sys.argv[2]), written)
