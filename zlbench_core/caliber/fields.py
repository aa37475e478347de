"""The fields of an identity by what a comparison asks of them: equal, recorded at all, or free to differ and why."""

from __future__ import annotations

CALIBER_FIELDS = ("backend", "device", "timer", "bench_level", "shape_mode", "tuner_cache", "direct_repeat")

# Beyond the caliber's seven: what every run of zlbench records, whatever its device.
REQUIRED = (
    "provider",
    "op",
    "test_node",
    "started",
    "harness",
    "measurement.mode",
    "environment.python",
    "environment.torch",
    "environment.triton",
    "environment.variables",
    "environment.precision",
)

# What may differ between two runs that are compared, each with its reason; a name stands for all beneath it.
MAY_DIFFER = {
    "started": "two runs do not start at one moment; one moment for two runs is a copy, which judge/guards.py refuses",
    "ended": "two runs do not end at one moment",
    "order": "the sides take turns, so their places in a round differ by design",
    "side": "says which run it is; judge/collect.py holds it against the run's place",
    "round": "says which run it is; judge/collect.py holds it against the run's place",
    "status": "judge/collect.py and results/status.py judge it, run by run",
    "pytest_exit": "results/status.py judges it, run by run",
    "timed_out": "results/status.py judges it, run by run",
    "failure": "the reason behind the status, in words",
    "digests": "the runs measured other numbers; records/vouched.py holds them against the files",
    "out_dir": "where the run lies",
    "ir": "a summary of the run's IR archive; the gate compares the archives themselves",
    "plan": "judge/guards.py holds it against the campaign's own",
    "declared": "judge/judge.py holds it against the campaign's own",
    "caches": "counts of files in the run's own caches; which cache it was, is the caliber's tuner_cache",
    "compiled": "counts of a run that only compiled; the gate compares what it compiled",
    "device_index": "an index is renumbered by masks and reboots: device_uuid decides where there is one",
    "mm_cluster_fix": "counts configs dropped while tuning; which config ran is told by the pins",
    "measurement.fallbacks": "judged row by row when rows are paired (results/fallbacks.py)",
    "measurement.rows": "rows are paired one by one; a row that one side lacks is left out by name",
    "measurement.pair": "what the two processes of a duet spent and lost; a lost row is left out by name",
    "replay.hits": "counts; the pins and the configs launched are compared",
    "replay.launches": "how often a timer launched within its time",
    "replay.foreign": "counts pins that are no config of the tuner's own list; the configs launched are compared",
    "replay.source_changed": "the kernel's source is what the IR gate compares",
    "replay.unused": "counts; a launch without a pin is a fallback, which is refused",
}
# Judged by rules of their own below or where the identity is read, not by plain comparison.
OWN_RULES = (
    *CALIBER_FIELDS,
    "schema_version",
    "autotune_mode",
    "device_uuid",
    "replay.fallbacks",
    "replay.tuned_keys",
    "replay.unpinned",  # the configs of launches that fell back, which is refused
    "replay.used",
)
