"""Writes forced_align.json: what torchaudio's forced_align makes of 100 utterances.

    python3 -m venv venv && venv/bin/pip install torch==2.8.0 torchaudio==2.8.0 numpy && venv/bin/python make.py

Logits are made of a seed by a rule that Go's test has as well; the tokens, and what came out, are written down.
"""
import json
import os

import torch
from torchaudio.functional import forced_align, merge_tokens


def numbers(seed):
    x = seed
    while True:
        x = (x * 1103515245 + 12345) % 2**31
        yield x >> 8


def case(seed):
    draw = numbers(seed)
    v = 2 + next(draw) % 30
    tokens = [1 + next(draw) % (v - 1) for _ in range(1 + next(draw) % 40)]
    least = len(tokens) + sum(a == b for a, b in zip(tokens, tokens[1:]))
    frames = least + next(draw) % 80  # some utterances have no frame to spare
    logits = torch.tensor([[next(draw) % 4096 / 512 for _ in range(v)] for _ in range(frames)], dtype=torch.float64)
    log_probs = logits.log_softmax(-1).float()
    path, scores = forced_align(log_probs[None], torch.tensor([tokens]), blank=0)
    spans = merge_tokens(path[0], scores[0])
    return {
        "seed": seed,
        "frames": frames,
        "v": v,
        "tokens": tokens,
        "starts": [s.start for s in spans],
        "ends": [s.end for s in spans],
        "log_prob": scores[0].double().sum().item(),
    }


here = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(here, "forced_align.json"), "w") as f:
    f.write("[\n" + ",\n".join(json.dumps(case(seed)) for seed in range(1, 101)) + "\n]\n")
