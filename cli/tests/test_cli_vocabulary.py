"""Tests that the commands share one vocabulary: an option has one type and one meaning in all commands, and all help texts have
the same form."""

import json
import re
import sys

from cli_tool import ROOT, run

sys.path.insert(0, str(ROOT / "scripts"))

from as_module import load  # noqa: E402

DESCRIPTION = json.loads(run("--list-options").out)
OPTIONS = [(command["name"], name, option) for command in [{"name": "", **DESCRIPTION}, *DESCRIPTION["commands"]]
           for option in command["options"] for name in option["names"] or [option["positional"]]]


def test_an_option_has_one_type_and_one_meaning():
    first = {}
    for command, name, option in OPTIONS:
        if not option["names"]:
            continue  # positional arguments may differ between commands
        meaning = (option["type"], option["several"], option["text"])
        known = first.setdefault(name, (command, meaning))
        assert meaning == known[1], "%s: %s %s, but %s %s" % (name, command, meaning, *known)


def test_help_texts_start_with_a_verb_and_fit_a_line():
    for command, name, option in OPTIONS:
        text = option["text"]
        assert re.match(r"[A-Z][A-Za-z]+\b", text) and not re.search(r"[^.]\.$", text) and "\n" not in text and len(text) <= 80, (command, name, text)
        if option["names"]:
            assert text.split()[0] not in ("The", "A", "An", "No", "Of", "Most", "Seconds", "What", "Which", "How", "For", "So", "Without"), (command, name, text)


def test_descriptions_of_commands_fit_a_line():
    for command in DESCRIPTION["commands"]:
        text = command["text"]
        assert re.match(r"[A-Z][a-z]+\b", text) and not text.endswith(".") and "\n" not in text and len(text) <= 80, command["name"]


def test_every_command_is_in_a_group():
    groups = list(dict.fromkeys(each["group"] for each in DESCRIPTION["commands"]))
    assert groups == ["Check and prove", "Understand", "Measure", "Convert"]


def test_the_reference_is_up_to_date():
    assert load(ROOT / "scripts" / "gen_reference").stale(DESCRIPTION) == []
    pages = {path.stem for path in (ROOT / "docs" / "reference").glob("*.md")}
    assert pages - {each["name"] for each in DESCRIPTION["commands"]} == {"verdicts"}
