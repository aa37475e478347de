"""The command zlbench: what stands outside a campaign."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from zlbench_core import __version__
from zlbench_core.commands import (
    compare,
    completion,
    devices,
    identity,
    ir,
    pins,
    preflight,
    report,
    run,
    show,
    verdict,
)
from zlbench_core.common.step import error_line, refusal
from zlbench_core.errors import ZlbenchError

USAGE = 2  # as argparse ends
COMMANDS = (run, preflight, devices, identity, show, report, verdict, compare, ir, pins, completion)
EXAMPLES = """examples:
  zlbench run                                the default campaign, in this folder
  zlbench run config/campaigns/one-sided.yaml
  zlbench run --cores 2 -d elsewhere config/campaigns/compile-only.yaml require_accepted
  zlbench run -- --config backend=musa 'ops=[mm]'       options of Snakemake, behind --
  zlbench preflight                          is this machine ready for the default campaign?
  zlbench preflight --backend musa           ... for that campaign on Moore Threads devices?
  zlbench preflight --configfile config/campaigns/one-sided.yaml
  zlbench devices                            what every backend lists here, or why it cannot
  zlbench devices --backend cuda --json
  zlbench identity results/cpu/mm/a/r1       what decides whether this run may be compared
  zlbench identity results/cpu/mm/a/r1 --json
  zlbench show results/cpu
  zlbench show results/cpu --markdown
  zlbench report results/cpu
  zlbench verdict results/cpu                the verdicts again, from the stored rounds alone
  zlbench compare results/cpu/mm/a/r1 results/cpu/mm/b/r1
  zlbench compare results/cpu/mm/a/r1 results/cpu/mm/b/r1 --allow-caliber-mismatch
  zlbench pins diff results/cpu/mm/pins other/mm/pins
  zlbench ir diff results/cpu/mm/a/r1 results/cpu/mm/b/r1 --kernel mm_kernel | less -R
  zlbench ir cost results/cpu/mm/a/r1
  zlbench completion bash > ~/.local/share/bash-completion/completions/zlbench

run is Snakemake with the workflow of this package, and ends with its exit status; in a checkout: snakemake --cores 2
exit codes: 0 done, 1 a mistake in the input, 2 a mistake in the command line (or no command), 3 preflight failed,
4 the runs are on different calibers;
ir diff is like diff: 0 the code is the same, 1 it differs, 2 that is not known
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; a ZlbenchError is one line on stderr and its exit code, as is what the file system refuses."""
    parser = build_parser()
    args = _parsed(parser, list(sys.argv[1:] if argv is None else argv))
    if args.run is None:
        parser.print_help(sys.stderr)
        return USAGE
    try:
        return args.run(args)
    except ZlbenchError as error:
        print(error_line(error), file=sys.stderr)
        return error.exit_code
    except BrokenPipeError:
        return 1
    except OSError as error:
        print(error_line(refusal(error)), file=sys.stderr)
        return refusal(error).exit_code


def _parsed(parser: argparse.ArgumentParser, words: list[str]) -> argparse.Namespace:
    """Words of `run` may stand between its options, and what follows -- is Snakemake's: argparse knows neither."""
    is_run = words[:1] == ["run"]
    end = words.index("--") if is_run and "--" in words else len(words)
    args, rest = parser.parse_known_args(words[:end])
    if rest and (not is_run or any(word.startswith("-") for word in rest)):
        hint = "; options of Snakemake stand behind --" if is_run else ""
        parser.error(f"unrecognized arguments: {' '.join(rest)}{hint}")
    if is_run:
        args.words, args.options = [*args.words, *rest], words[end + 1 :]
    return args


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="zlbench",
        description=__doc__,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"zlbench {__version__}")
    parser.set_defaults(run=None)
    commands = parser.add_subparsers(metavar="COMMAND")
    for command in COMMANDS:
        command.add(commands)
    for name, one in commands.choices.items():
        one.epilog = "\n".join(filter(None, (one.epilog, _examples_of(name))))
        one.formatter_class = argparse.RawDescriptionHelpFormatter
    return parser


def _examples_of(name: str) -> str:
    lines = [line for line in EXAMPLES.splitlines() if line.split()[:2] == ["zlbench", name]]
    return "\n".join(["examples:", *lines])
