#!/bin/bash
# Wall and processor seconds of a compile-only campaign over the whole builtin suite, both sides, for an NVIDIA and
# an AMD target. On a busy machine the processor seconds are the figure to compare.
# usage: benchmarks/compile_only.sh [CORES]      (python environment of zlbench active; figures stand in docs/ir.md)
set -euo pipefail
cores=${1:-2}
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PYTHONPATH="$root${PYTHONPATH:+:$PYTHONPATH}" ZL_LOCK_DIR="$work/locks"
campaign() {
    snakemake --snakefile "$root/workflow/Snakefile" --directory "$work/${1%:*}" --cores "$cores" \
        --configfile "$root/config/campaigns/compile-only.yaml" --config "target=$1" >"$work/log" 2>&1 ||
        { tail -n 40 "$work/log" >&2; exit 1; }
}
for target in cuda:90 hip:gfx942; do
    TIMEFORMAT="$target on $cores cores: %0R s wall, %0U s user, %0S s system"
    time campaign "$target"
    echo "load $(cut -d' ' -f1 /proc/loadavg) at the end"
    python -m zlbench_core show "$work/${target%:*}/results/cpu"
done
