#!/usr/bin/env bash
# How time and memory of a training step grow with the length of the utterances: batches of two, optimized size.
#
#   bench/lengths.sh [options of bench/step]
set -euo pipefail
cd "$(dirname "$0")/.."
step=$(mktemp)
trap 'rm -f "$step"' EXIT
go build -o "$step" ./bench/step
for seconds in 5 10 20 30 60; do
  printf '%3d s: ' "$seconds"
  "$step" --batch 2 --seconds "$seconds" --steps 5 "$@"
done
