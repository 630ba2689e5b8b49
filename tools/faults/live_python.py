"""Faults of Python on the page: what is run and when, what is kept, what it is made of."""

from tools.faults.mutant import Mutant

CELLS, OUTPUTS = "book/_ext/live_python/cells.js", "book/_ext/live_python/outputs.js"
WORKER = "book/_ext/live_python/worker.js"
BUTTONS, BUILD = "book/_ext/live_python/first/buttons.js", "book/_ext/live_python.py"
T_PAGE, T_BUILD = "tests/site/test_live_python.py", "tests/site/test_live_python_build.py"

FAULTS = [
    Mutant(
        "page's Python: cells before are not run",
        CELLS,
        "at <= last && (at === last",
        "at === last && (at === last",
        f"{T_PAGE} -k comes_before",
    ),
    Mutant(
        "page's Python: stopped, and the cells count as run",
        CELLS,
        "for (const cell of cells) cell.ran = undefined;",
        "",
        f"{T_PAGE} -k endless",
    ),
    Mutant(
        "page's Python: an edit is not kept",
        CELLS,
        "localStorage.setItem(livePython.saved, JSON.stringify(edits))",
        "void 0",
        f"{T_PAGE} -k survive",
    ),
    Mutant(
        "page's Python: words of the book under another figure",
        OUTPUTS,
        "|| cell.changed() || anyChanged()",
        "",
        f"{T_PAGE} -k figure_of_changed",
    ),
    Mutant(
        "page's Python: started before the first click",
        BUTTONS,
        "if (edits) load();",
        "load();",
        f"{T_PAGE} -k first_click",
    ),
    Mutant(
        "page's Python: another page starts it anew",
        WORKER,
        "if (memory) {",
        "if (false) {",
        f"{T_PAGE} -k next_page",
    ),
    Mutant(
        "page's Python: all pages draw the same random numbers",
        WORKER,
        "import random; random.seed()",
        "pass",
        f"{T_PAGE} -k next_page",
    ),
    Mutant(
        "page's Python: the memory of every build is kept for ever",
        WORKER,
        "await caches.delete(KEPT); // that of another build",
        "",
        f"{T_PAGE} -k next_page",
    ),
    Mutant(
        "page's Python: a package of another hash is taken",
        BUILD,
        'if sha256_of_files(files) != entry["sha256"]:',
        "if False:",
        f"{T_BUILD} -k other_byte",
    ),
    Mutant(
        "page's Python: the second carrier is not asked",
        BUILD,
        "            failed = failed or error",
        "            raise",
        f"{T_BUILD} -k carriers",
    ),
    Mutant(
        "page's Python: a missing part is no failure under CI",
        BUILD,
        'if os.environ.get("CI"):',
        "if False:",
        f"{T_BUILD} -k under_ci",
    ),
    Mutant(
        "live python: a changed lmhead is not packed anew",
        "book/_ext/live_python.py",
        "for name, data in (own_files() | ours).items()",
        "for name, data in ours.items()",
        f"{T_BUILD} -k anew",
    ),
    Mutant(
        "Python on the page: code in an editor is said twice",
        "book/_ext/live_python/editor.js",
        ', { ariaHidden: "true" })',
        ")",
        f"{T_PAGE} -k said_once",
    ),
    Mutant(
        "Python on the page: memory of an old Python is resumed",
        "book/_ext/live_python.py",
        'started = b"".join([*(made[name] for name in core), worker.encode()])',
        "started = worker.encode()",
        f"{T_BUILD} -k another_address",
    ),
    Mutant(
        "Python on the page: two runs at once",
        "book/_ext/live_python/cells.js",
        "  turn = turn.then(() => runInTurn(cell, last, all))",
        "  turn = Promise.resolve().then(() => runInTurn(cell, last, all))",
        f"{T_PAGE} -k at_once",
    ),
    Mutant(
        "Python on the page: Restore loses the keyboard's place",
        "book/_ext/live_python/cells.js",
        '    if (document.activeElement === there) buttonOf(cell, "Run", "Stop").focus();\n',
        "",
        f"{T_PAGE} -k is_restored",
    ),
    Mutant(
        "Python on the page: what a run says is not announced",
        "book/_ext/live_python/first/buttons.js",
        '    status.setAttribute("role", "status");\n',
        "",
        f"{T_PAGE} -k nothing_of_python",
    ),
]
