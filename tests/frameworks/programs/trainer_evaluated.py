"""The transformers Trainer with a real small BERT: accumulation, clipping, evaluation, metrics, checkpoint, resume."""
import tempfile

import numpy as np
import torch
from transformers import BertConfig, BertForSequenceClassification, PrinterCallback, Trainer, TrainerCallback, TrainingArguments, set_seed


class Rows(torch.utils.data.Dataset):
    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.ids = torch.randint(1, 60, (n, 12), generator=g)

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, i):
        return {"input_ids": self.ids[i], "attention_mask": torch.ones(12, dtype=torch.long), "labels": int(self.ids[i, 0] % 2)}


class Printer(TrainerCallback):
    def on_log(self, args, state, control, logs=None, **kwargs):
        shown = {"loss", "grad_norm", "eval_loss", "eval_accuracy"}
        print(state.global_step, {name: float(value).hex() for name, value in sorted(logs.items()) if name in shown})


def accuracy(prediction):
    return {"accuracy": float((np.argmax(prediction.predictions, -1) == prediction.label_ids).mean())}


def trainer(folder, steps):
    config = BertConfig(vocab_size=60, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32, max_position_embeddings=16)
    args = TrainingArguments(output_dir=folder, max_steps=steps, per_device_train_batch_size=4, gradient_accumulation_steps=2, max_grad_norm=1.0,
                             logging_steps=2, eval_strategy="steps", eval_steps=3, save_strategy="steps", save_steps=3, report_to=[],
                             disable_tqdm=True, use_cpu=True, seed=3)
    made = Trainer(model=BertForSequenceClassification(config), args=args, train_dataset=Rows(64, 1), eval_dataset=Rows(16, 2), compute_metrics=accuracy,
                   callbacks=[Printer()])
    made.remove_callback(PrinterCallback)
    return made


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        set_seed(3)
        trainer(folder, 3).train()
        trainer(folder, 6).train(resume_from_checkpoint=True)
