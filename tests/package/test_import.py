"""`import lmhead` is light, and says what is missing where an extra is."""

import subprocess
import sys

import pytest


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


@pytest.mark.parametrize(
    ("missing", "use", "who", "extra"),
    [
        ("ipywidgets", "from lmhead import widgets", "lmhead.widgets", "widgets"),
        ("anywidget", "import lmhead; lmhead.quiz", "lmhead.widgets", "widgets"),
        ("traitlets", "from lmhead.widgets import loss", "lmhead.widgets", "widgets"),
        ("matplotlib", "from lmhead.plots import bars", "lmhead.plots", "plots"),
        ("matplotlib", "import lmhead; lmhead.plots", "lmhead.plots", "plots"),
        ("filelock", "from lmhead.smollm import load_model; load_model()", "load_model", "model"),
        ("gguf", "from lmhead.smollm.model import read_gguf; read_gguf('no.gguf')", "load_model", "model"),
        (
            "tokenizers",
            "from lmhead.smollm.tokenizer import build_tokenizer as f; f([], [], [])",
            "load_model",
            "model",
        ),
    ],
)
def test_a_missing_extra_is_named(missing, use, who, extra):
    run = python(f"import sys; sys.modules[{missing!r}] = None\n{use}")
    assert run.stderr.splitlines()[-1] == (f"ModuleNotFoundError: {who} needs {missing}: pip install 'lmhead[{extra}]'")


def test_a_fault_of_our_own_is_not_laid_on_an_extra():
    run = python("import sys; sys.modules['lmhead.widgets._loss'] = None\nfrom lmhead import widgets")
    assert "pip install" not in run.stderr and "lmhead.widgets._loss" in run.stderr.splitlines()[-1]


def test_every_public_name_is_there():
    run = python("import lmhead; print([name for name in lmhead.__all__ if not hasattr(lmhead, name)])")
    assert run.stdout == "[]\n", run.stdout + run.stderr
    run = python("from lmhead import check, plots, quiz, smollm, widgets, no_such_name")
    assert "cannot import name 'no_such_name'" in run.stderr


def test_dir_lists_what_is_imported_on_first_use():
    run = python(
        "import sys, lmhead\n"
        "assert {'check', 'plots', 'quiz', 'smollm', 'widgets', '__version__', *lmhead.__all__} <= set(dir(lmhead))\n"
        "assert 'lmhead.plots' not in sys.modules"
    )
    assert not run.returncode, run.stderr


def test_a_verb_is_no_module():
    """`import lmhead.softmax as m` must not give the function where a module was asked for."""
    run = python("import lmhead\nassert callable(lmhead.softmax)\nimport lmhead.softmax as m")
    assert run.stderr.splitlines()[-1].startswith("ModuleNotFoundError: No module named 'lmhead.softmax'"), run.stderr
