rule check_side:
    output:
        "results/{backend}/preflight/{side}.json",
    log:
        "logs/{backend}/preflight/{side}.log",
    resources:
        gpu=int(CAMPAIGN.holds_devices),
        mem_mb=8000,
        runtime=15,
    params:
        plan=get_preflight_plan,
    message:
        "Preflight of side {wildcards.side} on {wildcards.backend}."
    script:
        "../scripts/preflight.py"
