#!/usr/bin/env bash
# Installs what is needed, builds mlbcc, and traces the example job on the simulated CUDA driver.
# Needs Debian 12 and root, no GPU.
#
#   scripts/demo.sh             the trace goes to traces/demo.jsonl
set -euo pipefail
cd "$(dirname "$0")/.."

if [ "$(id -u)" -ne 0 ]; then
    echo "demo: run as root: probes need it" >&2
    exit 1
fi

scripts/setup.sh
echo "demo: building build/release (a few minutes the first time)"
log=build/demo-build.log
mkdir -p build traces
if ! { cmake --preset release -DMLBCC_UNIT_TESTS=OFF && cmake --build --preset release; } >"$log" 2>&1; then
    tail -n 40 "$log" >&2
    echo "demo: the build failed; all of its output is in $log" >&2
    exit 1
fi

export LD_LIBRARY_PATH=$PWD/build/release/examples/cuda_sim${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
trace=traces/demo.jsonl
set -x
build/release/mlbcc --rules rules/cuda.rules -o "$trace" -- python3 examples/inference/app.py
{ set +x; } 2>/dev/null

cat <<END

The trace is $trace: one JSON object a line, $(wc -l <"$trace") lines. For example:
  head -n 5 $trace
  grep '"name":"cuMemAlloc"' $trace
END
