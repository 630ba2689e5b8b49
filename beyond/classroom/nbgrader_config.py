"""What nbgrader has to know, teacher and students alike: found by way of JUPYTER_CONFIG_PATH."""

import os
from pathlib import Path

c = get_config()  # type: ignore[name-defined]  # noqa: F821

c.CourseDirectory.course_id = "lmhead"
c.CourseDirectory.root = os.environ.get("LMHEAD_COURSE", str(Path.home() / "lmhead-course"))  # the teacher's, private
c.CourseDirectory.student_id_exclude = ".ipynb_checkpoints"
c.Exchange.root = os.environ.get("LMHEAD_EXCHANGE", "/srv/lmhead/exchange")  # handed out and handed in

c.ClearSolutions.code_stub = {"python": "...  # your code"}
c.Execute.timeout = 20  # seconds for a cell; the exercises need less than one
c.LimitOutput.max_lines = 200  # an answer that prints without end

# The files that learning platforms pack: Moodle's "Ada Lovelace_1234_assignsubmission_file_/ch06.ipynb", Canvas's
# "lovelaceada_LATE_1234_5678_ch06-1.ipynb". The name and the first number are the student.
c.FileNameCollectorPlugin.named_regexp = (
    r".*/(?P<student_id>[^/]+?_\d+)(?:_[^/]*)?[_/](?P<file_id>ch\d+)(?:-\d+)?\.ipynb$"
)

# Between running a submission and taking its points: see `preprocessors.py`.
OURS = "beyond.classroom.preprocessors."
THEIRS = "nbgrader.preprocessors."
c.Autograde.autograde_preprocessors = [
    THEIRS + "Execute",
    OURS + "OneResult",
    "nbconvert.preprocessors.ClearMetadataPreprocessor",
    *(THEIRS + name for name in ("LimitOutput", "SaveAutoGrades", "AssignLatePenalties", "CheckCellMetadata")),
]
c.GenerateFeedback.preprocessors = [
    THEIRS + "GetGrades",
    OURS + "HideTests",
    "nbconvert.preprocessors.CSSHTMLHeaderPreprocessor",
]
