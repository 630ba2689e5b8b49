"""The tables that stand in where no script runs."""

from __future__ import annotations

from tools.faults.mutant import Mutant

T_VIEWS = "tests/package/test_views.py"
T_STATIC = "tests/package/test_views.py -k without_scripts"

FAULTS = [
    Mutant("view: columns exchanged without scripts", "lmhead/widgets/_gradient_step.py", "(\"token\", \"logit\", \"p\", \"gradient\")", "(\"token\", \"logit\", \"gradient\", \"p\")", T_VIEWS),
    Mutant("table: logit and p exchanged", "lmhead/widgets/_probabilities.py", "[named(label, marks.get(j, \"\")), short(z), decimals(p)]", "[named(label, marks.get(j, \"\")), decimals(p), short(z)]", T_STATIC, refresh="05"),
    Mutant("table: headings of cosine and length exchanged", "lmhead/widgets/_directions.py", "(\"token\", \"column_length\", \"cosine\", \"logit\")", "(\"token\", \"cosine\", \"column_length\", \"logit\")", T_STATIC, refresh="03"),
    Mutant("table: the naive form twice", "lmhead/widgets/_overflow.py", "zip(state[\"labels\"], stored, naive, shifted, strict=True)", "zip(state[\"labels\"], stored, naive, naive, strict=True)", T_STATIC, refresh="08"),
    Mutant("table: headings of count and memory exchanged", "lmhead/widgets/_shapes.py", "(\"array\", \"shape\", \"count\", \"bytes\")", "(\"array\", \"shape\", \"bytes\", \"count\")", T_STATIC),
    Mutant("table: another formula", "lmhead/widgets/_head_cost.py", "\"logits_bytes\": \"N V\"", "\"logits_bytes\": \"N d\"", f"{T_VIEWS} -k computes", refresh="13"),
    Mutant("table: nats under bits", "lmhead/widgets/_loss.py", "(words[\"nats\"], shown[\"loss\"]), (words[\"bits\"], shown[\"bits\"])", "(words[\"nats\"], shown[\"bits\"]), (words[\"bits\"], shown[\"loss\"])", T_STATIC, refresh="06"),
    Mutant("table: p and the counted share exchanged", "lmhead/widgets/_training.py", "[labels[j], decimals(p), decimals(share)]", "[labels[j], decimals(share), decimals(p)]", T_STATIC),
    Mutant("table: all others have what is left of 1 twice", "lmhead/widgets/_prompts.py", "[words[\"rest\"], \"\", decimals(shown[\"rest\"])]", "[words[\"rest\"], \"\", decimals(1 - shown[\"rest\"])]", T_STATIC),
    Mutant("table: headings in the other order", "lmhead/widgets/_view.py", "for text in part[\"headings\"])", "for text in reversed(part[\"headings\"]))", T_STATIC),
    Mutant("table: without a caption", "lmhead/widgets/_view.py", "return f\"<table>{caption}<thead>", "return f\"<table><thead>", T_STATIC),
    Mutant("table: the target is not said", "lmhead/widgets/_view.py", "return f\"{name} {mark}\" if mark else name", "return name", T_STATIC),
]  # fmt: skip
