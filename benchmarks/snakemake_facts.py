"""The facts about Snakemake on which the workflow rests, tried on the installed one: docs/snakemake.md says what for.

    python benchmarks/snakemake_facts.py                    # all of them, in some minutes
    python benchmarks/snakemake_facts.py threads-are-omp    # one

Prints a line for each. Exit status 1: one does not hold.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

CHAIN = """
rule all:
    input: "top", *config.get("more", [])
rule low:
    output: "low"
    params: part=config.get("part", 1)
    shell: "echo low >> ran; test {params.part} != fail && echo 1 > {output}"
rule top:
    input: "low"
    output: "top"
    shell: "echo top >> ran; cat {input} > {output}"
"""
PLAIN_TRIGGERS = ("--rerun-triggers", "mtime", "params", "input", "software-env")  # as in workflow/profiles


class Folder:
    """An empty folder with a Snakefile, and what Snakemake did in it."""

    def __init__(self, path: Path, snakefile: str) -> None:
        self.path = path
        (path / "Snakefile").write_text(snakefile)

    def start(self, *words: str, **env: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "snakemake", "--cores", "2", *words]
        told = {"text": True, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        return subprocess.Popen(command, cwd=self.path, env={**os.environ, **env}, **told)

    def run(self, *words: str, **env: str) -> tuple[int, str]:
        """Exit status and output."""
        process = self.start(*words, **env)
        text, _ = process.communicate()
        return process.returncode, text

    def ran(self) -> list[str]:
        """The jobs that ran since the last call, in their order."""
        path = self.path / "ran"
        lines = path.read_text().split() if path.exists() else []
        path.unlink(missing_ok=True)
        return lines

    def read(self, name: str) -> str:
        return (self.path / name).read_text().strip()

    def has(self, name: str) -> bool:
        return (self.path / name).exists()

    def wait_for(self, name: str) -> None:
        end = time.monotonic() + 120
        while not self.has(name):
            assert time.monotonic() < end, name
            time.sleep(0.05)


FACTS: dict[str, Callable[[Path], None]] = {}


def fact(function: Callable[[Path], None]) -> None:
    FACTS[function.__name__.replace("_", "-")] = function


@fact
def a_missing_intermediate_is_no_reason(path: Path) -> None:
    """A result stands, and Snakemake is content with it, when what it was made from failed to be made again."""
    folder = Folder(path, CHAIN)
    assert folder.run()[0] == 0
    assert folder.run("--config", "part=fail")[0] == 1
    assert not folder.has("low")
    code, text = folder.run("--config", "part=fail")
    assert (code, folder.has("top")) == (0, True)
    assert "Nothing to be done" in text
    # A target that names the intermediate too sees that it is gone.
    assert folder.run("--config", "part=fail", "more=[low]")[0] == 1


@fact
def a_rerun_reruns_all_below_it(path: Path) -> None:
    """Whatever it writes: the same bytes again rerun every rule below, in that invocation."""
    folder = Folder(path, CHAIN)
    folder.run()
    folder.ran()
    folder.run("-R", "low")
    assert folder.ran() == ["low", "top"]


@fact
def an_input_is_compared_by_content(path: Path) -> None:
    """A newer time with the same content reruns nothing; another content under the old time neither."""
    folder = Folder(path, CHAIN)
    folder.run()
    folder.ran()
    low = path / "low"
    before = low.stat()
    os.utime(low)
    folder.run()
    assert folder.ran() == []
    low.write_text("2\n")
    os.utime(low, ns=(before.st_atime_ns, before.st_mtime_ns))
    folder.run()
    assert folder.ran() == []
    os.utime(low)
    folder.run()
    assert folder.ran() == ["top"]


@fact
def params_trigger(path: Path) -> None:
    folder = Folder(path, CHAIN)
    folder.run()
    folder.ran()
    folder.run("--config", "part=2")
    assert folder.ran() == ["low", "top"]
    folder.run("--config", "part=2")
    assert folder.ran() == []


@fact
def params_that_ask_for_output_do_not_trigger(path: Path) -> None:
    folder = Folder(
        path,
        """
def plan(wildcards, output):
    return config.get("part", 1)
rule low:
    output: "low"
    params: plan=plan
    resources: device=config.get("part", 1)
    shell: "echo low >> ran; echo {params.plan} > {output}"
""",
    )
    folder.run()
    code, text = folder.run("--config", "part=2")
    assert (code, "Nothing to be done" in text) == (0, True)
    assert folder.ran() == ["low"]  # nor does the resource, which changed with it
    assert folder.read("low") == "1"


@fact
def a_script_triggers_by_its_time(path: Path) -> None:
    """Unless `code` is left out of the triggers. A module that it imports never does."""
    folder = Folder(path, 'rule low:\n    output: "low"\n    script: "step.py"\n')
    (path / "helper.py").write_text("WORD = 'one'\n")
    (path / "step.py").write_text(
        "import sys; sys.path.insert(0, '.')\n"
        "from helper import WORD\n"
        "open('ran', 'a').write('low\\n'); open(snakemake.output[0], 'w').write(WORD)\n"
    )
    folder.run()
    folder.ran()
    (path / "helper.py").write_text("WORD = 'another'\n")
    folder.run()
    assert folder.ran() == []
    os.utime(path / "step.py")
    folder.run(*PLAIN_TRIGGERS)
    assert folder.ran() == []
    folder.run()
    assert folder.ran() == ["low"]


@fact
def threads_are_omp(path: Path) -> None:
    """The threads of a rule become OMP_NUM_THREADS and its like in the job, over the user's own value, and no rule gets
    more than --cores."""
    shell = "echo $OMP_NUM_THREADS $MKL_NUM_THREADS > {output}"
    folder = Folder(path, f'rule low:\n    output: "low"\n    threads: 4\n    shell: "{shell}"\n')
    folder.run(OMP_NUM_THREADS="7", MKL_NUM_THREADS="7")
    assert folder.read("low") == "2 2"


def _most_at_once(path: Path) -> int:
    """How many of the jobs a, b ran at the same time, by what each wrote of its start and end (ns)."""
    (a_start, a_end), (b_start, b_end) = (map(int, (path / name).read_text().split()) for name in "ab")
    return 2 if a_start < b_end and b_start < a_end else 1


def _two_jobs(path: Path, head: str = "") -> Folder:
    return Folder(
        path,
        f"""
{head}
rule all:
    input: "a", "b"
rule work:
    output: "{{name}}"
    wildcard_constraints: name="[ab]"
    resources: gpu0=1
    shell: "start=$(date +%s%N); sleep 1.5; echo $start $(date +%s%N) > {{output}}"
""",
    )


@fact
def an_undeclared_resource_is_unlimited(path: Path) -> None:
    folder = _two_jobs(path)
    folder.run()
    assert _most_at_once(path) == 2


@fact
def a_registered_resource_holds_whatever_the_command_line_says(path: Path) -> None:
    folder = _two_jobs(path, 'workflow.register_resource("gpu0", 1)')
    folder.run("--resources", "gpu0=2", "foo=1")
    assert _most_at_once(path) == 1


@fact
def a_profiles_resources_are_lost_to_the_command_line(path: Path) -> None:
    folder = _two_jobs(path)
    (path / "site").mkdir()
    (path / "site" / "profile.yaml").write_text("resources:\n  gpu0: 1\n")
    folder.run("--profile", "site")
    assert _most_at_once(path) == 1
    folder.run("--profile", "site", "--forceall", "--resources", "foo=1")
    assert _most_at_once(path) == 2


@fact
def config_guesses_types(path: Path) -> None:
    """A number where a commit was meant, text where a list or a truth was, text for every number inside braces."""
    folder = Folder(path, 'import json\njson.dump(config, open("told", "w"))\nrule all:\n')
    given = ["ops=mm", "list=[mm,1]", "duet={rounds: 3}", "short=1234567", "long=12e4567", "yes=true", "no="]
    folder.run("-n", "--config", *given)
    told = json.loads(folder.read("told"))
    assert told["ops"] == "mm"
    assert told["list"] == ["mm", "1"]
    assert told["duet"] == {"rounds": "3"}
    assert told["short"] == 1234567
    assert told["long"] == float("inf")
    assert told["yes"] == "true"
    assert told["no"] is None
    assert folder.run("-n", "--config", "x=1")[0] != 0  # a key of one letter


@fact
def a_configfile_lies_in_the_working_directory(path: Path) -> None:
    """An included file beside the Snakefile."""
    folder = Folder(path, 'configfile: "config.yaml"\ninclude: "part.smk"\nrule all:\n')
    (path / "part.smk").write_text('open("told", "w").write(config["word"])\n')
    (path / "elsewhere").mkdir()
    (path / "config.yaml").write_text("word: here\n")
    (path / "elsewhere" / "config.yaml").write_text("word: there\n")
    folder.run("-n", "--directory", "elsewhere")
    assert folder.read("elsewhere/told") == "there"


@fact
def every_failure_is_exit_status_one(path: Path) -> None:
    """The job's own is lost; its log stays, its output goes."""
    folder = Folder(
        path,
        'rule low:\n    output: "low"\n    log: "low.log"\n'
        '    shell: "touch {output}; echo why > {log}; exit 3"\n',
    )
    code, text = folder.run()
    assert code == 1
    assert "exit status 3" in text or "exit code 3" in text
    assert (folder.has("low"), folder.read("low.log")) == (False, "why")


@fact
def hooks_are_silent_when_nothing_is_done(path: Path) -> None:
    """A rule without an output always runs, and its failure is the invocation's."""
    folder = Folder(
        path,
        f'{CHAIN}\nrule accept:\n    input: "top"\n    shell: "echo accept >> ran; exit 1"\n'
        'onsuccess:\n    print("WELL")\nonerror:\n    print("BAD")\n',
    )
    assert "WELL" in folder.run()[1]
    assert "WELL" not in folder.run()[1]
    folder.ran()
    for _ in range(2):
        code, text = folder.run("accept")
        assert (code, "BAD" in text, folder.ran()) == (1, True, ["accept"])


SLOW = """
rule all:
    input: "low"
rule low:
    output: "low"
    shell: "touch begun; while ! test -e go; do sleep 0.1; done; echo 1 > {output}; touch ended"
"""


@fact
def a_killed_snakemake_leaves_its_jobs(path: Path) -> None:
    """The next run complains of incomplete files or of a lock, and names nobody; --unlock asks nobody."""
    folder = Folder(path, SLOW)
    killed = folder.start()
    folder.wait_for("begun")
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    assert {"IncompleteFilesException:", "LockException:"} & set(folder.run()[1].split())
    assert "LockException" in folder.run("--rerun-incomplete")[1]
    assert folder.run("--unlock")[0] == 0
    (path / "go").touch()
    folder.wait_for("ended")


@fact
def unlock_works_beside_a_live_run(path: Path) -> None:
    folder = Folder(path, SLOW)
    live = folder.start()
    folder.wait_for("begun")
    assert folder.run("--unlock")[0] == 0
    assert live.poll() is None
    (path / "go").touch()
    live.communicate()


@fact
def sigterm_waits_for_what_runs(path: Path) -> None:
    """No lock and no incomplete file is left; the next run goes on."""
    folder = Folder(
        path,
        SLOW.replace('input: "low"', 'input: "next"')
        + 'rule next:\n    input: "low"\n    output: "next"\n    shell: "touch {output}"\n',
    )
    asked = folder.start()
    folder.wait_for("begun")
    asked.send_signal(signal.SIGTERM)
    time.sleep(1)
    (path / "go").touch()
    asked.communicate()
    assert asked.returncode == 1
    assert (folder.has("ended"), folder.has("next")) == (True, False)
    assert folder.run()[0] == 0
    assert folder.has("next")


@fact
def a_checkpoint_hides_what_follows_it(path: Path) -> None:
    """A dry run counts the jobs that are known; each checkpoint that ends evaluates the whole DAG again."""
    folder = Folder(
        path,
        """
def rounds(wildcards):
    open("evaluated", "a").write("x")
    checkpoints.gate.get()
    return ["r2", "r3"]
rule all:
    input: rounds
checkpoint gate:
    output: "gate"
    shell: "touch {output}"
rule late:
    output: "r{n}"
    shell: "echo late >> ran; touch {output}"
""",
    )
    _, text = folder.run("-n")
    assert "rule late" not in text
    folder.run()
    assert folder.ran() == ["late", "late"]
    assert len(folder.read("evaluated")) >= 3


def main() -> int:
    wanted = sys.argv[1:] or list(FACTS)
    unknown = [name for name in wanted if name not in FACTS]
    if unknown:
        print(f"fact {unknown[0]!r} is not known; there are {', '.join(FACTS)}", file=sys.stderr)
        return 2
    return max([_tried(name) for name in wanted])


def _tried(name: str) -> int:
    with tempfile.TemporaryDirectory(prefix="snakemake-fact-") as folder:
        try:
            FACTS[name](Path(folder))
        except AssertionError as error:
            line = error.__traceback__.tb_next.tb_lineno if error.__traceback__ else 0
            print(f"{name}: DOES NOT HOLD ({Path(__file__).name}:{line})", flush=True)
            return 1
    print(f"{name}: holds", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
