"""`import lmhead` is light, and says what is missing where an extra is."""

import subprocess
import sys


def python(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


def test_the_core_imports_numpy_alone():
    run = python(
        "import sys; before = set(sys.modules); import lmhead\n"
        "new = {name.partition('.')[0] for name in set(sys.modules) - before}\n"
        "foreign = new - set(sys.stdlib_module_names) - {'lmhead', 'numpy'}\n"
        "print(sorted(name for name in foreign if not name.startswith('_')))"
    )
    assert run.stdout == "[]\n", run.stdout + run.stderr


def test_a_missing_extra_is_named():
    run = python("import sys; sys.modules['ipywidgets'] = None\nfrom lmhead import widgets")
    assert run.stderr.splitlines()[-1] == (
        "ModuleNotFoundError: lmhead.widgets needs ipywidgets: pip install 'lmhead[widgets]'"
    )


def test_every_public_name_is_there():
    run = python("import lmhead; print([name for name in lmhead.__all__ if not hasattr(lmhead, name)])")
    assert run.stdout == "[]\n", run.stdout + run.stderr
    run = python("from lmhead import check, plots, quiz, smollm, widgets, no_such_name")
    assert "cannot import name 'no_such_name'" in run.stderr
