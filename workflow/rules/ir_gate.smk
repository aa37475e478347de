rule compare_ir:
    input:
        expand(
            "results/{{backend}}/{{op}}/{side}/r1/run_identity.json",
            side=CAMPAIGN.subject.side_names,
        ),
    output:
        "results/{backend}/{op}/ir_gate.json",
    log:
        "logs/{backend}/{op}/ir_gate.log",
    localrule: True
    params:
        **params_of(planned(plans.compare_plan, "op")),
    message:
        "Compare the generated code of both sides of {wildcards.op}."
    script:
        "../scripts/compare_ir.py"


# One checkpoint per device, not per operator: the DAG is evaluated anew after each (docs/snakemake.md,
# Checkpoints).
checkpoint gate_device:
    input:
        get_gates_of_slot,
    output:
        verdicts="results/{backend}/ir_gate/device-{slot}.json",
    log:
        "logs/{backend}/ir_gate_{slot}.log",
    localrule: True
    params:
        rounds=get_rounds_of_slot,
    message:
        "Decide which operators of device {wildcards.slot} need more rounds."
    script:
        "../scripts/gate_device.py"
