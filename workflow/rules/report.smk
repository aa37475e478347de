rule report:
    input:
        verdicts="results/{backend}/verdicts.json",
        summary="results/{backend}/summary.csv",
        status="results/{backend}/ops_status.csv",
        ab="results/{backend}/ab.csv",
        receipt="results/{backend}/receipt.json",
    output:
        page=report("results/{backend}/report.html", caption="../report/page.rst", category="Report"),
        markdown=report("results/{backend}/summary.md", caption="../report/markdown.rst", category="Report"),
        tables=multiext("results/{backend}/", "ops_status.parquet", "summary.parquet", "ab.parquet"),
    log:
        "logs/{backend}/report.log",
    localrule: True
    params:
        **params_of(planned(plans.summary_plan)),
    message:
        "Write the report of {wildcards.backend}."
    script:
        "../scripts/report.py"
