"""The archive of the course, the wheel, the extras and the pins."""

from __future__ import annotations

from tools.faults.mutant import Mutant

T_REPOSITORY = "tests/repository/test_repository.py"
COURSE = "book/_ext/course_archive.py"
PROJECT = "pyproject.toml"
T_PACKED = "tests/repository/test_archive.py -k git_has"
T_SETTINGS = "tests/repository/test_settings.py"

FAULTS = [
    Mutant("archive: numbered chapters alone", COURSE, "for path in sorted((ROOT / \"book\").glob(\"*.ipynb\"))},", "for path in sorted((ROOT / \"book\").glob(\"[0-9]*.ipynb\"))},", T_PACKED),
    Mutant("archive: no reading of its own", COURSE, "        \"README.txt\": README.encode(),\n", "", T_PACKED),
    Mutant("archive: installs from where nothing lies", COURSE, "f\"./{wheel_name}\"", "f\"./wheels/{wheel_name}\"", T_PACKED),
    Mutant("wheel: no licence", PROJECT, "license-files = [\"LICENSE\"]", "license-files = []", T_PACKED),
    Mutant("wheel: no style sheets", PROJECT, ", \"widgets/*.css\"]", "]", T_PACKED),
    Mutant("wheel: no data", PROJECT, "\"data/*\", ", "", T_PACKED),
    Mutant("wheel: no scripts", PROJECT, "\"widgets/*.js\", ", "", T_PACKED),
    Mutant("wheel: no folders in it", PROJECT, "include = [\"lmhead*\"]", "include = [\"lmhead\"]", T_PACKED),
    Mutant("extra: no progress bar", PROJECT, "\"filelock>=3\", \"tqdm>=4\"]", "\"filelock>=3\"]", f"{T_SETTINGS} -k extra"),
    Mutant("extra: one that nothing imports", PROJECT, "plots = [\"matplotlib>=3.9\"]", "plots = [\"matplotlib>=3.9\", \"scipy\"]", f"{T_SETTINGS} -k extra"),
    Mutant("extra: an import outside of its home", "lmhead/names.py", "import numpy as np\n", "import numpy as np\nimport matplotlib\n", f"{T_SETTINGS} -k homes"),
    Mutant("pins: a need of a need is left out", "requirements.txt", "contourpy==1.3.3 ; python_full_version < '3.15'  # via matplotlib\ncontourpy==1.4.0 ; python_full_version >= '3.15'  # via matplotlib\n", "", f"{T_REPOSITORY} -k needs"),
    Mutant("archive: not packed anew for other pins", COURSE, "*package_files(), ROOT / \"requirements.txt\", *", "*package_files(), *", "tests/repository/test_archive.py -k packed_anew"),
    Mutant("archive: its reading gives a command that does not exist", COURSE, "python -m lmhead --fetch\n", "python -m lmhead fetch\n", "tests/repository/test_archive.py -k readme"),
]  # fmt: skip
