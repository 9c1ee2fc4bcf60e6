#!/usr/bin/env bash
# Tries recipes for learning from little speech: bench/README.md says on what, and what it writes. Start it from the
# repository's root.
#
#   bench/learn.sh --recordings DIR [--sentences DIR] [--tasks a,b] [--recipes a,b] [--seeds 1,2,3] [--out runs/learn]
#   bench/learn.sh --help
#
# It builds the program that trains, unless KONKANITRAIN names one.
set -euo pipefail
[ -d bench/learn ] || { echo "start it from the repository's root" >&2; exit 2; }
go build -o runs/bin/ ./bench/learn
if [ -z "${KONKANITRAIN:-}" ]; then
  go build -buildvcs=auto -o runs/bin/ ./cmd/konkanitrain
  export KONKANITRAIN=runs/bin/konkanitrain
fi
exec runs/bin/learn "$@"
