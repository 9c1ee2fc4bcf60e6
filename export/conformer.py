"""A speech recognizer that konkanitrain has trained, in PyTorch.

    python conformer.py one.wav two.wav      # prints what is said in each

    model = load(".")                        # the folder with config.json and model.safetensors
    features = model.features(samples)       # a tensor of sound from -1 to 1 at model.sample_rate -> [frames, bins]
    logits, lengths = model(features[None], torch.tensor([len(features)]))
    print(model.text(logits[0, : lengths[0]]))

Needs Python 3.8 and PyTorch 1.13, and nothing else. Dropout and losses are left out: a network that is to be trained on
needs both.
"""

import json
import math
import struct
import sys
import unicodedata
import wave
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F

BLANK, SOS, UNKNOWN = 0, 1, 2  # the first tokens of every vocabulary
EPS = 1e-5


def subsampled(n, factor):
    """How many frames are left of n (a number or a tensor): halved, rounded up, until factor is used up."""
    while factor > 1:
        n, factor = (n + 1) // 2, factor // 2
    return n


def own(lengths, size):
    """[B, size], true where a frame is one of the utterance."""
    return torch.arange(size, device=lengths.device)[None, :] < lengths[:, None]


def heads(x, n):
    """[B, T, d] -> [B, n, T, d/n]"""
    return x.unflatten(2, (n, -1)).transpose(1, 2)


def sinusoid(r, d):
    """The positions r as rows of d: sine and cosine in turn."""
    m = torch.arange(d // 2, dtype=torch.float64, device=r.device)
    angle = r[:, None].double() * 10000 ** (-2 * m / d)
    return torch.stack([angle.sin(), angle.cos()], dim=2).flatten(1)


class Module(nn.Module):
    """Named parts and parameters: Module(a=..., b=...). Names that are numbers make a list."""

    def __init__(self, **parts):
        super().__init__()
        for name, part in parts.items():
            if isinstance(part, torch.Tensor):
                part = nn.Parameter(part)
            setattr(self, name, part)


def parts(n, make):
    return nn.ModuleDict({str(i): make(i) for i in n})


def feed_forward(d):
    return Module(norm=nn.LayerNorm(d, EPS), up=nn.Linear(d, 4 * d), down=nn.Linear(4 * d, d))


def attention(d, **more):
    linears = {name: nn.Linear(d, d) for name in ("query", "key", "value", "out")}
    return Module(norm=nn.LayerNorm(d, EPS), **linears, **more)


def run_feed_forward(m, x):
    return m.down(F.silu(m.up(m.norm(x))))


class Conformer(nn.Module):
    """Encoder, CTC head and, where the model has one, attention decoder. Parameters have the names of the file."""

    def __init__(self, config):
        super().__init__()
        self.config = c = config["network"]
        self.sound = config["features"]
        self.sample_rate = self.sound["sample_rate"]
        self.tokens, self.space = config["tokens"], config["space"]
        d, n, k, channels = c["d_model"], c["heads"], c["conv_kernel"], c["subsample_channels"]
        stages = c["subsampling"].bit_length() - 1
        bins = c["num_mels"]
        for _ in range(stages):
            bins = (bins + 1) // 2
        conv = lambda i: nn.Conv2d(1 if i == 0 else channels, channels, 3, 2, 1, groups=1 if i == 0 else channels)
        subsample = Module(conv=parts([0], conv), proj=nn.Linear(channels * bins, d))
        if stages > 1:
            subsample.depthwise = parts(range(1, stages), conv)
            subsample.pointwise = parts(range(1, stages), lambda _: nn.Linear(channels, channels))

        def encoder_block(_):
            biases = dict(bias_u=torch.zeros(n, d // n), bias_v=torch.zeros(n, d // n))
            depthwise = Module(weight=torch.zeros(d, k), bias=torch.zeros(d))
            convolution = Module(norm=nn.LayerNorm(d, EPS), up=nn.Linear(d, 2 * d), depthwise=depthwise,
                                 mid_norm=nn.LayerNorm(d, EPS), down=nn.Linear(d, d))
            return Module(ffn1=feed_forward(d), attn=attention(d, pos=nn.Linear(d, d, bias=False), **biases),
                          conv=convolution, ffn2=feed_forward(d), norm=nn.LayerNorm(d, EPS))

        self.encoder = Module(subsample=subsample, blocks=parts(range(c["encoder_layers"]), encoder_block))
        self.ctc = nn.Linear(d, c["vocab"])
        if c["decoder_layers"]:
            block = lambda _: nn.ModuleDict({"self": attention(d), "cross": attention(d), "ffn": feed_forward(d)})
            self.decoder = Module(embed=nn.Embedding(c["vocab"], d), blocks=parts(range(c["decoder_layers"]), block),
                                  norm=nn.LayerNorm(d, EPS), out=nn.Linear(d, c["vocab"]))

    def encode(self, x, lengths):
        """Features [B, T, bins], of which lengths [B] are each utterance's own -> [B, S, d] and lengths [B]."""
        lengths = torch.minimum(lengths, torch.as_tensor(x.shape[1]))
        x = self.subsample(x, lengths)
        lengths = subsampled(lengths, self.config["subsampling"])
        mask = own(lengths, x.shape[1])
        s = x.shape[1]
        positions = sinusoid(torch.arange(s - 1, -s, -1, device=x.device), x.shape[2]).to(x.dtype)
        for block in self.encoder.blocks.values():
            x = x + 0.5 * run_feed_forward(block.ffn1, x)
            x = x + self.relative_attention(block.attn, x, positions, mask)
            x = x + self.convolution(block.conv, x, mask)
            x = x + 0.5 * run_feed_forward(block.ffn2, x)
            x = block.norm(x)
        return x, lengths

    def forward(self, x, lengths):
        """Features [B, T, bins], lengths [B] -> logits [B, S, V] of the CTC head and lengths [B]."""
        x, lengths = self.encode(x, lengths)
        return self.ctc(x), lengths

    def subsample(self, x, lengths):
        m = self.encoder.subsample
        cut = lambda x: torch.where(own(lengths, x.shape[2])[:, None, :, None], x, x.new_zeros(()))
        x = F.relu(m.conv["0"](cut(x[:, None])))  # [B, C, T, F]
        if hasattr(m, "depthwise"):
            for i, depthwise in m.depthwise.items():
                lengths = (lengths + 1) // 2
                x = depthwise(cut(x))
                x = F.relu(m.pointwise[i](x.permute(0, 2, 3, 1))).permute(0, 3, 1, 2)
        return m.proj(x.transpose(1, 2).flatten(2))

    def relative_attention(self, m, x, positions, mask):
        """Self-attention with relative positions (Dai et al. 2019, section 3.3)."""
        n, s = self.config["heads"], x.shape[1]
        x = m.norm(x)
        q, k, v = m.query(x).unflatten(2, (n, -1)), heads(m.key(x), n), heads(m.value(x), n)
        p = heads(m.pos(positions)[None], n)
        content = (q + m.bias_u).transpose(1, 2) @ k.transpose(2, 3)
        position = (q + m.bias_v).transpose(1, 2) @ p.transpose(2, 3)  # column c is the distance s-1-c
        i = torch.arange(s, device=x.device)
        position = position.gather(3, (s - 1 - i[:, None] + i[None, :]).expand(*position.shape[:2], s, s))
        score = ((content + position) / math.sqrt(k.shape[3])).masked_fill(~mask[:, None, None, :], -1e30)
        y = (score.softmax(3) @ v).transpose(1, 2).flatten(2)
        return m.out(torch.where(mask[:, :, None], y, y.new_zeros(())))

    def convolution(self, m, x, mask):
        x = F.glu(m.up(m.norm(x)), 2)
        x = torch.where(mask[:, :, None], x, x.new_zeros(()))
        w = m.depthwise.weight
        x = F.conv1d(x.transpose(1, 2), w[:, None], m.depthwise.bias, padding=w.shape[1] // 2, groups=len(w)).transpose(1, 2)
        return m.down(F.silu(m.mid_norm(x)))

    def decode(self, encoded, lengths, targets):
        """What encode gives, and targets [B, U] -> logits [B, U+1, V]: of each token, those before it being known."""
        m, n, d = self.decoder, self.config["heads"], self.config["d_model"]
        targets = F.pad(targets, (1, 0), value=SOS)
        steps = targets.shape[1]
        x = math.sqrt(d) * m.embed(targets) + sinusoid(torch.arange(steps, device=encoded.device), d).to(encoded.dtype)
        earlier = torch.ones(steps, steps, dtype=torch.bool, device=encoded.device).tril()[None, None]
        heard = own(lengths, encoded.shape[1])[:, None, None, :]

        def attend(a, x, memory, mask):
            q, k, v = heads(a.query(x), n), heads(a.key(memory), n), heads(a.value(memory), n)
            score = (q @ k.transpose(2, 3) / math.sqrt(k.shape[3])).masked_fill(~mask, -1e30)
            return a.out((score.softmax(3) @ v).transpose(1, 2).flatten(2))

        for block in m.blocks.values():
            y = block["self"].norm(x)
            x = x + attend(block["self"], y, y, earlier)
            x = x + attend(block["cross"], block["cross"].norm(x), encoded, heard)
            x = x + run_feed_forward(block["ffn"], x)
        return m.out(m.norm(x))

    def features(self, samples):
        """Sound [N] from -1 to 1 at self.sample_rate -> what the network hears, [frames, bins]."""
        s = self.sound
        size, shift = s["sample_rate"] * s["window_ms"] // 1000, s["sample_rate"] // 100
        points = 1 << max(3, (size - 1).bit_length())
        x = samples.double()
        frames = (len(x) + shift // 2) // shift
        if frames == 0:
            return torch.zeros(0, s["num_mels"])
        at = torch.arange(frames)[:, None] * shift + shift // 2 - size // 2 + torch.arange(size)[None, :]
        at = at % (2 * len(x))  # mirrored at both ends
        x = x[torch.minimum(at, 2 * len(x) - 1 - at)]
        x = x - x.mean(1, keepdim=True)
        x = x - s["preemphasis"] * torch.cat([x[:, :1], x[:, :-1]], dim=1)
        hann = 0.5 - 0.5 * torch.cos(2 * math.pi * torch.arange(size, dtype=torch.float64) / (size - 1))
        power = torch.fft.rfft(x * hann**0.85 * s["sample_scale"], points).abs() ** 2
        mel = lambda hz: 1127 * torch.log1p(torch.as_tensor(hz, dtype=torch.float64) / 700)
        low, high = mel(s["low_hz"]), mel(s["high_hz"])
        edges = low + (high - low) / (s["num_mels"] + 1) * torch.arange(s["num_mels"] + 2, dtype=torch.float64)
        hz = mel(torch.arange(points // 2 + 1) * (s["sample_rate"] / points))[:, None]
        left, center, right = edges[:-2], edges[1:-1], edges[2:]
        triangles = torch.minimum((hz - left) / (center - left), (right - hz) / (right - center)).clamp(min=0)
        triangles[-1] = 0  # the Nyquist frequency has no weight
        x = (power @ triangles).clamp(min=s["log_floor"]).log()
        if s["normalize"] == "utterance":
            deviation = x.var(0, unbiased=False).sqrt().clamp(min=s["deviation_floor"])
            x = (x - x.mean(0)) / deviation
        elif s["normalize"] == "global":
            x = (x - torch.tensor(s["mean"], dtype=torch.float64)) / torch.tensor(s["deviation"], dtype=torch.float64)
        return x.float()

    def text(self, logits):
        """The best path through logits [S, V]: repeats merged, blanks dropped."""
        ids = [i for i in logits.argmax(1).unique_consecutive().tolist() if i != BLANK]
        text, held = "", b""
        for token in [self.tokens[i] if i != SOS else "" for i in ids]:
            if len(token) == 6 and token.startswith("<0x"):  # a byte of a letter
                held += bytes([int(token[3:5], 16)])
                continue
            text, held = text + held.decode(errors="replace") + token.replace(self.space, " "), b""
        return unicodedata.normalize("NFC", " ".join((text + held.decode(errors="replace")).split()))


def read_safetensors(path):
    """The tensors of a file by name, all float32."""
    data = Path(path).read_bytes()
    start = 8 + struct.unpack("<Q", data[:8])[0]
    tensors = {}
    for name, t in json.loads(data[8:start]).items():
        if name != "__metadata__":
            if t["dtype"] != "F32":
                raise ValueError(f"{path}: {name} is {t['dtype']}, want F32")
            begin, end = t["data_offsets"]
            tensors[name] = torch.frombuffer(bytearray(data[start + begin : start + end]), dtype=torch.float32).reshape(t["shape"])
    return tensors


def load(folder):
    """The model in a folder, ready to be used."""
    folder = Path(folder)
    model = Conformer(json.loads((folder / "config.json").read_text(encoding="utf-8")))
    model.load_state_dict(read_safetensors(folder / "model.safetensors"), strict=True)
    return model.eval()


def read_wav(path, rate):
    """Sound of a WAV file of 16 bits, [N]: the mean of its channels."""
    with wave.open(path) as w:
        if w.getsampwidth() != 2 or w.getframerate() != rate:
            raise ValueError(f"{path}: {8 * w.getsampwidth()} bits at {w.getframerate()} Hz, want 16 bits at {rate} Hz")
        sound = w.readframes(w.getnframes())
        if not sound:
            return torch.zeros(0)
        data = torch.frombuffer(bytearray(sound), dtype=torch.int16)
        return data.reshape(-1, w.getnchannels()).float().mean(1) / 32768


def main(files):
    if not files:
        sys.exit("usage: python conformer.py FILE.wav ...")
    model, failed = load(Path(__file__).parent), 0
    for path in files:
        try:
            features = model.features(read_wav(path, model.sample_rate))
        except (OSError, EOFError, ValueError, wave.Error) as e:
            print(f"{path}: {e or type(e).__name__}" if str(path) not in str(e) else e, file=sys.stderr)
            failed += 1
            continue
        text = ""  # of less than a frame
        if len(features) > 0:
            with torch.no_grad():
                logits, lengths = model(features[None], torch.tensor([len(features)]))
            text = model.text(logits[0, : lengths[0]])
        print(path, text, sep="\t")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
