from zlbench_core.cli import main

raise SystemExit(main())
