#!/bin/sh
# Times the GPU at hand beside PyTorch and CuPy: prints one table, and leaves it as
# bench.json beside this file. Arguments go to the program (./bench -help).
cd "$(dirname "$0")" || exit 1
. ./env.sh
exec ./bench -json bench.json "$@"
