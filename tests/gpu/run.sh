#!/usr/bin/env bash
# Traces real work on a GPU and compares with PyTorch's own profiler. As root, on a machine with an
# NVIDIA GPU and a python3 with PyTorch:
#
#   tests/gpu/run.sh [BUNDLE.tar.xz] [OUT]
#
# Without a bundle the mlbcc in PATH is taken. Writes OUT/result.json and OUT/result.md; the exit status
# is 0 only if all that must be equal is. OUT/cost.md has what tracing costs a decode loop.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
bundle=${1:-}
out=${2:-gpu-results}
python=${PYTHON:-python3}
mlbcc=mlbcc

if [ -n "$bundle" ]; then
    rm -rf /tmp/mlbcc-bundle
    tar -C /tmp -xJf "$bundle"
    mlbcc=/tmp/mlbcc-bundle/bin/mlbcc
fi
mkdir -p "$out"
"$python" -c 'import torch; assert torch.cuda.is_available(), "PyTorch finds no GPU"'

for job in train triton graph; do
    if ! "$python" "$here/job.py" "$job" --can-run; then
        echo "run.sh: $job cannot run here" >&2
        continue
    fi
    # The profiler makes driver calls of its own, so one run is profiled and another is traced.
    "$python" "$here/job.py" "$job" --profile "$out/$job.profile.json"
    "$mlbcc" --rules cuda -o "$out/$job.jsonl" -- "$python" "$here/job.py" "$job" \
        --facts "$out/$job.facts.json" 2>"$out/$job.summary.txt"
done
status=0
"$python" "$here/compare.py" "$out" || status=$?
"$python" "$here/cost.py" "$out" --mlbcc "$mlbcc" ${COST:-}
exit $status
