# A round is one job: both sides of a pair run on one device, which the job holds throughout.
# Where nothing is measured they need no device, and run at the same time.
rule replay_round:
    input:
        preflight=preflights_of(*CAMPAIGN.subject.side_names),
        pins=get_pins,
    output:
        expand(
            "results/{{backend}}/{{op}}/{side}/r{{round}}/run_identity.json",
            side=CAMPAIGN.subject.side_names,
        ),
    log:
        "logs/{backend}/{op}/replay_r{round}.log",
    threads: ROUND_THREADS
    resources:
        **OP_TOKENS,
        device=device_of_op,
        gpu=int(HOLDS_DEVICE),
        mem_mb=8000,
        runtime=ROUND_MINUTES,
        time_limit=CAMPAIGN.machine.time_limit,
    params:
        **params_of(planned(plans.round_plan, "op")),
    message:
        "Round {wildcards.round} of {wildcards.op}, side by side."
    script:
        "../scripts/replay_round.py"
