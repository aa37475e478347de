#!/usr/bin/env bash
# A campaign through a real Slurm of one node with two made-up GPUs, started here and stopped at the end.
#   tests/slurm/run.sh [FOLDER [CAMPAIGN_FILE]]    with the environment's snakemake on PATH
# check.py then holds Slurm's own log of jobs and GPUs against what the runs recorded.
set -euo pipefail
here=$(realpath "$(dirname "$0")")
repository=$(realpath "$here/../..")
folder=$(realpath -m "${1:-$(mktemp -d)}")
campaign=$(realpath "${2:-$here/campaign.yaml}")

"$here/cluster.sh" start "$folder/cluster"
trap '"$here/cluster.sh" stop "$folder/cluster"' EXIT
export PATH=$folder/cluster/bin:$PATH ZL_LOCK_DIR=$folder/locks
export PYTHONPATH=$repository${PYTHONPATH:+:$PYTHONPATH}

mkdir -p "$folder/work"
cp "$here/shapes.yaml" "$folder/work"

run() {
  snakemake --snakefile "$repository/workflow/Snakefile" --directory "$folder/work" \
    --workflow-profile "$repository/workflow/profiles/slurm" --configfile "$campaign" \
    --slurm-init-seconds-before-status-checks 2 --seconds-between-status-checks 2 "$@"
}

run
# Nothing is left to do, for Slurm least of all.
run 2>&1 | grep "Nothing to be done"
python "$here/check.py" "$folder"
