"""What a view draws, announces and speaks."""

from __future__ import annotations

from tools.faults.mutant import Mutant

T_VIEWS = "tests/package/test_views.py"
T_PAINT = "tests/site/test_browser.py -k painted"
T_SHOWN = "tests/site/test_browser.py -k every_control"
T_QUIZ = "tests/package/test_quiz.py"
T_DRAWN = "tests/site/test_browser.py -k drawn_token"

FAULTS = [
    Mutant("view: bars end early", "lmhead/widgets/scene.js", "Math.min(Math.max(fraction || 0, 0), 1)", "0.6 * Math.min(Math.max(fraction || 0, 0), 1)", T_VIEWS),
    Mutant("view: another token's number is announced", "lmhead/widgets/loss.js", "p: decimals(p), loss", "p: decimals(shown.p[0]), loss", T_VIEWS),
    Mutant("view: an arrow points down", "lmhead/widgets/directions.js", "[x * scale, -y * scale]", "[x * scale, y * scale]", T_VIEWS),
    Mutant("view: a label on a line", "lmhead/widgets/directions.js", "!lines.some((line) => meets(line, box, 6))", "true", T_VIEWS),
    Mutant("view: one bar is painted in its track's colour", "lmhead/widgets/render.css", ".lmhead-bar i { display: block; height: 100%; background: var(--lmhead-accent)", ".lmhead-bar i { display: block; height: 100%; background: var(--lmhead-ground)", T_PAINT),
    Mutant("view: bars vanish in the system's colours", "lmhead/widgets/base.css", "    --lmhead-accent: CanvasText;\n", "", T_PAINT),
    Mutant("view: a logit's slider says nothing", "lmhead/widgets/render.js", "\"aria-valuetext\": text, ", "", T_DRAWN),
    Mutant("view: a curve off its axis", "lmhead/widgets/loss.js", "at(Math.exp(-nats), nats))", "at(Math.exp(-nats), nats / 2))", f"{T_VIEWS} -k computes"),
    Mutant("view: areas not to scale", "lmhead/widgets/shapes.js", "const ratio = (columns / rows) ** 0.25, area = rows * columns;", "const ratio = (columns / rows) ** 0.25, area = rows + columns;", f"{T_VIEWS} -k computes"),
    Mutant("view: a NaN is not broken", "lmhead/widgets/overflow.js", "fails = !(off <= ENOUGH)", "fails = off > ENOUGH", f"{T_VIEWS} -k computes"),
    Mutant("view: a gradient's arrow turned", "lmhead/widgets/gradient_step.js", "arrow: [p, goal]", "arrow: [goal, p]", f"{T_VIEWS} -k computes"),
    Mutant("view: how many were kept", "lmhead/widgets/probabilities.js", "kept: kept.length", "kept: labels.length", f"{T_VIEWS} -k computes"),
    Mutant("view: the wrong cosine is marked", "lmhead/widgets/directions.js", "marked: j === best_cosine", "marked: j === best_logit", f"{T_VIEWS} -k computes"),
    Mutant("view: every slider has the first token's name", "lmhead/widgets/scene.js", "name: `${words.logit}: ${labels[j]}`", "name: `${words.logit}: ${labels[0]}`", f"{T_VIEWS} -k computes"),
    Mutant("view: the first draw is said", "lmhead/widgets/scene.js", "labels[tokens.at(-1)]", "labels[tokens[0]]", f"{T_VIEWS} -k draws"),
    Mutant("view: a slider sets its neighbour", "lmhead/widgets/scene.js", "(i === j ? value : z)", "(i === j + 1 ? value : z)", f"{T_VIEWS} -k own_logit"),
    Mutant("view: only the first change is announced", "lmhead/widgets/render.js", "announced = said; show();", "announced ||= said; show();", "tests/site/test_browser.py -k announced"),
    Mutant("view: focus cannot be seen", "lmhead/widgets/base.css", "outline: 3px solid var(--lmhead-accent); outline-offset: 2px;", "outline: none;", "tests/site/test_browser.py -k reached_by_tab"),
    Mutant("view: boxes to scale have no names", "lmhead/widgets/render.js", ',\n        element("span", {}, name)))),', "))),", T_SHOWN),
    Mutant("view: tokens that are cut look like those that are kept", "lmhead/widgets/render.js", "class: classes({ best, cut })", "class: classes({ best })", T_SHOWN),
    Mutant("view: a picture is called as its table", "lmhead/widgets/loss.js", "picture: { name: words.picture, box", "picture: { name: words.caption, box", f"{T_VIEWS} -k computes"),
    Mutant("view: every step of a moving slider is announced", "lmhead/widgets/render.js", "show(); }, 400); // not while", "show(); }, 0); // not while", f"{T_VIEWS} -k silent"),
    Mutant("view: letters are too small on a phone", "lmhead/widgets/render.css", ".lmhead table { font-size: 0.8em; }", ".lmhead table { font-size: 0.6em; }", "tests/site/test_browser.py -k phone"),
    Mutant("view: bars are left blank on paper", "lmhead/widgets/base.css", "  .lmhead, .lmhead * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }\n", "", "tests/site/test_browser.py -k print"),
    Mutant("quick checks: all answers have one id", "lmhead/widgets/quiz.js", "const name = `lmhead-${Math.random().toString(36).slice(2)}`;", 'const name = "lmhead-reply";', f"{T_QUIZ} -k own_form"),
    Mutant("quick checks: each cell counts its answers from one", "lmhead/widgets/quiz.js", "Math.random().toString(36).slice(2)", "ask.count = (ask.count ?? 0) + 1", f"{T_QUIZ} -k own_form"),
    Mutant("quick checks: backticks stand around code", "lmhead/widgets/quiz.js", 'element("code", {}, part.slice(1, -1))', 'element("code", {}, part)', f"{T_QUIZ} -k marked_up"),
    Mutant("figures: the fifth curve has the colour of the first", "lmhead/plots/style.py", "cycler(color=[BLUE, ORANGE, GREEN, PINK, GREY])", "cycler(color=[BLUE, ORANGE, GREEN, PINK])", "tests/book/test_book.py -k each_curve"),
    Mutant("views: the head of a push points back", "lmhead/widgets/render.css", "right: -1px; clip-path: polygon(0 0, 100% 50%, 0 100%);", "right: -1px; clip-path: polygon(100% 0, 0 50%, 100% 100%);", "tests/site/test_browser.py -k head_of_a_push"),
    Mutant("figures: a zero with a sign", "lmhead/plots/one_matrix.py", "{number:z.2f}", "{number:.2f}", "tests/package/test_plots.py -k sign"),
]  # fmt: skip
