rule check_side:
    output:
        "results/{backend}/preflight/{side}.json",
    log:
        "logs/{backend}/preflight/{side}.log",
    params:
        plan=get_preflight_plan,
    message:
        "Preflight of side {wildcards.side} on {wildcards.backend}."
    script:
        "../scripts/preflight.py"
