"""Firefox, driven over WebDriver BiDi: what Playwright does for Chromium, in the few verbs that the test needs.

Playwright drives only a Firefox of its own build; an installed one speaks this protocol by itself, without a driver.
"""

from __future__ import annotations

import itertools
import json
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import websocket

from tests.support import session

NAMES = ("firefox-esr", "firefox", "/Applications/Firefox.app/Contents/MacOS/firefox")

# A proxy that does not exist takes every address but the loopback's, which Firefox asks directly.
SETTINGS = {
    "network.proxy.type": 1,
    "network.proxy.http": "127.0.0.1",
    "network.proxy.http_port": 9,
    "network.proxy.ssl": "127.0.0.1",
    "network.proxy.ssl_port": 9,
    "datareporting.policy.dataSubmissionEnabled": False,
    "browser.shell.checkDefaultBrowser": False,
}

# Said of a formula that is laid out before the last of it has come; test_site.py counts the parts of each.
HALF_COME = "Invalid markup: Incorrect number of children"

KEYS = {"Home": "\ue011", "End": "\ue010", "ArrowRight": "\ue014", "ArrowLeft": "\ue012", "Enter": "\ue007"}


def find_firefox() -> str | None:
    """The path of an installed Firefox."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Firefox:
    """One tab of a running Firefox, and the addresses that it has asked for."""

    def __init__(self, address: str) -> None:
        self.socket = websocket.create_connection(address, timeout=60, suppress_origin=True)
        self.ids = itertools.count(1)
        self.requests: list[str] = []
        self.errors: list[str] = []
        self.call("session.new", capabilities={})
        self.call("session.subscribe", events=["network.beforeRequestSent", "network.fetchError", "log.entryAdded"])
        self.tab = self.call("browsingContext.getTree")["contexts"][0]["context"]

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a command and wait for its result; events that come before it are noted."""
        number = next(self.ids)
        self.socket.send(json.dumps({"id": number, "method": method, "params": params}))
        while True:
            message = json.loads(self.socket.recv())
            if message.get("id") == number:
                if message["type"] == "error":
                    raise RuntimeError(f"{method}: {message['message']}")
                return message["result"]
            self._note(message)

    def _note(self, event: dict[str, Any]) -> None:
        params = event.get("params", {})
        if event.get("method") == "network.beforeRequestSent":
            self.requests.append(params["request"]["url"])
        elif event.get("method") == "network.fetchError":
            self.errors.append(f"failed: {params['request']['url']}")
        elif event.get("method") == "log.entryAdded":
            text = str(params["text"])
            if params["level"] == "error" and not text.startswith(HALF_COME):
                self.errors.append(text)

    def open(self, address: str) -> None:
        """Load a page."""
        self.call("browsingContext.navigate", context=self.tab, url=address, wait="complete")

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression, which may be a promise, by way of JSON."""
        result = self.call(
            "script.evaluate",
            expression=f"Promise.resolve({expression}).then((value) => JSON.stringify(value ?? null))",
            target={"context": self.tab},
            awaitPromise=True,
        )
        if result["type"] == "exception":
            raise RuntimeError(result["exceptionDetails"]["text"])
        return json.loads(result["result"]["value"])

    def wait_for(self, condition: str) -> None:
        """Wait until a JavaScript expression is true, a minute at most."""
        for _ in range(300):
            if self.evaluate(f"Boolean({condition})"):
                return
            time.sleep(0.2)
        raise TimeoutError(condition)

    def press(self, *keys: str) -> None:
        """Press keys one after the other, by name."""
        steps = [{"type": kind, "value": KEYS[key]} for key in keys for kind in ("keyDown", "keyUp")]
        self.call("input.performActions", context=self.tab, actions=[{"type": "key", "id": "keys", "actions": steps}])

    def drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Press the mouse at one place of the window, move it to another, and let go."""
        (x, y), (to_x, to_y) = start, end
        steps = [
            {"type": "pointerMove", "x": round(x), "y": round(y)},
            {"type": "pointerDown", "button": 0},
            {"type": "pointerMove", "x": round(to_x), "y": round(to_y), "duration": 100},
            {"type": "pointerUp", "button": 0},
        ]
        self.call(
            "input.performActions", context=self.tab, actions=[{"type": "pointer", "id": "mouse", "actions": steps}]
        )


@contextmanager
def firefox(path: str, profile: Path) -> Iterator[Firefox]:
    """A headless Firefox with a profile of its own and no way out but the loopback."""
    session.need("browser")
    lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in SETTINGS.items()]
    (profile / "user.js").write_text("".join(lines), encoding="utf-8")
    command = [path, "--headless", "--remote-debugging-port=0", "--profile", str(profile), "about:blank"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    try:
        said = (re.search(r"WebDriver BiDi listening on (ws://\S+)", line) for line in process.stderr or [])
        address = next((found[1] for found in said if found), None)
        assert address, "Firefox did not open its port for WebDriver BiDi"
        tab = Firefox(f"{address}/session")
        with closing(tab.socket):
            yield tab
    finally:
        process.terminate()
        process.wait(30)
        if process.stderr:
            process.stderr.close()
