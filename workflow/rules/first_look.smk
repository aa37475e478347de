# Only where stopping is two-looks: after the first rounds, which operators can more rounds still decide?
# One checkpoint per device, after the gates of all: docs/snakemake.md, Checkpoints.
checkpoint first_look:
    input:
        identities=get_first_identities,
        gates=get_gates_of_slot,
        device_gates=get_device_gates,
    output:
        rounds="results/{backend}/first_look/device-{slot}.json",
    log:
        "logs/{backend}/first_look_{slot}.log",
    localrule: True
    params:
        **params_of(planned(look_plan, "slot")),
    message:
        "Look for the first time at the operators of device {wildcards.slot}."
    script:
        "../scripts/first_look.py"
