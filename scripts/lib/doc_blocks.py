"""Parse the fenced blocks of a document (commands, files, and text that is only shown), and compare outputs.

Owns the form that scripts/check_docs requires of documents. It runs no command.
"""

import re

RUN = ("console", "sh")
CODE = ("c", "cmake", "go", "python", "rust", "toml")  # blocks in these languages must be files that commands use, so that tests run them
SHOWN = ("json", "text", "yaml")  # blocks in these languages are never commands
FENCE = re.compile(r"^```(.*)$")
STATUS = re.compile(r"\s# exit status (\d+)(?::.*)?$")
# Times and rates differ from run to run.
VARYING = ((re.compile(r"\b\d[\d.,]*(?:e[+-]?\d+)? ?(?:ns|us|µs|ms|s|seconds?|min)\b"), "TIME"),
           (re.compile(r"\b\d[\d.,]*( [kM])?/s\b"), "RATE"),
           (re.compile(r"\s+"), " "))


class BadDocument(Exception):
    """The document has a block of unknown form; the message has its line."""


class Command:
    """A command, its expected status and, in a console block, its expected output."""

    def __init__(self, line, text, status, expected):
        self.line = line  # number of the line in the document, from 1
        self.text = text
        self.status = status
        self.expected = expected  # None: any output is accepted


class Block:
    """A fence: `kind` is run, file, not-run or shown."""

    def __init__(self, line, language, kind, argument, lines):
        self.line = line
        self.language = language
        self.kind = kind
        self.argument = argument  # the file's name, the reason, or the command that the block needs
        self.lines = lines
        self.commands = _commands(self) if kind == "run" else []


def blocks(text):
    """Returns all fenced blocks in order; raises BadDocument for a block of unknown form."""
    found = []
    opened = None
    for number, line in enumerate(text.splitlines(), 1):
        fence = FENCE.match(line)
        if opened is None:
            if fence:
                opened = (number, fence.group(1).strip(), [])
        elif fence and not fence.group(1):
            found.append(_block(*opened))
            opened = None
        else:
            opened[2].append(line)
    if opened:
        raise BadDocument("%d: this block has no end" % opened[0])
    return found


def _block(number, info, lines):
    language, _, rest = info.partition(" ")
    word, _, argument = rest.partition(":")
    argument = argument.strip()
    if rest and (word not in ("not-run", "file", "needs") or not argument):
        raise BadDocument("%d: '%s' is none of 'not-run: REASON', 'file: NAME' and 'needs: COMMAND'" % (number, rest))
    if language not in RUN + CODE + SHOWN:
        raise BadDocument("%d: a block of '%s' (expected: %s)" % (number, language, ", ".join(RUN + CODE + SHOWN)))
    if word == "file" or word == "not-run":
        return Block(number, language, word, argument, lines)
    if language in RUN:
        return Block(number, language, "run", argument, lines)
    if language in CODE or word == "needs":
        raise BadDocument("%d: a block of '%s' must be a file that a command uses ('file: NAME')" % (number, language))
    for each in lines:
        if re.match(r"\$ |(scripts/|\S*/bin/)?secequiv ", each):
            raise BadDocument("%d: '%s' looks like a command: a block of console or sh is run" % (number, each))
    return Block(number, language, "shown", "", lines)


def _commands(block):
    console = block.language == "console"
    found = []
    continued = False
    for number, line in enumerate(block.lines, block.line + 1):
        if continued:
            found[-1].text += "\n" + line
        elif console and not line.startswith("$ "):
            if not found:
                raise BadDocument("%d: output before any '$ command'" % number)
            found[-1].expected.append(line)
            continue
        elif not console and (not line.strip() or line.startswith("#")):
            continue
        else:
            found.append(Command(number, line[2:] if console else line, 0, [] if console else None))
        continued = line.endswith("\\")
    for command in found:
        status = STATUS.search(command.text)
        if status:
            command.status = int(status.group(1))
            command.text = command.text[:status.start()].rstrip()
    if not found:
        raise BadDocument("%d: a block without commands" % block.line)
    return found


def normalised(line):
    for pattern, name in VARYING:
        line = pattern.sub(name, line)
    return line.strip()


def matches(expected, actual):
    """Returns whether `actual` is the expected output; '...' stands for any text within a line, or for any lines."""
    pattern = ""
    for line in expected:
        if line.strip() == "...":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += ".*".join(re.escape(part) for part in normalised(line).split("...")) + r"\n"
    return re.fullmatch(pattern, "".join(normalised(line) + "\n" for line in actual)) is not None
