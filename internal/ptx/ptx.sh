#!/usr/bin/env bash
# Compiles the kernels in op/*.cu to op/*.ptx, with the compiler of CUDA 11.8 from PyPI:
#
#   bash internal/ptx/ptx.sh          writes what has changed
#   bash internal/ptx/ptx.sh check    compares with what is there, to the byte, and has NVIDIA's assembler accept every
#                                     kernel for cards from compute capability 6.0 to 9.0
#
# It needs Go, a C compiler and Python with pip. Nothing is installed: the two packages are unpacked in PTX_TOOLS, by
# default a folder of the user's cache.
set -euo pipefail
cd "$(dirname "$0")/../.."
tools=${PTX_TOOLS:-${XDG_CACHE_HOME:-$HOME/.cache}/konkanitrain/cuda-11.8}
nvrtc=$tools/nvidia/cuda_nvrtc/lib/libnvrtc.so.11.2
ptxas=$tools/nvidia/cuda_nvcc/bin/ptxas

if [ ! -e "$nvrtc" ] || [ ! -e "$ptxas" ]; then
  mkdir -p "$tools"
  cat >"$tools/packages.txt" <<END
nvidia-cuda-nvrtc-cu11==11.8.89 --hash=sha256:a8d02f3cba345be56b1ffc3e74d8f61f02bb758dd31b0f20e12277a5a244f756
nvidia-cuda-nvcc-cu11==11.8.89 --hash=sha256:f8e1e995166c884f2f5bf94975d7abb89175363b8712f7f81cd38d0df1b2cd85
END
  python3 -m pip download --quiet --disable-pip-version-check --no-deps --require-hashes --only-binary :all: \
    --platform manylinux2014_x86_64 --dest "$tools" -r "$tools/packages.txt"
  for wheel in "$tools"/*.whl; do python3 -m zipfile -e "$wheel" "$tools"; rm "$wheel"; done
  chmod +x "$ptxas"
fi

if [ "${1:-}" != check ]; then
  go run -tags nvrtc ./internal/ptx/generate -nvrtc "$nvrtc" -from op -to op
  exit
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go run -tags nvrtc ./internal/ptx/generate -nvrtc "$nvrtc" -from op -to "$work" >/dev/null
for file in op/*.ptx; do
  cmp "$file" "$work/$(basename "$file")" || { echo "$file is not what its source compiles to: make ptx"; exit 1; }
done
[ "$(ls op/*.ptx | wc -l)" = "$(ls "$work"/*.ptx | wc -l)" ] || { echo "a .cu file has no .ptx file: make ptx"; exit 1; }
echo "$(ls op/*.ptx | wc -l) files are, to the byte, what the compiler makes of their sources"

# What a kernel takes of a processor: on some card it may not be launched beyond 255 registers a thread or 48 KB of
# shared memory a block.
for capability in 60 70 75 80 90; do
  for file in op/*.ptx; do
    "$ptxas" --verbose --gpu-name "sm_$capability" --output-file "$work/cubin" "$file" 2>&1 || { echo "ptxas refuses $file for sm_$capability"; exit 1; }
  done | awk -v capability="$capability" '
    /refuses|error/ { print; failed = 1 }
    /Compiling entry function/ { split($0, part, "\047"); kernel = part[2] }
    /bytes stack frame/ {
      for (i = 1; i < NF; i++) if ($i " " $(i + 1) ~ /^[0-9]+ bytes$/ && $(i + 2) " " $(i + 3) ~ /^spill stores/) spilled = $i
      if (spilled > 0) { print "sm_" capability ": " kernel " spills " spilled " bytes"; spills++ }
      spilled = 0
    }
    /Used [0-9]+ registers/ {
      kernels++
      shared = 0
      for (i = 1; i < NF; i++) {
        if ($i == "Used") registers = $(i + 1)
        if ($(i + 2) ~ /^smem/) shared = $i
      }
      if (registers > most) { most = registers; at = kernel }
      if (shared > largest) { largest = shared; holder = kernel }
      if (registers > 255 || shared > 49152) { print "sm_" capability ": " kernel " takes " registers " registers, " shared " bytes of shared memory"; failed = 1 }
    }
    END {
      printf "sm_%s: %d kernels, at most %d registers (%s), %d bytes of static shared memory (%s), %d with spills\n",
        capability, kernels, most, at, largest, holder, spills
      exit failed || kernels == 0
    }'
done
