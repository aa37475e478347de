from zlbench_core.commands.cli import main

raise SystemExit(main())
