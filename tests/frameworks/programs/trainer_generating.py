"""Seq2SeqTrainer that generates in its evaluation, plain and with gradient checkpointing of both kinds, on a small T5."""

import tempfile

import numpy as np
import torch
from transformers import PrinterCallback, Seq2SeqTrainer, Seq2SeqTrainingArguments, T5Config, T5ForConditionalGeneration, TrainerCallback, set_seed


class Reversed(torch.utils.data.Dataset):
    def __init__(self, n, seed):
        self.ids = torch.randint(2, 30, (n, 7), generator=torch.Generator().manual_seed(seed))

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, i):
        return {"input_ids": self.ids[i], "attention_mask": torch.ones(7, dtype=torch.long), "labels": self.ids[i].flip(0)}


class Printer(TrainerCallback):
    def on_log(self, args, state, control, logs=None, **kwargs):
        print(state.global_step, {name: float(v).hex() for name, v in sorted(logs.items()) if name in ("loss", "grad_norm", "eval_loss", "eval_equal")})


def equal(prediction):
    width = min(prediction.predictions.shape[1], prediction.label_ids.shape[1])
    return {"equal": float(np.mean(prediction.predictions[:, :width] == prediction.label_ids[:, :width]))}


def run(folder, **more):
    set_seed(6)
    config = T5Config(vocab_size=30, d_model=16, d_kv=8, d_ff=32, num_layers=2, num_heads=2, decoder_start_token_id=0, dropout_rate=0.1)
    args = Seq2SeqTrainingArguments(output_dir=folder, max_steps=4, per_device_train_batch_size=4, gradient_accumulation_steps=2, learning_rate=1e-2,
                                    predict_with_generate=True, generation_max_length=9, generation_num_beams=2, logging_steps=2, eval_strategy="steps",
                                    eval_steps=2, save_strategy="no", report_to=[], disable_tqdm=True, use_cpu=True, seed=3, **more)
    trainer = Seq2SeqTrainer(model=T5ForConditionalGeneration(config), args=args, train_dataset=Reversed(64, 1), eval_dataset=Reversed(8, 2),
                             compute_metrics=equal, callbacks=[Printer()])
    trainer.remove_callback(PrinterCallback)
    trainer.train()
    print(sum(p.double().sum().item() for p in trainer.model.parameters()).hex())


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        run(folder)
        for reentrant in (True, False):
            run(folder, gradient_checkpointing=True, gradient_checkpointing_kwargs={"use_reentrant": reentrant})
