#!/bin/sh
# Times the GPU of this machine beside PyTorch and CuPy. Prints one table and, after each
# measurement, writes it to bench.json and bench.md beside this file or in AMTRL_GPU_OUT;
# with -small to bench-small.json and bench-small.md. Arguments go to the program
# (./bench -help): -only copy,pass makes these measurements and keeps the others' results.
cd "$(dirname "$0")" || exit 1
. ./env.sh
exec ./bench -out "$out" -logs "$out/logs" "$@"
