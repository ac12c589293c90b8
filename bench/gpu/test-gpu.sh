#!/bin/sh
# Checks the GPU at hand with what lies beside this file, one verdict per line.
# CUDA's runtime libraries are all that is needed besides; compute-sanitizer is used
# where it is found and works. Exit code 0 where nothing failed. "sh test-gpu.sh
# small" tries the script with a few of the tests.
cd "$(dirname "$0")" || exit 1
. ./env.sh
mkdir -p logs || exit 1
failed=0

verdict() { printf '%-4s  %-12s %s\n' "$1" "$2" "$3"; }

# check NAME COMMAND...
check() {
  name=$1
  shift
  start=$(date +%s)
  "$@" >"logs/$name.log" 2>&1
  code=$?
  took="$(($(date +%s) - start)) s"
  if [ $code -eq 0 ]; then
    verdict PASS "$name" "$took"
  elif [ "$name" != "${name#sanitizer-}" ] && grep -q 'not supported' "logs/$name.log"; then
    verdict SKIP "$name" "compute-sanitizer does not support this device here"
  else
    verdict FAIL "$name" "exit code $code after $took, see $PWD/logs/$name.log; it ends with:"
    tail -n 5 "logs/$name.log" | sed 's/^/      /'
    failed=1
  fi
}

AMTRL_TEST_GPU=required
export AMTRL_TEST_GPU

tests='^TestConformance$'
golden='^TestGolden$'
kernels='^TestConformance$/^(MultiTask|Convolution|Training|Vectors)$'
if [ "$1" = small ]; then
  tests='^TestConformance$/^Memory$'
  golden='^TestGolden$/^float32$'
  kernels=$tests
fi

check doctor ./amtrl doctor --backend cuda
check conformance ./check.test -test.run "$tests" -test.timeout 15m
check golden ./check.test -test.run "$golden" -test.timeout 5m

sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2>/dev/null)
for tool in memcheck racecheck; do
  if [ -n "$sanitizer" ]; then
    check "sanitizer-$tool" "$sanitizer" --tool "$tool" --error-exitcode 99 ./check.test -test.run "$kernels" -test.timeout 15m
  else
    verdict SKIP "sanitizer-$tool" "compute-sanitizer is not installed"
  fi
done
exit $failed
