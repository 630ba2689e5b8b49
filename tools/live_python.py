"""Write anew what the pages' Python is made of: `book/_ext/live_python/manifest.json`.

    python -m tools.live_python

The packages of the project's own environment get the version and the SHA-256 that they have there; run it after
`make lock`. The carriers, and the files of Pyodide that they carry, are written by hand: their hashes stand in the
official `pyodide-lock.json` of that release.
"""

import json
import sys
from typing import Any

from tools.chapters import BOOK

sys.path.insert(0, str(BOOK / "_ext"))
from live_python import MANIFEST, installed_files, sha256_of_files, version_of


def main() -> None:
    manifest = json.loads(MANIFEST.read_text("utf-8"))
    for entry in manifest["installed"]:
        entry["version"] = version_of(entry["package"])
        entry["sha256"] = sha256_of_files(installed_files(entry["package"]))
    MANIFEST.write_text(as_text(manifest), "utf-8")


def as_text(manifest: dict[str, Any]) -> str:
    """JSON with a line for each entry of a list, which a diff shows well."""
    lines = []
    for key, value in manifest.items():
        if isinstance(value, list):
            entries = ",\n".join(f"    {json.dumps(entry)}" for entry in value)
            lines.append(f"  {json.dumps(key)}: [\n{entries}\n  ]")
        else:
            lines.append(f"  {json.dumps(key)}: {json.dumps(value)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    main()
