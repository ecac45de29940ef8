"""Training programs of other people, as a table: whose they are, how each is started on small made data, what is
changed in it. Nothing of theirs is kept in this repository; benchmarks/programs.py fetches and runs them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks import program_data as data

NANOGPT = "karpathy/nanoGPT@3adf61e154c3fe3fca428ad6bc3818b27a3b8291"
MINGPT = "karpathy/minGPT@37baab71b9abea1b76ab957409a1cc2fbfba8a26"
EXAMPLES = "pytorch/examples@77f55b912142e11fcfdf5b530231fb9c52f181e8"
CLEANRL = "vwxyzjn/cleanrl@fe8d8a03c41a7ef5b523e2e354bd01c363e786bb"
TIMM = "huggingface/pytorch-image-models@aa4b5850c1543fa488abf260f18390eda46cf85d"
OURS = "benchmarks/framework_programs.py"
GYMNASIUM = ("gymnasium<1.0", "tyro", "tensorboard")  # CleanRL reads `final_info` of before 1.0
TORCHVISION = ("torchvision==0.28.0",)  # the one that fits torch 2.13


@dataclass(frozen=True)
class Program:
    """One program. `{n}` in its arguments and edits is the length of a run, in what the program itself counts."""

    name: str
    kind: str  # language, vision, rl, other, framework
    source: str  # owner/name@commit on GitHub; empty: a script of ours over a framework of others
    script: str  # path in the source
    arguments: str  # `{n}` is the length of the run
    length: int  # of the short run; the long one is three times as long
    unit: str  # what a length counts
    make_data: Callable[[Path], None] = data.nothing  # writes into the folder where the program is started
    edits: tuple[tuple[str, str], ...] = ()  # pattern and replacement in the script
    shadowed: tuple[str, ...] = ()  # packages replaced by a stand-in, for downloads and drawings
    results: str = ""  # files whose text is compared too, as a glob
    packages: tuple[str, ...] = ()  # what it imports and this repository lacks, as pip is told

    @property
    def is_started_beside_its_script(self) -> bool:
        """Whether its folder is copied: what it reads and writes lies beside it, or the script is edited."""
        return self.source.startswith((NANOGPT, EXAMPLES))


PROGRAMS = (
    Program(
        "nanoGPT train.py",
        "language",
        NANOGPT,
        "train.py",
        "--device=cpu --dtype=float32 --compile=False --dataset=made --eval_interval=1000000 --eval_iters=1 "
        "--block_size=64 --batch_size=8 --n_layer=4 --n_head=4 --n_embd=128 --gradient_accumulation_steps=1 "
        "--warmup_iters=10 --max_iters={n}",
        100,
        "steps",
        data.token_files,
    ),
    Program(
        "minGPT adder",
        "language",
        MINGPT,
        "projects/adder/adder.py",
        "--trainer.max_iters={n} --trainer.num_workers=0 --trainer.device=cpu --system.work_dir=out",
        250,
        "steps",
    ),
    Program(
        "pytorch/examples word_language_model",
        "language",
        EXAMPLES,
        "word_language_model/main.py",
        "--data made --emsize 64 --nhid 64 --bptt 20 --batch_size 10 --lr 2 --log-interval 20 --epochs {n}",
        3,
        "epochs",
        data.word_files,
    ),
    Program(
        "pytorch/examples time_sequence_prediction",
        "other",
        EXAMPLES,
        "time_sequence_prediction/train.py",
        "--steps {n}",
        2,
        "calls of LBFGS",
        data.sine_waves,
        edits=((r"(traindata\.pt')", r"\1, weights_only=False"),),  # as written it needs torch < 2.6
        shadowed=("matplotlib",),
    ),
    Program(
        "pytorch/examples gcn",
        "other",
        EXAMPLES,
        "gcn/main.py",
        "--epochs {n}",
        100,
        "steps",
        data.citation_archive,
        shadowed=("requests",),
    ),
    Program(
        "pytorch/examples regression",
        "other",
        EXAMPLES,
        "regression/main.py",
        "",
        5000,
        "steps",
        edits=(
            (r"(?m)^POLY_DEGREE", "torch.manual_seed(0)\nPOLY_DEGREE"),
            (r"count\(1\)", "range(1, {n} + 1)"),
            (r"loss < 1e-3", "False"),
        ),
    ),
    Program(
        "pytorch/examples mnist_rnn",
        "vision",
        EXAMPLES,
        "mnist_rnn/main.py",
        "--epochs {n}",
        5,
        "epochs",
        data.digit_files,
        packages=TORCHVISION,
    ),
    Program(
        "pytorch/examples vae",
        "vision",
        EXAMPLES,
        "vae/main.py",
        "--epochs {n}",
        8,
        "epochs",
        data.digit_files,
        packages=TORCHVISION,
    ),
    Program(
        "pytorch/examples dcgan",
        "vision",
        EXAMPLES,
        "dcgan/main.py",
        "--dataset fake --workers 0 --manualSeed 1 --batchSize 16 --ngf 16 --ndf 16 --niter {n}",
        1,
        "epochs",
        packages=TORCHVISION,
    ),
    Program(
        "timm train.py",
        "vision",
        TIMM,
        "train.py",
        "made --model test_vit --num-classes 4 --img-size 64 -b 8 --device cpu --no-prefetcher --workers 1 --opt adamw "
        "--lr 1e-3 --warmup-epochs 0 --log-interval 5 --output out --experiment made --epochs {n}",
        3,
        "epochs",
        data.image_folders,
        results="out/made/summary.csv",
        packages=TORCHVISION,
    ),
    Program(
        "pytorch/examples reinforce",
        "rl",
        EXAMPLES,
        "reinforcement_learning/reinforce.py",
        "",
        40,
        "episodes",
        edits=((r"count\(1\)", "range(1, {n} + 1)"),),
        packages=GYMNASIUM,
    ),
    Program(
        "CleanRL ppo",
        "rl",
        CLEANRL,
        "cleanrl/ppo.py",
        "--total-timesteps {n}",
        8192,
        "steps of the environment",
        packages=GYMNASIUM,
    ),
    Program(
        "CleanRL dqn",
        "rl",
        CLEANRL,
        "cleanrl/dqn.py",
        "--total-timesteps {n} --learning-starts 500",
        5000,
        "steps of the environment",
        packages=GYMNASIUM,
    ),
    Program(
        "CleanRL sac",
        "rl",
        CLEANRL,
        "cleanrl/sac_continuous_action.py",
        "--env-id Pendulum-v1 --total-timesteps {n} --learning-starts 100 --buffer-size 10000",
        300,
        "steps of the environment",
        packages=GYMNASIUM,
    ),
    Program("transformers Trainer", "framework", "", OURS, "trainer {n}", 60, "steps"),
    Program("Lightning Trainer", "framework", "", OURS, "lightning {n}", 600, "steps"),
)
