"""What sentences, captions, alt texts and verdicts say."""

from __future__ import annotations

from typing import Any

from tools.faults.mutant import Mutant, cell_with, exchanged, notebook

CH6 = "book/06_cross_entropy_by_hand.ipynb"
CH8 = "book/08_numerical_stability.ipynb"
CH7 = "book/07_training_the_head.ipynb"
T_BOOK = "tests/book/test_book.py"
T_CLAIMS = "tests/book/test_claims.py"
T_PROSE = "tests/book/test_numbers_in_prose.py"
T_PINNED = "tests/book/test_pinned.py"
T_NOTATION = "tests/book/test_notation.py"


def empty_an_alt_text(content: dict[str, Any]) -> None:
    cell_with(content, "plots.loss_curve")["metadata"]["mystnb"]["image"]["alt"] = ""


def drop_a_caption(content: dict[str, Any]) -> None:
    del cell_with(content, "plots.loss_curve")["metadata"]["mystnb"]["figure"]["caption"]


FAULTS = [
    Mutant("number in a sentence", CH6, "the model pays 0.41703 nats", "the model pays 0.41713 nats", T_PROSE),
    Mutant("number in an alt text", CH6, "1.417 for dog to", "1.471 for dog to", T_PROSE),
    Mutant("alt text emptied", CH6, notebook(empty_an_alt_text), "", T_BOOK),
    Mutant("caption dropped", CH6, notebook(drop_a_caption), "", T_BOOK),
    Mutant("verdict swapped", "book/claims.md", "it is 2.317", "it holds", T_PINNED),
    Mutant("verdict turned", "book/claims.md", "The formula of softmax. | holds |", "The formula of softmax. | does not hold: it is another |", T_CLAIMS),
    Mutant("sign in an alt text", CH7, "minus 0.901 for fish, the truth", "0.901 for fish, the truth", T_PINNED),
    Mutant("wrong sign in a sentence", CH6, "the model pays 0.41703 nats", "the model pays -0.41703 nats", T_PROSE),
    Mutant("another printed number in a sentence", CH6, "the model pays 0.41703 nats", "the model pays 1.41703 nats", T_PINNED),
    Mutant("a letter that the notation lacks", CH6, "The cross-entropy of $q$ and", "The cross-entropy of $r$ and", T_NOTATION),
    Mutant("prose: multiplied for divided", CH6, "Divided by $\\\\log 2$ a loss is in **bits**", "Multiplied by $\\\\log 2$ a loss is in **bits**", f"{T_PINNED} -k 06", refresh="06"),
    Mutant("prose: a number in words", CH6, "more than five times as much", "more than six times as much", f"{T_PINNED} -k 06", refresh="06"),
    Mutant("prose: a link to another chapter", CH6, "{doc}`08_numerical_stability` takes care", "{doc}`07_training_the_head` takes care", f"{T_PINNED} -k 06", refresh="06"),
    Mutant("prose: two passages exchanged", CH6, exchanged("A few landmarks are worth", "A word given half of the bet"), "", f"{T_PINNED} -k 06", refresh="06"),
    Mutant("prose: the year of a reference", "book/references.bib", "@inproceedings{press2017,\n", "@inproceedings{press2017,\n  year = {1917},\n", f"{T_PINNED} -k references.bib"),
    Mutant("prose: what all follow", "book/references.md", "and owes them its order of thought", "and owes them nothing", f"{T_PINNED} -k references"),
    Mutant("prose: two digits of a result exchanged", "benchmarks/README.md", "| 1.20 | 1.21 | 1024, 576, 128,256 | **no** |", "| 1.20 | 1.12 | 1024, 576, 128,256 | yes |", f"{T_PINNED} -k benchmarks"),
    Mutant("prose: a readme that no pin holds", "tools/pins.py", "    *sorted((ROOT / \"beyond\").glob(\"*/README.md\")),\n", "", f"{T_PINNED} -k people_read"),
    Mutant("prose: what a cell prints is not on its page", CH8, '   "id": "cell-018",\n   "metadata": {},\n', '   "id": "cell-018",\n   "metadata": {\n    "tags": [\n     "remove-output"\n    ]\n   },\n', f"{T_PINNED} -k 08"),
    Mutant("prose: labels of one word are not pinned", "tools/pins.py", "if drawn or \" \" in word.strip()]", "if \" \" in word.strip()]", f"{T_PINNED} -k code_says"),
    Mutant("prose: a changed page is compared with itself", "tools/pins.py", '"--format=%H", "--", pin)', '"--format=%H", "--", pin, str(path))', f"{T_PINNED} -k compared"),
]  # fmt: skip
