#!/bin/sh
# Checks the GPU of this machine with the programs beside this file: sh test-gpu.sh [small] [STEP...].
# After LIMIT seconds (540) a step is ended, with all processes that it started. Each step prints a line with its
# verdict, and writes a log to logs and a line to test.jsonl. The steps after a failed one run all the same. The exit
# code is 0 if no step failed. The steps, in their order:
#
#   doctor conformance golden captures     the default
#   memcheck-GROUP racecheck-GROUP         the conformance tests of a group under compute-sanitizer; GROUP is
#                                          MultiTask, Convolution, Training or Vectors
#   sanitizers                             all groups under memcheck and racecheck
#
# Nothing else is needed but CUDA's runtime libraries; compute-sanitizer is used where it is installed and works.
# "small" tries the script with a few of the tests.
cd "$(dirname "$0")" || exit 1
. ./env.sh
limit=${LIMIT:-540}
failed=0
found=99 # exit code of compute-sanitizer if it finds an error

AMTRL_TEST_GPU=required
export AMTRL_TEST_GPU

tests='^TestConformance$'
golden='^TestGolden$'
groups='MultiTask Convolution Training Vectors'
if [ "$1" = small ]; then
  shift
  tests='^TestConformance$/^Memory$'
  golden='^TestGolden$/^float32$'
  groups=Memory
fi

# verdict NAME VERDICT SECONDS EXIT-CODE TEXT
verdict() {
  printf '%-4s  %-20s %s\n' "$2" "$1" "$5"
  printf '{"step": "%s", "verdict": "%s", "seconds": %s, "exit_code": %s}\n' "$1" "$2" "$3" "$4" >>"$out/test.jsonl"
}

# end kills what is left of a step, which would take device memory and time from the next.
end() {
  [ -z "$group" ] || kill -s KILL -- "-$group" 2>/dev/null
  group=
}
group=
trap 'end; exit 129' HUP
trap 'end; exit 130' INT
trap 'end; exit 143' TERM

# check NAME COMMAND...
check() {
  name=$1
  shift
  log=$out/logs/$name.log
  start=$(date +%s)
  # On SIGQUIT a Go program prints its stacks. timeout leads a process group of its own.
  timeout -s QUIT -k 10 "$limit" "$@" >"$log" 2>&1 &
  group=$!
  wait $group
  code=$?
  end
  took=$(($(date +%s) - start))
  if [ $code -eq 0 ]; then
    verdict "$name" PASS $took $code "$took s"
  elif [ "$name" != "${name#*check-}" ] && [ $code -ne $found ] && grep -q '^=========.*[Dd]evice.*not supported' "$log"; then
    verdict "$name" SKIP $took $code "compute-sanitizer does not support this device here"
  else
    what="exit code $code after $took s"
    [ $code -ne 124 ] && [ $code -ne 137 ] || what="ended after $took s, the limit"
    verdict "$name" FAIL $took $code "$what, see $log; it ends with:"
    tail -n 5 "$log" | sed 's/^/      /'
    failed=1
  fi
}

sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2>/dev/null)

# sanitize NAME TOOL GROUP. memcheck would report as an API error that a stream is not ready yet, which is no error here.
sanitize() {
  more=
  [ "$2" = memcheck ] && more='--report-api-errors no'
  if [ -n "$sanitizer" ]; then
    check "$1" "$sanitizer" --tool "$2" --error-exitcode $found $more \
      ./check.test -test.v -test.run "^TestConformance\$/^$3\$" -test.timeout 0
  else
    verdict "$1" SKIP 0 0 "compute-sanitizer is not installed"
  fi
}

sanitizers=
for tool in memcheck racecheck; do
  for part in $groups; do
    sanitizers="$sanitizers $tool-$part"
  done
done

[ $# -gt 0 ] || set -- doctor conformance golden captures
for step in "$@"; do
  case $step in
  doctor) check doctor ./amtrl doctor --backend cuda --probe-timeout 180 ;; # libraries may come from a cold disk
  conformance) check conformance ./check.test -test.v -test.run "$tests" -test.timeout 0 ;;
  golden) check golden ./check.test -test.v -test.run "$golden" -test.timeout 0 ;;
  captures) check captures ./check.test -test.v -test.run '^TestCaptures$' -test.timeout 0 ;;
  sanitizers) for one in $sanitizers; do sanitize "$one" "${one%%-*}" "${one#*-}"; done ;;
  memcheck-* | racecheck-*) sanitize "$step" "${step%%-*}" "${step#*-}" ;;
  *)
    verdict "$step" FAIL 0 2 "no such step: doctor, conformance, golden, captures, sanitizers,$sanitizers"
    failed=1
    ;;
  esac
done
exit $failed
