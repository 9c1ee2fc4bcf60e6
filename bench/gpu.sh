#!/usr/bin/env bash
# Checks and measures konkanitrain on a machine with an NVIDIA card and without Go. Each part has a time limit, six
# minutes in all.
#
#   bench/gpu.sh pack FILE.tar.gz     here: builds the program and the tests, and packs them with what they read
#   tar xzf FILE.tar.gz               there
#   konkanitrain-gpu-check/gpu.sh run [--python PYTHON]
#
# What it does there: every op on the card against its specification; updates against those of the CPU and of PyTorch's
# recorded ones; a run on the bundled example beside the same run on the CPU; then times and memory of training steps,
# in turn with the same network in PyTorch where PYTHON has torch; the share of what the card can do, by operation; and
# a run in the memory of a T4. It prints a table, and with OUT set writes it and all logs there. The exit code is 1
# where something is wrong.
#
#   --driver FILE --blas FILE   another driver than the system's, such as the simulated one of the tests
#   --short                     a little of each part, for trying the script itself
set -euo pipefail

usage() {
  sed -n '2,/^set/s/^# \{0,1\}//p' "$0"
  exit 2
}

# pack FILE: everything that run needs.
pack() {
  local archive=$1 root name=konkanitrain-gpu-check work
  root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
  work=$(mktemp -d)
  # shellcheck disable=SC2064 # the folder of now is meant
  trap "rm -rf '$work'" EXIT
  mkdir -p "$work/$name/repository/configs"
  cd "$root"
  eval "$(go run ./device/cuda/gencuda)"
  local small="-s -w"
  go build -trimpath -ldflags "$small" -tags gpu -o "$work/$name/konkanitrain-gpu" ./cmd/konkanitrain
  go build -trimpath -ldflags "$small" -tags gpu -o "$work/$name/step" ./bench/step
  local package
  for package in op update train; do
    mkdir "$work/$name/repository/$package"
    go test -c -ldflags "$small" -tags gpu -o "$work/$name/$package.test" "./$package"
  done
  cp go.mod "$work/$name/repository/" # by which tests find the reference data beside it
  cp configs/smoke.yaml configs/optimized.yaml "$work/$name/repository/configs/"
  cp -r examples "$work/$name/repository/"
  if [ -d ../shared/reference ]; then
    mkdir "$work/$name/shared"
    cp -r ../shared/reference "$work/$name/shared/"
  fi
  cp "$root/bench/gpu.sh" "$work/$name/"
  tar -C "$work" -czf "$work/archive" "$name"
  cd - >/dev/null
  mv "$work/archive" "$archive"
  ls -l "$archive"
}

# ---- there

failed=0

# row NAME RESULT...: a line of the table.
row() {
  local name=$1
  shift
  printf '%-30s %s\n' "$name" "$*" | tee -a "$table"
}

# part NAME SECONDS COMMAND...: runs a command into the log NAME, within its time and that of the whole; its exit code.
part() {
  local name=$1 most=$2 left
  shift 2
  left=$((deadline - SECONDS))
  if [ "$left" -lt 5 ]; then
    echo "no time was left" >"$logs/$name.log"
    return 124
  fi
  if [ "$most" -gt "$left" ]; then most=$left; fi
  timeout -k 5 "$most" "$@" >"$logs/$name.log" 2>&1
}

# judge NAME CODE OK: a row for a part that is right or wrong.
judge() {
  local name=$1 code=$2 text=$3
  case $code in
  0) row "$name" "right: $text" ;;
  124) row "$name" "NOT FINISHED in its time: $text" && failed=1 ;;
  *) row "$name" "WRONG (exit code $code, see $logs): $text" && failed=1 ;;
  esac
}

# counted LOG: how many tests of a log have passed, failed and been skipped.
counted() {
  awk '/^ *--- PASS/ { p++ } /^ *--- FAIL/ { f++ } /^ *--- SKIP/ { s++ }
       END { printf "%d tests passed, %d failed, %d skipped", p, f, s }' "$1"
}

# tests NAME PACKAGE SECONDS PATTERN: tests of a package, on the card.
tests() {
  local name=$1 package=$2 most=$3 pattern=$4 code=0 text
  cd "$here/repository/$package"
  part "$name" "$most" env "KONKANITRAIN_CUDA=$card" "$here/$package.test" -test.v -test.run "$pattern" || code=$?
  cd "$here/repository"
  text=$(counted "$logs/$name.log")
  case $text in "0 tests passed, 0 failed"*) [ "$code" != 0 ] || code=3 ;; esac # a pattern that fits no test
  judge "$name" "$code" "$text"
}

# losses FOLDER: those of a run's updates.
losses() { sed -n '/"event":"update"/s/.*"loss":\([-0-9.e+]*\).*/\1/p' "$1/metrics.jsonl"; }

# apart A B: the largest relative distance of two lists of losses.
apart() {
  paste <(losses "$1") <(losses "$2") | awk '
    NF != 2 { print "lists of different length"; exit 1 }
    { d = ($1 - $2) / $1; if (d < 0) d = -d; if (d > most) most = d; n++ }
    END { if (n == 0) { print "no losses"; exit 1 }; printf "%d losses, at most %.2e apart", n, most; exit !(most < '"$3"') }'
}

# value KEY FILE: a number of a line of JSON.
value() { sed -n 's/.*"'"$1"'": *\([-0-9.e+]*\).*/\1/p' "$2" | tail -1; }

# nearly A B: whether the losses that two runs end with are alike, in the mean of the last ten. With half precision a
# run may give no update in its first windows, so that others come in the place of these.
nearly() {
  paste <(losses "$1" | tail -10 | awk '{ s += $1 } END { print s / NR }') <(losses "$2" | tail -10 | awk '{ s += $1 } END { print s / NR }') |
    awk '{ d = ($1 - $2) / $1; if (d < 0) d = -d; printf "the last losses are %g on the CPU, %g here", $1, $2; exit !(d < '"$3"') }'
}

# learn NAME FLAGS...: the bundled example for some updates, with draws and order as on the CPU.
learn() {
  local name=$1
  shift
  part "$name" 60 "$here/konkanitrain-gpu" --config configs/smoke.yaml "${tiny[@]}" --max_updates "$updates" --log_every 1 \
    --eval_every 1000000 --test_manifest= --checkpoint_dir "$logs/$name" "$@"
}

# speed NAME FLAGS...: one training step, here and in PyTorch.
speed() {
  local name=$1 code=0 ours theirs
  shift
  part "$name" 40 "$here/step" --device cuda "${libraries[@]}" --json "$@" || code=$?
  if [ "$code" != 0 ]; then
    judge "$name" "$code" "$(tail -1 "$logs/$name.log")"
    return
  fi
  ours=$(value median_s "$logs/$name.log")
  row "$name" "$ours s a step, $(value peak_allocated_mib "$logs/$name.log") MiB of the card, $(value launches_per_step "$logs/$name.log") launches"
  [ -n "$python" ] && [ -f "$here/shared/reference/bench_step.py" ] || return 0
  if part "$name-torch" 60 "$python" "$here/shared/reference/bench_step.py" --device cuda --json "$@"; then
    theirs=$(value median_s "$logs/$name-torch.log")
    row "  PyTorch" "$theirs s a step, $(value peak_allocated_mib "$logs/$name-torch.log") MiB; ours takes $(awk -v a="$ours" -v b="$theirs" 'BEGIN { printf "%.2f", a / b }') of its time"
  else
    row "  PyTorch" "not measured: $(tail -1 "$logs/$name-torch.log")"
  fi
}

run() {
  local code text ops updates_of nearly short=
  python=$(command -v python3 || true)
  libraries=() tiny=() card=real updates=40 nearly=0.15
  local driver='' blas=''
  while [ $# -gt 0 ]; do
    case $1 in
    --python) python=$2 && shift 2 ;;
    --driver) driver=$2 && shift 2 ;;
    --blas) blas=$2 && shift 2 ;;
    --short) short=1 && shift ;;
    *) usage ;;
    esac
  done
  if [ -n "$driver$blas" ]; then
    libraries=(--cuda_driver "$driver" --cuda_blas "$blas") card=$driver:$blas
  fi
  here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
  logs=${OUT:-$(mktemp -d)}
  mkdir -p "$logs"
  logs=$(cd "$logs" && pwd)
  table=$logs/table.txt
  : >"$table"
  deadline=$((SECONDS + 345))
  cd "$here/repository"
  if [ -n "$python" ] && ! "$python" -c 'import torch; assert torch.cuda.is_available()' 2>"$logs/python.log"; then
    python=
  fi
  ops=TestCard updates_of='TestSimulatedCard'
  local sizes=() large=() name="2 x 8 s" name_large="8 x 8 s"
  if [ -n "$short" ]; then
    ops='TestCard/(swish|relu)' updates_of='TestSimulatedCardUpdates' updates=2
    nearly=10 # two updates say nothing
    tiny=(--d_model 16 --encoder_layers 1 --heads 2 --subsample_channels 4 --batch_size 4)
    sizes=(--d_model 16 --heads 2 --encoder_layers 1 --decoder_layers 1 --seconds 0.5 --batch 2 --steps 2 --warmup_steps 1)
    large=("${sizes[@]}") name="tiny" name_large="tiny again"
  else
    sizes=(--d_model 192 --encoder_layers 8 --decoder_layers 4 --batch 2 --seconds 8 --steps 20 --warmup_steps 5)
    large=(--d_model 192 --encoder_layers 8 --decoder_layers 4 --batch 8 --seconds 8 --steps 20 --warmup_steps 5)
  fi

  command -v nvidia-smi >/dev/null && part nvidia-smi 15 nvidia-smi || true
  "$here/konkanitrain-gpu" version >"$logs/version.log"

  # Right?
  tests "ops" op 90 "$ops"
  tests "updates" update 60 "$updates_of"
  code=0
  learn cpu --device cpu || code=$?
  if [ "$code" = 0 ]; then
    for text in float32 half; do
      local flags=() bound=1e-3 compare=apart far # float32: what rounding becomes in Adam's steps
      if [ "$text" = half ]; then flags=(--fp16) bound=$nearly compare=nearly; fi
      code=0
      learn "card-$text" --device cuda "${libraries[@]}" "${flags[@]}" || code=$?
      if [ "$text" = float32 ]; then row "card" "$(sed -n 's/^device: //p' "$logs/card-$text.log" | head -1)"; fi
      if [ "$code" = 0 ]; then
        far=$($compare "$logs/cpu" "$logs/card-$text" "$bound") || code=1
        judge "learning, $text" "$code" "$far (bound $bound)"
      else
        judge "learning, $text" "$code" "$(tail -1 "$logs/card-$text.log")"
      fi
    done
  else
    judge "learning on the CPU" "$code" "$(tail -1 "$logs/cpu.log")"
  fi
  code=0
  part t4 60 "$here/konkanitrain-gpu" --config configs/smoke.yaml "${tiny[@]}" --memory_limit 14.74GiB --device cuda "${libraries[@]}" \
    --fp16 --max_updates "$((updates * 5))" --checkpoint_dir "$logs/t4" || code=$?
  judge "in a T4's memory" "$code" "$(sed -n 's/^performance: //p' "$logs/t4.log" | tail -1) $(sed -n 's/^test set .*weights: //p' "$logs/t4.log" | tail -1)"

  # How fast?
  speed "$name, float32" "${sizes[@]}"
  speed "$name, half" "${sizes[@]}" --fp16
  speed "$name_large, half" "${large[@]}" --fp16
  if part profile 40 "$here/step" --device cuda "${libraries[@]}" --profile "${large[@]}" --fp16; then
    row "by operation" "of the card's own limits, in the order of time (each step is waited for):"
    sed -n '/^limits of/,$p' "$logs/profile.log" | head -25 | tee -a "$table"
  else
    row "by operation" "not measured: $(tail -1 "$logs/profile.log")"
  fi
  row "all of it" "$SECONDS s; table and logs are in $logs"
  return "$failed"
}

case ${1:-} in
pack) [ $# = 2 ] || usage && pack "$2" ;;
run) shift && run "$@" ;;
*) usage ;;
esac
