"""What is done with a submission beside nbgrader's own steps: no result of its own counts, no hidden case is shown."""

from __future__ import annotations

import re
from typing import Any

from nbformat.v4 import new_output
from nbgrader.preprocessors import NbGraderPreprocessor

HIDDEN = re.compile(r"^### BEGIN HIDDEN TESTS\n.*?^### END HIDDEN TESTS\n", flags=re.M | re.S)
NOT_ONE = "a cell that grades has one result; this one has {results}, and {errors} errors"


class OneResult(NbGraderPreprocessor):  # type: ignore[misc]
    """A cell that grades ends in one number or one error; nothing else earns points.

    nbgrader takes the first number that a cell shows, and full points for none: an answer that shows a number of its
    own, or keeps that of the cell from being shown, would mark itself. And it takes a warning for an error, which it
    is not.
    """

    def preprocess_cell(self, cell: Any, resources: Any, index: int) -> tuple[Any, Any]:
        """One cell."""
        if cell.metadata.get("nbgrader", {}).get("grade"):
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
            kinds = [output.output_type for output in cell.outputs]
            results, errors = kinds.count("execute_result"), kinds.count("error")
            if errors + results != 1:
                said = NOT_ONE.format(results=results, errors=errors)
                timeouts = [output for output in cell.outputs if output.get("ename") == "CellTimeoutError"]
                alone = timeouts[:1] or [new_output("error", ename="NotOneResult", evalue=said, traceback=[said])]
                cell.outputs = [output for output in cell.outputs if output.output_type == "stream"] + alone
        return cell, resources


class HideTests(NbGraderPreprocessor):  # type: ignore[misc]
    """Cut the hidden cases out of the cells that grade; of an error there, keep what it says and no line of code."""

    def preprocess_cell(self, cell: Any, resources: Any, index: int) -> tuple[Any, Any]:
        """One cell."""
        if cell.metadata.get("nbgrader", {}).get("grade") and HIDDEN.search(cell.source):
            cell.source = HIDDEN.sub("", cell.source)
            for output in cell.outputs:
                if output.output_type == "error":
                    output.traceback = [f"{output.ename}: {output.evalue}"]
        return cell, resources
