"""The teacher's commands: release assignments, collect what was handed in, grade it in a sandbox, say what to look at.

    course release 06 07        hand out the exercises of chapters 6 and 7
    course grade 06             collect, grade, and write grades.csv and remarks-ch06.csv
    course grade 06 --zip FILE  the same for a zip of submissions, as a learning platform packs it
    course feedback 06          hand back what each student may see of it

All of it lies in LMHEAD_COURSE (by default lmhead-course in your home): the solutions, the seed, the gradebook.
"""

from __future__ import annotations

import argparse
import csv
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from beyond.classroom import remarks, sandbox
from beyond.classroom.assignments import write_assignments

ROOT = Path(__file__).parents[2]


def course_folder() -> Path:
    """Where the course lies."""
    return Path(os.environ.get("LMHEAD_COURSE", Path.home() / "lmhead-course"))


def nbgrader(*words: str, may_fail: bool = False, **settings: str) -> str:
    """Run nbgrader on the course; returns what it says. What it refuses ends the program, unless it may fail."""
    bin = Path(sys.executable).parent  # nbgrader calls alembic and jupyter by name
    environment = {
        **os.environ,
        "PATH": f"{bin}{os.pathsep}{os.environ.get('PATH', '')}",
        "PYTHONPATH": str(ROOT),
        "JUPYTER_CONFIG_PATH": str(ROOT / "beyond" / "classroom"),
        "LMHEAD_COURSE": str(course_folder()),
        **settings,
    }
    command = [str(bin / "nbgrader"), *words]
    run = subprocess.run(command, cwd=course_folder(), env=environment, capture_output=True, text=True, check=False)
    if run.returncode and not may_fail:
        raise SystemExit(f"nbgrader {words[0]}: {last_error(run.stderr)}")
    return run.stderr


def last_error(log: str) -> str:
    """The last line of a log that says what went wrong."""
    lines = [line for line in log.splitlines() if "ERROR" in line] or log.splitlines() or ["no word"]
    return lines[-1]


def release(chapters: list[str], hand_out: bool) -> None:
    """Cut the assignments for students, and put them into the exchange if they are to be handed out there."""
    course_folder().mkdir(mode=0o700, parents=True, exist_ok=True)
    for name in write_assignments(course_folder(), chapters):
        nbgrader("generate_assignment", name, "--force")
        if hand_out:
            nbgrader("release_assignment", name, "--force")
        print(f"{name}: {'released' if hand_out else course_folder() / 'release' / name / f'{name}.ipynb'}")


def grade(chapter: str, archive: Path | None) -> None:
    """Collect and grade one assignment; write grades.csv and the remarks, and print both."""
    name = f"ch{chapter}"
    if not (course_folder() / "source" / name).is_dir():
        raise SystemExit(f"{name} was never released: course release {chapter}")
    if archive:
        collect_zip(name, archive)
    else:
        nbgrader("collect", name, "--update", may_fail=True)  # it fails if nothing was handed in
    with tempfile.TemporaryDirectory(prefix="grading-") as folder:
        if why := sandbox.missing(Path(folder)):
            raise SystemExit(why)
        settings, options = sandbox.settings_of_nbgrader(Path(folder))
        log = nbgrader("autograde", name, "--force", *options, may_fail=True, **settings)
    (course_folder() / f"autograde-{name}.log").write_text(log, encoding="utf-8")
    nbgrader("export", "--to", str(course_folder() / "grades.csv"))
    report(name)


def collect_zip(name: str, archive: Path) -> None:
    """Put the submissions in a learning platform's zip where nbgrader looks for them."""
    place = course_folder() / "downloaded" / name
    shutil.rmtree(place, ignore_errors=True)
    (place / "archive").mkdir(parents=True)
    shutil.copy(archive, place / "archive")
    nbgrader("zip_collect", name, "--force")


def report(name: str) -> None:
    """Print and keep the marks of an assignment, and what the teacher should look at."""
    with (course_folder() / "grades.csv").open(encoding="utf-8", newline="") as file:
        grades = [row for row in csv.DictReader(file) if row["assignment"] == name]
    found = remarks.remarks_on(course_folder(), name)
    with (course_folder() / f"remarks-{name}.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("assignment", "student_id", "remark"))
        writer.writerows((name, student, remark) for student, remark in found)
    scores = {row["student_id"]: f"{row['score']:>5} of {row['max_score']}" for row in grades}
    for who in sorted(scores.keys() | {student for student, _ in found}):
        print(f"{who:24} {scores.get(who, 'not graded')}")
        for student, remark in found:
            if student == who:
                print(f"    ! {remark}")
    look_at = len({student for student, _ in found})
    print(f"{len(scores)} graded, {look_at} to look at: grades.csv and remarks-{name}.csv in {course_folder()}")


def feedback(chapter: str, hand_back: bool) -> None:
    """Write for each student a page with the marks, and put it into the exchange if it is to be handed back there."""
    nbgrader("generate_feedback", f"ch{chapter}", "--force")
    if hand_back:
        nbgrader("release_feedback", f"ch{chapter}")
    print(f"{course_folder() / 'feedback'}: one page for each student")


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="course", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for command, help in (("release", "hand out"), ("grade", "collect and grade"), ("feedback", "hand back")):
        sub = commands.add_parser(command, help=help)
        sub.add_argument("chapters", nargs="*" if command == "release" else 1, help="such as 06")
        if command == "grade":
            sub.add_argument("--zip", type=Path, help="submissions as a learning platform packs them")
        else:
            sub.add_argument("--no-exchange", action="store_true", help="only write the files: there is no hub")
    options = parser.parse_args()
    if options.command == "release":
        release(options.chapters, not options.no_exchange)
    elif options.command == "grade":
        grade(options.chapters[0], options.zip)
    else:
        feedback(options.chapters[0], not options.no_exchange)


if __name__ == "__main__":
    main()
