"""The pages say what is there: commands parse, campaigns load, links and paths resolve, examples run."""

from __future__ import annotations

import csv
import io
import re
import shlex
import subprocess
import tarfile
from functools import cache
from pathlib import Path

import pytest
import yaml
from snakemake.cli import get_argument_parser, parse_config

from tests import ROOT
from zlbench_core.campaign.load import default_config, load_campaign
from zlbench_core.commands.cli import COMMANDS, EXAMPLES, build_parser
from zlbench_core.commands.completion import SHELLS

PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), ROOT / "config" / "README.md"])
BLOCK = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?://|#|mailto:)([^)#\s]+)")
PAGE_NAME = re.compile(r"(?:docs/)?[A-Za-z0-9_-]+\.md\b")
# A path of the repository in backticks; a placeholder or a pattern in it is no path.
PATH = re.compile(r"`((?:docs|config|workflow|zlbench_core|tests|fuzz|benchmarks)/[A-Za-z0-9_./-]*)`")


def commands(text: str) -> list[str]:
    joined = re.sub(r"\\\n\s*", " ", "\n".join(BLOCK.findall(text)))
    return [
        command for line in joined.splitlines() for command in re.split(r"\s&&\s", line) if command.strip()
    ]


def lines_of(program: str) -> list[tuple[str, str]]:
    found = [(page.name, line) for page in PAGES for line in commands(page.read_text())]
    found += [("cli.py", line.strip()) for line in EXAMPLES.splitlines()]
    words = [(page, re.sub(r"^\.venv/bin/", "", line)) for page, line in found]
    return [(page, line) for page, line in words if f"{line} ".startswith(f"{program} ")]


RUNS = lines_of("zlbench run")


@pytest.mark.parametrize(("page", "line"), [one for one in lines_of("zlbench") if one not in RUNS])
def test_every_zlbench_line_parses(page, line):
    line = line if page != "cli.py" else re.split(r"\s{3,}", line)[0]
    words = shlex.split(line.partition(" > ")[0].partition(" | ")[0], comments=True)
    assert build_parser().parse_args(words[1:]).run


@pytest.mark.parametrize(("page", "line"), RUNS)
def test_every_campaign_that_zlbench_runs_loads(page, line):
    """The first word is a campaign file, or none; what follows -- is Snakemake's."""
    words, _, options = re.split(r"\s{3,}|\s#", line)[0].partition(" -- ")
    files = [word for word in shlex.split(words)[2:] if word.endswith(".yaml")]
    overrides = parse_config(parser_of_snakemake().parse_args(shlex.split(options)).config or [])
    config = campaign_file(Path(files[0])) if files else default_config()
    load_campaign({**config, **overrides}, overrides=overrides)


@pytest.mark.parametrize(("page", "line"), lines_of("snakemake"))
def test_every_snakemake_line_is_a_campaign(page, line):
    args = parser_of_snakemake().parse_args(shlex.split(line, comments=True)[1:])
    if args.lint:
        return
    # A profile of a cluster says how many jobs there may be.
    counted = args.cores or args.workflow_profile
    assert counted or args.dryrun or args.unlock, "Snakemake refuses a run without --cores"
    config, overrides = {}, parse_config(args.config or [])
    for path in args.configfile or [ROOT / "config" / "config.yaml"]:
        config |= campaign_file(Path(path))
    load_campaign({**config, **overrides}, overrides=overrides)


def test_no_two_pages_have_a_reader_write_the_same_file():
    written = [name for page in PAGES for name in {*re.findall(r"own/test_\w+\.py", page.read_text())}]
    assert len(written) >= 2
    assert len(written) == len(set(written)), written


@cache
def parser_of_snakemake():
    return get_argument_parser()


def campaign_file(path: Path) -> dict:
    """A campaign file of the repository, or the one that a page shows under that name."""
    if (ROOT / path).is_file():
        return yaml.safe_load((ROOT / path).read_text())
    shown = [
        block
        for page in PAGES
        for block in re.findall(r"```yaml\n(.*?)```", page.read_text(), re.DOTALL)
        if block.startswith(f"# {path}\n")
    ]
    assert shown, f"{path} is neither a file nor shown on a page"
    return yaml.safe_load(shown[0])


@pytest.mark.parametrize("path", sorted(ROOT.glob("config/campaigns/*.yaml")), ids=lambda path: path.stem)
def test_every_campaign_file_loads(path):
    config = yaml.safe_load(path.read_text())
    if "backend" in config:  # the others are shape files
        assert load_campaign(config).subject.ops


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_and_every_path_is_there(page):
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    links = [page.parent / link for link in LINK.findall(text)]
    paths = [ROOT / path for path in PATH.findall(text)]
    assert [str(path.relative_to(ROOT)) for path in (*links, *paths) if not path.exists()] == []


# What a run writes, and a page of nvbench's repository.
NOT_OURS = {"summary.md", "docs/nvbench_compare_robust.md"}


def test_nothing_names_a_page_that_is_not_here():
    """In code, comments and pages alike; the changelog tells of what was."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    files = {name for name in listed.split("\n") if name and (ROOT / name).is_file()}
    pages = {Path(name).name for name in files if name.endswith(".md")}
    unknown = [
        f"{file}: {named}"
        for file in sorted(files - {"CHANGELOG.md"})
        for named in PAGE_NAME.findall((ROOT / file).read_text(encoding="utf-8", errors="ignore"))
        if named not in (files if named.startswith("docs/") else pages) | NOT_OURS
    ]
    assert unknown == []


def test_every_fact_of_snakemake_is_on_the_page_with_its_command():
    source = (ROOT / "benchmarks" / "snakemake_facts.py").read_text()
    tried = {name.replace("_", "-") for name in re.findall(r"^@fact\ndef (\w+)", source, re.MULTILINE)}
    told = set(re.findall(r"`([a-z]+(?:-[a-z]+)+)`", (ROOT / "docs" / "snakemake.md").read_text()))
    assert len(tried) > 10
    assert tried - told == set()
    assert told - tried - {"rerun-triggers", "rerun-incomplete"} == set()


def test_every_command_has_an_example_in_its_help():
    [choices] = [action.choices for action in build_parser()._actions if action.choices]
    assert len(choices) == len(COMMANDS)
    assert [name for name, parser in choices.items() if f"zlbench {name}" not in (parser.epilog or "")] == []


def test_the_provider_of_the_page_answers_what_the_runner_asks(tmp_path):
    [code] = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "add-a-provider.md").read_text(), re.DOTALL)
    scope: dict = {}
    exec(compile(code, "add-a-provider.md", "exec"), scope)
    provider = scope["MySuiteProvider"]()
    sides = {"a": {"flaggems_dir": str(tmp_path)}, "b": None}
    campaign = load_campaign({"backend": "cpu", "provider": "builtin", "ops": ["mm"], "sides": sides})
    side = campaign.subject.side("a")
    assert provider.invocation(campaign, side, "mm").node == "benchmark/test_mm.py::test_mm"
    assert provider.side_problems(campaign.subject, side) == []
    assert provider.problems(campaign, side)[0][0] == "benchmark_file"
    (tmp_path / "benchmark").mkdir()
    (tmp_path / "benchmark" / "test_mm.py").touch()
    assert provider.problems(campaign, side) == []
    assert provider.shape_names(campaign.subject) is None
    assert provider.facts(side, ())["provider_commit"]
    assert provider.environment(campaign.subject, side) == {"PYTHONPATH": f"{tmp_path}/src"}


@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell_gets_its_completion(shell, capsys):
    args = build_parser().parse_args(["completion", shell])
    assert args.run(args) == 0
    assert "zlbench" in capsys.readouterr().out


def test_the_catalog_finds_what_it_looks_for():
    """Which files the Snakemake workflow catalog reads: docs/snakemake.md, The catalog."""
    catalog = yaml.safe_load((ROOT / ".snakemake-workflow-catalog.yml").read_text())
    assert catalog["usage"]["mandatory-flags"]["flags"] == ""
    text = (ROOT / "README.md").read_text().lower()
    assert "snakemake" in text
    assert "workflow" in text
    assert (ROOT / "workflow" / "Snakefile").is_file()
    assert list((ROOT / "workflow" / "rules").glob("*.smk"))
    assert (ROOT / "config" / "README.md").is_file()


def test_a_column_that_a_finished_campaign_leaves_empty_is_explained():
    """Of the stored A/B campaign."""
    with tarfile.open(ROOT / "tests/data/report/ab.tar.gz") as archive:
        lines = list(csv.DictReader(io.TextIOWrapper(archive.extractfile("./summary.csv"), encoding="utf-8")))
    empty = [name for name in lines[0] if not any(line[name] for line in lines)]
    assert "latency_torch_ms" in empty
    page = (ROOT / "docs" / "tables.md").read_text().partition("## summary.csv")[2].partition("\n## ")[0]
    for name in empty:
        assert re.search(rf"^\| `{name}` \|.*empty", page, re.MULTILINE), name


def test_the_page_names_every_operator_of_the_builtin_suite():
    page = (ROOT / "docs" / "operators.md").read_text()
    [sentence] = re.findall(r"The builtin suite has the operators ([^.]*)\.", page)
    suite = [path.stem.removeprefix("test_") for path in (ROOT / "zlbench_core" / "suite").glob("test_*.py")]
    assert re.findall(r"`(\w+)`", sentence) == sorted(suite)
