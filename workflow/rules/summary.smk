rule summarise:
    input:
        identities=get_identities,
        gates=get_gates,
        preflight=expand("results/{{backend}}/preflight/{side}.json", side=CAMPAIGN.side_names),
    output:
        verdicts="results/{backend}/verdicts.json",
        summary="results/{backend}/summary.csv",
        status="results/{backend}/ops_status.csv",
        ab="results/{backend}/ab.csv",
        code="results/{backend}/code.csv",
        receipt="results/{backend}/receipt.json",
    log:
        "logs/{backend}/summary.log",
    params:
        plan=get_summary_plan,
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
    message:
        "Fail when the summary holds a refusal."
    script:
        "../scripts/require_accepted.py"
