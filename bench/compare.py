#!/usr/bin/env python3
"""Times our training step and PyTorch's, in turn, and prints both with their ratios.

    bench/compare.py --reference DIR [--python PYTHON] [--rounds 3]

DIR holds bench_step.py, the same network in PyTorch. Without --python a virtual environment is
made in bench/.venv, with PyTorch's CPU build. Needs Python 3.9 and its standard library.
README.md says what is measured, and how to read it.
"""

# Our side: run in the repository root with --d_model 192 --encoder_layers 8 ... --json, prints one JSON line.
OURS = "go run ./bench/step"

import argparse
import json
import os
import pathlib
import resource
import shlex
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent

# name -> model width, encoder and decoder layers, utterances, seconds each
CASES = {
    "192_2x8": (192, 8, 4, 2, 8),
    "256_2x8": (256, 12, 6, 2, 8),
    "192_8x4": (192, 8, 4, 8, 4),
    "192_2x30": (192, 8, 4, 2, 30),
}
# One utterance a process and one process a core: PyTorch's best way to use a machine (our side runs "192_2x8").
SIDE_BY_SIDE = (192, 8, 4, 1, 8)

# glibc told to keep its memory, OpenMP told not to spin: what makes the reference fastest.
TUNED = {
    "MALLOC_TRIM_THRESHOLD_": "4000000000",
    "MALLOC_MMAP_THRESHOLD_": "33554432",
    "MALLOC_TOP_PAD_": "64000000",
    "OMP_WAIT_POLICY": "PASSIVE",
}
# Removed from the reference's environment: some machines set these for old libraries, and they slow new ones.
REMOVED = ("OPENBLAS_", "OMP_", "MKL_", "GOTO_NUM_THREADS", "KMP_", "MALLOC_")

# What both sides must agree on for a comparison to be one.
SAME = ("d_model", "encoder_layers", "decoder_layers", "batch", "seconds", "tokens", "dropout", "precision", "parameters")


def main():
    options = parse()
    cores = sorted(os.sched_getaffinity(0))[:options.threads] if hasattr(os, "sched_getaffinity") else []
    if cores and len(cores) < options.threads:
        sys.exit(f"--threads {options.threads}, but this process may use {len(cores)} cores only")
    if cores:
        os.sched_setaffinity(0, cores)  # inherited by both sides: neither gets more cores than the other
    sides = {}
    if options.sides != "reference":
        sides["ours"] = (shlex.split(options.ours), dict(os.environ))
    if options.sides != "ours":
        # Both sides run in the repository root; abspath leaves the links of a virtual environment alone.
        python = os.path.abspath(options.python) if options.python and "/" in options.python else options.python or make_environment()
        environment = reference_environment(options.untuned)
        script = str(options.reference.resolve() / "bench_step.py")
        sides["torch"] = ([python, "-W", "ignore", script], environment)
        describe(python, environment)
    results = {name: {side: [] for side in sides} for name in options.cases}
    if "torch" in sides and not options.no_pair:
        results["pair"] = {"torch": []}
    if "ours" in sides:  # compiles; not measured
        run(*sides["ours"], arguments(CASES[options.cases[0]], 1, options))
    for r in range(options.rounds):
        for name, by_side in results.items():
            # Every other round begins with the other side, so that a drift of the machine favours none.
            for side in sorted(by_side, reverse=r % 2 == 1):
                if name == "pair":
                    result = run_pair(*sides[side], options)
                else:
                    own = ["--threads", str(options.threads)] if side == "torch" else []
                    result = run(*sides[side], arguments(CASES[name], options.steps, options) + own)
                by_side[side].append(result)
                progress(r, name, side, result)
                if options.log:
                    with open(options.log, "a", encoding="utf-8") as f:
                        f.write(json.dumps({"round": r + 1, "case": name, "side": side, **result}) + "\n")
    for name, by_side in results.items():
        if len(by_side) == 2:
            check_same(name, by_side["ours"][0], by_side["torch"][0])
    print_tables(results, options)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add = parser.add_argument
    add("--reference", type=pathlib.Path, help="folder with bench_step.py")
    add("--python", help="Python with torch and numpy (default: bench/.venv, made if absent)")
    add("--ours", default=OURS, help="command of our side (default: %(default)s)")
    add("--sides", choices=("both", "ours", "reference"), default="both", help="which to run (default: both)")
    add("--cases", default=",".join(CASES), help="some of %(default)s")
    add("--no-pair", action="store_true", help="leave out PyTorch's processes side by side")
    add("--rounds", type=int, default=3, help="times each case is run (default: %(default)s)")
    add("--steps", type=int, default=10, help="timed steps of a run (default: %(default)s)")
    add("--threads", type=int, default=2, help="cores that either side may use (default: %(default)s)")
    add("--dropout", type=float, default=0.1, help="(default: %(default)s)")
    add("--untuned", action="store_true", help="leave the reference's environment as it is")
    add("--log", help="append each run to this file, as JSON lines")
    options = parser.parse_args()
    options.cases = options.cases.split(",")
    unknown = [c for c in options.cases if c not in CASES]
    if unknown:
        parser.error(f"--cases: {', '.join(unknown)} not among {', '.join(CASES)}")
    if options.rounds < 1 or options.steps < 1 or options.threads < 1:
        parser.error("--rounds, --steps and --threads are 1 or more")
    if options.sides != "ours":
        if not options.reference:
            parser.error("--reference: which folder holds bench_step.py? (or choose --sides ours)")
        if not (options.reference / "bench_step.py").is_file():
            parser.error(f"--reference {options.reference}: no bench_step.py in it")
    return options


def make_environment():
    """bench/.venv with torch and numpy; returns its Python."""
    folder = HERE / ".venv"
    python = folder / "bin" / "python"
    if not python.exists() or subprocess.run([python, "-c", "import torch, numpy"], capture_output=True).returncode:
        print(f"installing PyTorch in {folder}, once", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        pip = [python, "-m", "pip", "install", "--quiet"]
        subprocess.run(pip + ["numpy"], check=True)
        cpu = pip + ["--retries", "1", "--index-url", "https://download.pytorch.org/whl/cpu", "torch"]
        if subprocess.run(cpu, stderr=subprocess.DEVNULL).returncode:
            print("PyTorch's own CPU index can't be reached; taking PyPI's build (with CUDA: the same CPU kernels, "
                  "gigabytes larger, and a few hundred MiB more in its peak RSS)", file=sys.stderr)
            subprocess.run(pip + ["torch"], check=True)
    return str(python)


def reference_environment(untuned):
    if untuned:
        return dict(os.environ)
    kept = {k: v for k, v in os.environ.items() if not k.startswith(REMOVED)}
    return {**kept, **TUNED}


def describe(python, environment):
    """Prints the machine and what PyTorch multiplies matrices with."""
    code = ("import torch; c = torch.__config__.show(); "
            "print('torch', torch.__version__, '| BLAS', c.split('BLAS_INFO=')[-1].split(',')[0], "
            "'| MKL' if torch.backends.mkl.is_available() else '| no MKL', '|', *[l.strip('- ') for l in c.split(chr(10)) if 'CPU capability' in l])")
    try:
        shown = subprocess.run([python, "-c", code], env=environment, capture_output=True, text=True)
    except OSError as err:
        sys.exit(f"--python {python}: {err}")
    if shown.returncode:
        sys.exit(f"{python} can't import torch: give --python one that can, or none to have one made\n{shown.stderr.strip()}")
    print(shown.stdout.strip())
    try:
        cpu = next(line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name"))
        print(f"{cpu}, {os.cpu_count()} cores")
    except (OSError, StopIteration):
        pass


def arguments(case, steps, options):
    d, encoder, decoder, batch, seconds = case
    return ["--d_model", str(d), "--encoder_layers", str(encoder), "--decoder_layers", str(decoder), "--batch", str(batch),
            "--seconds", str(seconds), "--dropout", str(options.dropout), "--steps", str(steps), "--json"]


def run(command, environment, flags):
    """One run of one side; its JSON line, and what else the machine did meanwhile."""
    busy = Busy()
    result = finish(start(command + flags, environment))
    return {**result, **busy.stop()}


def run_pair(command, environment, options):
    """One single-threaded process a core, beside each other."""
    busy = Busy()
    # More steps than otherwise: the processes overlap in all but the first and last moments.
    flags = arguments(SIDE_BY_SIDE, 3 * options.steps, options) + ["--threads", "1"]
    processes = [start(command + flags, environment) for _ in range(options.threads)]
    results = [finish(p) for p in processes]
    both = dict(results[0])
    both["audio_seconds_per_second"] = sum(r["audio_seconds_per_second"] for r in results)
    both["best_audio_seconds_per_second"] = sum(r["batch"] * r["seconds"] / r["min_s"] for r in results)
    both["peak_rss_mib"] = sum(r["peak_rss_mib"] for r in results)
    both["cpu_s_per_step"] = statistics.mean(r["cpu_s_per_step"] for r in results)
    both["median_s"] = statistics.mean(r["median_s"] for r in results)
    both["min_s"] = min(r["min_s"] for r in results)
    return {**both, **busy.stop()}


def start(command, environment):
    try:
        return subprocess.Popen(command, cwd=HERE.parent, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    except OSError as err:
        sys.exit(f"{shlex.join(command)}: {err}")


def finish(process):
    out, err = process.communicate()
    if process.returncode:
        sys.exit(f"{shlex.join(process.args)}\nexited with {process.returncode}:\n{err.strip()[-2000:]}")
    try:
        result = json.loads(out.strip().splitlines()[-1])
        for key in SAME + ("median_s", "min_s", "cpu_s_per_step", "audio_seconds_per_second", "peak_rss_mib"):
            result[key]
    except (IndexError, ValueError, KeyError, TypeError) as e:
        sys.exit(f"{shlex.join(process.args)}\nshould end with one line of JSON in the keys of bench_step.py ({type(e).__name__}: {e}), printed:\n{out.strip()[-1000:]}")
    return result


class Busy:
    """Measures how many cores were busy with other work: /proc/stat less our children (Linux; elsewhere unknown)."""

    def __init__(self):
        self.start = (time.monotonic(), self.machine(), self.children())

    @staticmethod
    def machine():
        try:
            with open("/proc/stat") as f:
                user, nice, system, _, _, irq, softirq, steal = map(int, f.readline().split()[1:9])
        except (OSError, ValueError):
            return None
        return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")

    @staticmethod
    def children():
        use = resource.getrusage(resource.RUSAGE_CHILDREN)
        return use.ru_utime + use.ru_stime

    def stop(self):
        wall, machine, children = self.start
        wall, children = time.monotonic() - wall, self.children() - children
        other = None if machine is None else max(0.0, (self.machine() - machine - children) / wall)
        return {"other_cores": other, "load": os.getloadavg()[0]}


def progress(r, name, side, result):
    other = result["other_cores"]
    print(f"round {r + 1}  {name:9s} {side:6s} median {result['median_s']:.3f}  min {result['min_s']:.3f}  "
          f"CPU {result['cpu_s_per_step']:.3f} s  others {'-' if other is None else format(other, '.2f')} cores", file=sys.stderr, flush=True)


def check_same(name, ours, torch):
    differ = [f"{k}: ours {ours[k]}, reference {torch[k]}" for k in SAME if ours[k] != torch[k]]
    if differ:
        sys.exit(f"{name}: the two sides did not do the same work, so their times can't be compared: " + "; ".join(differ))


def summary(runs):
    other = [r["other_cores"] for r in runs if r["other_cores"] is not None]
    return dict(
        median=statistics.median(r["median_s"] for r in runs),
        min=min(r["min_s"] for r in runs),
        cpu=statistics.median(r["cpu_s_per_step"] for r in runs),
        cpu_min=min(r["cpu_s_per_step"] for r in runs),
        rss=max(r["peak_rss_mib"] for r in runs),
        audio=statistics.median(r["audio_seconds_per_second"] for r in runs),
        best=max(r.get("best_audio_seconds_per_second", r["audio_seconds_per_second"] * r["median_s"] / r["min_s"]) for r in runs),
        other=statistics.median(other) if other else None,
    )


def print_tables(results, options):
    print(f"\n{options.rounds} rounds of {options.steps} steps, dropout {options.dropout:g}, {options.threads} cores, "
          f"reference {'untuned' if options.untuned else 'tuned'}\n")
    print("| case | side | median s | min s | CPU s median | CPU s min | audio s/s | best s/s | peak RSS MiB | others' cores |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    sums = {name: {side: summary(runs) for side, runs in by_side.items()} for name, by_side in results.items()}
    for name, by_side in sums.items():
        shown = f"{options.threads} processes, 192 1x8" if name == "pair" else name.replace("_", " ")
        for side, s in by_side.items():
            other = "-" if s["other"] is None else f"{s['other']:.2f}"
            print(f"| {shown} | {side} | {s['median']:.3f} | {s['min']:.3f} | {s['cpu']:.3f} | {s['cpu_min']:.3f} "
                  f"| {s['audio']:.1f} | {s['best']:.1f} | {s['rss']:.0f} | {other} |")
    if "ours" not in next(iter(sums.values())) or "torch" not in next(iter(sums.values())):
        return
    print("\nHow many times faster ours is (reference / ours; over 1 is faster), and its share of the reference's memory\n")
    print("| case | by median | by min | by CPU s | RSS ours / reference |")
    print("| --- | --- | --- | --- | --- |")
    for name, by_side in sums.items():
        if name != "pair":
            o, t = by_side["ours"], by_side["torch"]
            print(f"| {name.replace('_', ' ')} | {t['median'] / o['median']:.2f} | {t['min'] / o['min']:.2f} | {t['cpu'] / o['cpu']:.2f} | {o['rss'] / t['rss']:.2f} |")
    if "pair" in sums and "192_2x8" in sums:
        o, t = sums["192_2x8"]["ours"], sums["pair"]["torch"]
        print(f"| 192 2x8 against {options.threads} processes | {o['audio'] / t['audio']:.2f} | {o['best'] / t['best']:.2f} | "
              f"{CASES['192_2x8'][3] / SIDE_BY_SIDE[3] * t['cpu'] / o['cpu']:.2f} | {o['rss'] / t['rss']:.2f} |")


if __name__ == "__main__":
    main()
