rule summarise:
    input:
        **IDENTITIES,
        looks=get_looks,
        gates=get_gates,
        preflight=preflights_of(*CAMPAIGN.subject.side_names),
    output:
        verdicts=report(
            "results/{backend}/verdicts.json", caption="../report/verdicts.rst", category="Tables"
        ),
        summary=report("results/{backend}/summary.csv", caption="../report/summary.rst", category="Tables"),
        status=report(
            "results/{backend}/ops_status.csv", caption="../report/ops_status.rst", category="Tables"
        ),
        ab=report("results/{backend}/ab.csv", caption="../report/ab.rst", category="Tables"),
        code=report("results/{backend}/code.csv", caption="../report/code.rst", category="Tables"),
        receipt=report("results/{backend}/receipt.json", caption="../report/receipt.rst", category="Tables"),
        preflight=expand("results/{{backend}}/preflight/{side}.json", side=CAMPAIGN.subject.side_names),
        rounds="results/{backend}/rounds.parquet",
        samples="results/{backend}/samples.parquet",
    log:
        "logs/{backend}/summary.log",
    localrule: True
    threads: 8
    params:
        **params_of(planned(plans.summary_plan)),
    message:
        "Judge the calibers and summarise."
    script:
        "../scripts/summarise.py"


# No output, so it always runs: for CI, which wants an exit status and not a table.
rule require_accepted:
    input:
        get_summary,
    log:
        "logs/require_accepted.log",
    localrule: True
    message:
        "Fail when the summary holds a refusal."
    script:
        "../scripts/require_accepted.py"
