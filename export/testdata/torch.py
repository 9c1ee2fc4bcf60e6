"""Runs an export's conformer.py: a question as JSON on standard input, its features, logits and texts on standard output."""

import base64
import importlib.util
import json
import struct
import sys

import torch

q = json.load(sys.stdin)
spec = importlib.util.spec_from_file_location("conformer", q["folder"] + "/conformer.py")
conformer = importlib.util.module_from_spec(spec)
spec.loader.exec_module(conformer)
model = conformer.load(q["folder"])


def decode(a):
    types = {"<f4": torch.float32, "<i8": torch.int64}
    return torch.frombuffer(bytearray(base64.b64decode(a["data"])), dtype=types[a["type"]]).reshape(a["shape"])


def encode(x):
    x = x.detach().contiguous()
    kind = {torch.float32: "<f4", torch.int64: "<i8"}[x.dtype]
    return {"type": kind, "shape": list(x.shape), "data": base64.b64encode(struct.pack(f"<{x.numel()}{kind[1].replace('i', 'q')}", *x.flatten().tolist())).decode()}


with torch.no_grad():
    features, lengths, targets = decode(q["features"]), decode(q["lengths"]), decode(q["targets"])
    logits, frames = model(features, lengths)
    answer = {"logits": encode(logits), "frames": encode(frames), "texts": [model.text(x[:n]) for x, n in zip(logits, frames)]}
    if model.config["decoder_layers"]:
        answer["decoder"] = encode(model.decode(*model.encode(features, lengths), targets))
    answer["extracted"] = [encode(model.features(decode(w))) for w in q["waves"]]
json.dump(answer, sys.stdout)
