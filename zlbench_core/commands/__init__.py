"""One module per command of zlbench: `add(commands)` declares it, `run(args)` answers with an exit code."""
