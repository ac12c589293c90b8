#!/bin/sh
# Times the GPU at hand beside PyTorch and CuPy: prints one table, and leaves it as
# bench.json and bench.md beside this file, growing by each measurement. Arguments go to
# the program (./bench -help): -only copy,pass takes some of them and keeps the others.
cd "$(dirname "$0")" || exit 1
. ./env.sh
exec ./bench -json "$out/bench.json" -markdown "$out/bench.md" -logs "$out/logs" "$@"
