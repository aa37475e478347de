"""A headless Chromium over the DevTools protocol (https://chromedevtools.github.io/devtools-protocol/tot/)."""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import websocket

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--remote-debugging-port=0",
    "--remote-allow-origins=*",
)
PATIENCE = 60.0


def find_browser() -> str | None:
    return next((path for name in PROGRAMS if (path := shutil.which(name))), None)


class Tab:
    """One page. `events` holds everything that the browser reported, in order."""

    def __init__(self, address: str) -> None:
        self.socket = websocket.create_connection(address, timeout=PATIENCE)
        self.events: list[dict[str, Any]] = []
        self.number = 0
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.ask(f"{domain}.enable")

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": params}))
        while True:
            message = json.loads(self.socket.recv())
            if message.get("id") == self.number:
                assert "error" not in message, message
                return message["result"]
            self.events.append(message)

    def open(self, path: Path, *, width: int = 1200, height: int = 900, dark: bool = False) -> None:
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", features=[scheme])
        self.resize(width, height)
        self.events.clear()
        self.ask("Page.navigate", url=path.as_uri())
        self.wait_for("document.readyState === 'complete'")

    def resize(self, width: int, height: int) -> None:
        self.ask(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def value(self, expression: str) -> Any:
        found = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def wait_for(self, expression: str) -> None:
        end = time.monotonic() + PATIENCE
        while not self.value(f"Boolean({expression})"):
            assert time.monotonic() < end, f"never true: {expression}"
            time.sleep(0.05)

    def screenshot(self, path: Path) -> None:
        """The whole page, not only what a window shows."""
        picture = self.ask("Page.captureScreenshot", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(picture["data"]))

    def complaints(self) -> list[str]:
        """Errors and warnings of the console, thrown exceptions, and what the content policy blocked."""
        found = []
        for event in self.events:
            params = event.get("params", {})
            if event.get("method") == "Runtime.exceptionThrown":
                found.append(str(params["exceptionDetails"]))
            elif event.get("method") == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning"):
                found.append(str(params["args"]))
            elif event.get("method") == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
                found.append(str(params["entry"]))
        return found

    def requests(self) -> list[str]:
        """The addresses that the page asked for, itself among them."""
        sent = [event for event in self.events if event.get("method") == "Network.requestWillBeSent"]
        return [event["params"]["request"]["url"] for event in sent]


@contextmanager
def browser_tab(program: str, profile: Path) -> Iterator[Tab]:
    with open(profile.parent / "browser.log", "w+", encoding="utf-8") as log:
        process = subprocess.Popen(
            [program, *FLAGS, f"--user-data-dir={profile}", "about:blank"],
            stdout=log,
            stderr=log,
            stdin=subprocess.DEVNULL,
        )
        try:
            tab = Tab(_tab_address(profile, process))
            yield tab
            tab.socket.close()
        finally:
            process.terminate()
            process.wait(timeout=PATIENCE)


def _tab_address(profile: Path, process: subprocess.Popen[bytes]) -> str:
    """The browser writes its port into its profile once it listens."""
    from urllib.request import urlopen

    end = time.monotonic() + PATIENCE
    while not (profile / "DevToolsActivePort").exists():
        assert process.poll() is None, "the browser ended before it listened"
        assert time.monotonic() < end, "the browser never listened"
        time.sleep(0.05)
    port = re.match(r"\d+", (profile / "DevToolsActivePort").read_text()).group()
    with urlopen(f"http://127.0.0.1:{port}/json/list", timeout=PATIENCE) as answer:
        return next(tab["webSocketDebuggerUrl"] for tab in json.load(answer) if tab["type"] == "page")
