#!/bin/sh
# Times the GPU at hand beside PyTorch and CuPy: prints one table, and leaves it as
# bench.json and bench.md beside this file, growing by each measurement; with -small as
# bench-small.json and bench-small.md. Arguments go to the program (./bench -help):
# -only copy,pass takes some of them and keeps the others.
cd "$(dirname "$0")" || exit 1
. ./env.sh
exec ./bench -out "$out" -logs "$out/logs" "$@"
