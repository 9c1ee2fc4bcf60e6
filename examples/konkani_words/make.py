#!/usr/bin/env python3
"""Makes the bundled example corpus: 40 Konkani words spoken by 12 synthetic voices.

    python3 make.py              # writes wav/, train.jsonl, validation.jsonl, test.jsonl beside this file
    python3 make.py --out DIR    # the same into another folder
    python3 make.py --check      # makes it again in a temporary folder and compares it with what is here, byte for byte

Needs the espeak-ng program and Python's standard library, nothing else. Nothing is
random: resampling and levels are integer arithmetic, so one version of espeak-ng
gives the same bytes on every run. README.md says which version made the files here.
"""
import argparse
import array
import filecmp
import hashlib
import json
import math
import operator
import pathlib
import subprocess
import sys
import tempfile
import unicodedata
import wave

RATE = 16000        # of the corpus
SOURCE_RATE = 22050  # of espeak-ng's voices
LIMIT = 6_000_000   # bytes of audio files in the repository, at most
PEAK = 22937        # every file's largest sample: 0.7 of full scale

# Chosen by hand among the commonest words of Konkani prose: two to six letters,
# 37 different ones, sounds far enough apart to be told from each other.
WORDS = """
आनी आसा म्हाका खातीर करून हांव पूण जाय खूब चड
आयज उपरांत मंत्री दोन कितें मागीर सुरू तयार मुखेल लोक
काम थंय पांच तीन मेळटा भारत हजार गरज सात दीस
गोंय सेवा उदक दिल्ली निर्णय ल्हान बंद आठ शिक्षण बरें
""".split()

# One line a voice: name, split, variant (voice quality and formants), base pitch
# (0-99), words a minute. A voice is in one split only.
VOICES = [
    ("v01", "train", "m1", 34, 200),
    ("v02", "train", "m2", 58, 250),
    ("v03", "train", "m6", 20, 215),
    ("v04", "train", "m7", 66, 185),
    ("v05", "train", "f1", 50, 205),
    ("v06", "train", "f3", 34, 230),
    ("v07", "train", "f5", 68, 260),
    ("v08", "train", "klatt2", 46, 195),
    ("v09", "validation", "m4", 48, 225),
    ("v10", "validation", "belinda", 40, 190),
    ("v11", "test", "m3", 56, 190),
    ("v12", "test", "f2", 44, 255),
]
SPLITS = ("train", "validation", "test")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    here = pathlib.Path(__file__).resolve().parent
    parser.add_argument("--out", type=pathlib.Path, default=here, help="folder to write (default: this one)")
    parser.add_argument("--check", action="store_true", help="compare a fresh corpus with the one in --out; write nothing there")
    options = parser.parse_args()
    if not options.check:
        print(make(options.out))
        return
    with tempfile.TemporaryDirectory() as fresh:
        report = make(pathlib.Path(fresh))
        names = sorted(str(p.relative_to(fresh)) for p in pathlib.Path(fresh).rglob("*") if p.is_file())
        _, differ, missing = filecmp.cmpfiles(fresh, options.out, names, shallow=False)
        have = {str(p.relative_to(options.out)) for pattern in ("wav/*/*.wav", "*.jsonl") for p in options.out.glob(pattern)}
        extra = sorted(have - set(names))
    print(report)
    if differ or missing or extra:
        sys.exit(f"not the same: {len(differ)} differ {differ[:3]}, {len(missing)} missing {missing[:3]}, {len(extra)} extra {extra[:3]}; "
                 f"README.md names the espeak-ng that made the files, this one is {version()}")
    print(f"the same, byte for byte: {len(names)} files")


def make(out):
    """Writes the corpus into out and returns a one-paragraph report; stops on anything that makes it unfit."""
    for word in WORDS:
        if unicodedata.normalize("NFC", word) != word or not 2 <= len(word) <= 6:
            sys.exit(f"{word!r}: words are NFC and of two to six letters")
    if len(set(WORDS)) != 40 or len({tuple(v[2:]) for v in VOICES}) != 12:
        sys.exit("a word or a voice stands twice in the lists")
    taps = resampler_taps()
    lines = {split: [] for split in SPLITS}
    seen, lengths, tightest, size = {}, [], None, 0
    for number, (voice, split, variant, pitch, speed) in enumerate(VOICES):
        (out / "wav" / voice).mkdir(parents=True, exist_ok=True)
        for i, word in enumerate(WORDS):
            name = f"wav/{voice}/{i + 1:02d}.wav"
            # Small, fixed changes of pitch and speed, so that no two words of a voice share both.
            p = pitch + (7 * i + 3 * number) % 11 - 5
            s = speed + (5 * i + number) % 17 - 8
            samples = level(resample(trim(speak(word, variant, p, s)), taps))
            margin = headroom(samples, word)
            if margin < 0:
                sys.exit(f"{name}: {word} needs {-margin} more encoder frames at subsampling 4 than {len(samples)} samples give; lower the voice's speed")
            if tightest is None or margin < tightest[0]:
                tightest = (margin, name, word)
            write(out / name, samples)
            digest = hashlib.sha256(samples.tobytes()).digest()
            if digest in seen:
                sys.exit(f"{name} and {seen[digest]} are the same sound")
            seen[digest] = name
            lengths.append(len(samples))
            size += (out / name).stat().st_size
            lines[split].append(json.dumps(
                {"audio_filepath": name, "text": word, "duration": len(samples) / RATE}, ensure_ascii=False))
    for split in SPLITS:
        (out / f"{split}.jsonl").write_text("\n".join(lines[split]) + "\n", encoding="utf-8")
    if size > LIMIT:
        sys.exit(f"{size} bytes of audio, the limit is {LIMIT}: raise the voices' speed")
    return (f"{len(lengths)} files, {size} bytes, {sum(lengths) / RATE:.1f} s of audio "
            f"({min(lengths) / RATE:.2f} to {max(lengths) / RATE:.2f} s, mean {sum(lengths) / RATE / len(lengths):.3f} s); "
            f"every file has the encoder frames that CTC needs at subsampling 4, the tightest ({tightest[1]}, {tightest[2]}) "
            f"{tightest[0]} more than that; {version()}")


def version():
    """espeak-ng's own name and version."""
    return subprocess.run(["espeak-ng", "--version"], check=True, capture_output=True, text=True).stdout.split("  Data")[0].strip()


def speak(word, variant, pitch, speed):
    """One word as espeak-ng's Marathi voice says it: samples at SOURCE_RATE."""
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/word.wav"
        # -a 60: well below espeak-ng's usual 100, where some voices clip.
        subprocess.run(["espeak-ng", "-v", f"mr+{variant}", "-p", str(pitch), "-s", str(speed), "-a", "60", "-w", path, word], check=True)
        with wave.open(path) as w:
            if (w.getframerate(), w.getnchannels(), w.getsampwidth()) != (SOURCE_RATE, 1, 2):
                sys.exit(f"espeak-ng wrote {w.getparams()}, wanted {SOURCE_RATE} Hz, mono, 16 bits")
            samples = array.array("h", w.readframes(w.getnframes()))
    if sys.byteorder == "big":
        samples.byteswap()
    if max(map(abs, samples)) >= 32767:
        sys.exit(f"{word} by mr+{variant} clips in espeak-ng: choose another voice")
    return samples


def trim(samples):
    """Cuts the silence at both ends: what lies more than 10 ms outside the windows of 5 ms within 40 dB of the loudest one."""
    window, margin = SOURCE_RATE // 200, SOURCE_RATE // 100
    power = [sum(x * x for x in samples[i:i + window]) for i in range(0, len(samples), window)]
    loud = [i for i, e in enumerate(power) if e * 10000 >= max(power)]
    return samples[max(0, loud[0] * window - margin):(loud[-1] + 1) * window + margin]


def resampler_taps(half=24):
    """Windowed-sinc filters for 22050 -> 16000 Hz, one per phase, in units of 2**-20.

    16000/22050 = 320/441: output n lies at input position n*441/320. The filter cuts at
    7.6 kHz with a Blackman window of 2*half input samples; each phase sums to 2**20.
    """
    cutoff = 2 * 7600 / SOURCE_RATE
    phases = []
    for phase in range(320):
        taps = []
        for k in range(-half + 1, half + 1):
            x = k - phase / 320
            sinc = cutoff if x == 0 else math.sin(math.pi * cutoff * x) / (math.pi * x)
            w = 0.42 + 0.5 * math.cos(math.pi * x / half) + 0.08 * math.cos(2 * math.pi * x / half)
            taps.append(sinc * w)
        scale = 2 ** 20 / sum(taps)
        phases.append([round(t * scale) for t in taps])
    return phases


def resample(samples, phases):
    """samples at 16 kHz, in units of 2**-20 of a sample, as exact integers."""
    taps = len(phases[0])
    padded = [0] * (taps // 2 - 1) + list(samples) + [0] * (taps // 2 + 1)
    out = []
    for n in range(len(samples) * 320 // 441):
        at, phase = divmod(n * 441, 320)
        out.append(sum(map(operator.mul, padded[at:at + taps], phases[phase])))
    return out


def level(values):
    """Scales to a largest sample of PEAK, rounded to 16 bits; a ratio of integers, so without rounding doubts."""
    top = max(map(abs, values))
    return array.array("h", [(2 * v * PEAK + top) // (2 * top) for v in values])


def headroom(samples, word):
    """Encoder frames at subsampling 4 less those that CTC needs: one a letter, and one between equal neighbours."""
    frames = (len(samples) + 80) // 160
    for _ in range(2):
        frames = (frames + 1) // 2
    return frames - len(word) - sum(a == b for a, b in zip(word, word[1:]))


def write(path, samples):
    if sys.byteorder == "big":
        samples = array.array("h", samples)
        samples.byteswap()
    with wave.open(str(path), "wb") as w:
        w.setnchannels(1)
        w.setsampwidth(2)
        w.setframerate(RATE)
        w.writeframes(samples.tobytes())


if __name__ == "__main__":
    main()
