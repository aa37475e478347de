"""Compile only: every config of every tuner that is met is compiled, none is timed, the first is launched."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from zlbench_core.pins.keys import kernel_id
from zlbench_core.tuning.compile_ahead import Settings, compiled, warm_up
from zlbench_core.tuning.tuners import Patches, tuner_classes


class CompileOnly:
    name = "off"

    def __init__(self, settings: Settings) -> None:
        # In this process, so that whoever listens to compilations sees each one as it happens.
        self.settings = replace(settings, pool="threads")
        self._kernels: set[str] = set()
        self._configs = 0
        self._failed = 0
        self._running: set[int] = set()

    def patch(self, patches: Patches) -> None:
        for cls in tuner_classes():
            patches.wrap(cls, "run", self._wrap_run)

    def _wrap_run(self, original: Any) -> Any:
        def run(tuner: Any, *args: Any, **kwargs: Any) -> Any:
            if id(tuner) in self._running:
                return original(tuner, *args, **kwargs)
            self._running.add(id(tuner))
            try:
                return self._compile_and_launch(tuner, args, kwargs)
            finally:
                self._running.discard(id(tuner))

        return run

    def _compile_and_launch(self, tuner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        tuner.nargs = dict(zip(tuner.arg_names, args, strict=False))
        configs = list(tuner.prune_configs(kwargs))
        good = self._compile(tuner, args, kwargs, configs)
        self._kernels.add(kernel_id(tuner))
        self._configs += len(configs)
        self._failed += len(configs) - len(good)
        tuner.best_config = config = next((one for one in configs if id(one) in good), configs[0])
        current = {**kwargs, **config.all_kwargs()}
        if config.pre_hook is not None:
            config.pre_hook({**tuner.nargs, **current})
        return tuner.fn.run(*args, **current)

    def _compile(
        self, tuner: Any, args: tuple[Any, ...], kwargs: dict[str, Any], configs: list[Any]
    ) -> set[int]:
        """The ids of the configs that compile."""
        good = set()
        with compiled(tuner, args, kwargs, configs, self.settings) as ready:
            for config in ready:
                try:
                    kernel = warm_up(tuner, args, kwargs, config)
                    if hasattr(kernel, "result"):
                        kernel.result()
                except Exception as error:
                    print(f"AUTOTUNE_COMPILE_FAILED config=({config}) {type(error).__name__}", flush=True)
                    continue
                good.add(id(config))
        return good

    def finish(self, *, complete: bool) -> dict[str, Any]:
        counts = {"kernels": len(self._kernels), "configs": self._configs, "failed": self._failed}
        return {"compiled": counts}
