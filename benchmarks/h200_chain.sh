#!/usr/bin/env bash
# The whole chain for FlagGems mm and softmax on one NVIDIA device; docs/h200-mm.md holds what it printed.
#   benchmarks/h200_chain.sh FLAGGEMS_DIR OUT_DIR
# Needs torch, triton, snakemake, sqlalchemy and pytest for `python3`, and one CUDA device.
set -uo pipefail
flaggems=$(realpath "$1")
out=$(mkdir -p "$2" && realpath "$2")
cd "$(dirname "$0")/.."
export PYTHONPATH=$PWD${PYTHONPATH:+:$PYTHONPATH}
campaign=(--configfile config/campaigns/h200-mm-softmax.yaml --config "flaggems_dir=$flaggems")

nvidia-smi --query-gpu=name,uuid,driver_version --format=csv
start=$(date +%s)
python3 -m snakemake --cores 4 "${campaign[@]}" 2>&1 | tee "$out/snakemake.log" | grep -v '^Reason'
status=$?
echo "wall seconds: $(($(date +%s) - start))"
echo "--- the same command again"
python3 -m snakemake --cores 4 "${campaign[@]}" 2>&1 | tail -2
tar -czf "$out/results.tar.gz" results logs
exit "$status"
