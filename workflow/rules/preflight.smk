# Named by what the campaign asks, too: another campaign's preflight leaves this one's file, and what rests on it, alone.
rule check_side:
    output:
        "results/{backend}/preflight/{side}-{asked}.json",
    log:
        "logs/{backend}/preflight/{side}-{asked}.log",
    resources:
        gpu=int(HOLDS_DEVICE),
        mem_mb=8000,
        runtime=15,
    params:
        **params_of(planned(plans.preflight_plan, "side")),
    message:
        "Preflight of side {wildcards.side} on {wildcards.backend}."
    script:
        "../scripts/preflight.py"
