#!/bin/sh
# Wall seconds of a compile-only campaign over the whole builtin suite, both sides, for an NVIDIA and an AMD target.
# usage: benchmarks/compile_only.sh [CORES]      (python environment of zlbench active; figures stand in docs/ir.md)
set -eu
cores=${1:-2}
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PYTHONPATH="$root${PYTHONPATH:+:$PYTHONPATH}"
for target in cuda:90 hip:gfx942; do
    folder="$work/${target%:*}"
    start=$(date +%s)
    snakemake --snakefile "$root/workflow/Snakefile" --directory "$folder" --cores "$cores" \
        --configfile "$root/config/campaigns/compile-only.yaml" --config "target=$target" >"$work/log" 2>&1 ||
        { tail -n 40 "$work/log" >&2; exit 1; }
    echo "$target: $(($(date +%s) - start)) s on $cores cores, load $(cut -d' ' -f1 /proc/loadavg) at the end"
    python -m zlbench_core show "$folder/results/cpu"
done
