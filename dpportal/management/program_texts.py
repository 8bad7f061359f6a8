"""Which English texts programs compose, or hand on without gettext: read from the code, for the catalogue.

GNU xgettext finds what `gettext` and template tags mark. `mechanisms` knows no Django, and readers of files and workers
say what is wrong in plain English, which `platform.stored_texts` translates where it is shown. Here their templates are
found in the syntax tree, an f-string as the template that it is.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
MARKED = {
    "_",
    "gettext",
    "gettext_lazy",
    "ngettext",
    "ngettext_lazy",
    "pgettext",
    "npgettext",
    "gettext_noop",
}
# What they say is for programmers, for the log or for the command line.
FOR_PROGRAMMERS = {
    "ArgumentParser", "AssertionError", "AttributeError", "CommandError", "ContextVar", "ImproperlyConfigured",
    "ImportError", "IndexError", "KeyError", "LookupError", "NotImplementedError", "RuntimeError", "TypeError",
    "ValueError", "add_argument", "cast", "compile", "debug", "dict", "error", "exception", "execute", "info", "print",
    "warning",
}  # fmt: skip
# Parts of the library whose texts are for programmers, too, or stand in files that are the same in every language.
OF_LIBRARY_PROGRAMMERS = (
    "advice", "disclosure.py", "histogram/unevenness.py", "matrix/optimise", "matrix/query_columns.py", "noise",
    "registry.py", "summary/statistics.py", "tabular", "verify/expected.py", "verify/headings.py",
    "verify/page_tables.py", "verify/printed_cell.py", "verify/printed_table.py", "verify/quantities.py",
    "verify/sentences.py", "verify/translated.py",
)  # fmt: skip
# Rooms of commands, of queries, and of what only programs read.
OF_PROGRAMS = (
    "api", "history", "jobs/supervisor.py", "jobs/embedded.py", "management", "operations/metrics.py",
    "platform/data_folder.py", "platform/environment.py", "platform/identity_provider.py", "platform/keys.py",
    "platform/mail.py", "platform/master_key.py", "platform/two_people.py", "settings.py", "operations/examples.py",
    "operations/demonstration.py", "platform/records_guard.py", "budgets/writing.py", "tables/sources.py",
    "tables/pushdown/types.py",
)  # fmt: skip
PHRASE = re.compile(r"[A-Za-z’']{2,},? +[“{]?[A-Za-z]{2,}|[A-Za-z]{2,} \{|\} [A-Za-z]{2,}|^1 [a-z]{3,}$")
SENTENCE = re.compile(r"[A-Z“{%].* .*[.?!…]|[A-Z].*\. \{\w+\}", re.DOTALL)
QUERY = re.compile(
    r"\b(SELECT|DELETE FROM|CASE WHEN|CREATE|EXPLAIN|EXISTS|NEW\.|OLD\.|SET [a-z_]+ =)|</|/>|xmlns|^[\w\s]*=|://schemas"
)
# Rooms of the portal in which fragments are put together to sentences that people read.
OF_FRAGMENTS = (
    "tables/facts.py", "tables/faults.py", "tables/formats/__init__.py", "tables/formats/detection.py",
    "tables/formats/packed.py", "tables/formats/row_errors.py", "tables/meaning/parse_options.py",
    "tables/proposals.py",
)  # fmt: skip
# Names of a class or a call that people read, whatever they look like.
SHOWN = {"title", "summary", "HALVINGS", "LEAVES"}
DESCRIBED = {"Parameter", "integer", "BundleFile", "Table"}


class ProgramText(NamedTuple):
    """A template, and where it stands."""

    template: str
    place: str


def program_texts() -> list[ProgramText]:
    """Of `mechanisms` all, of the portal the sentences and what describes files and acts; each once."""
    texts: dict[str, ProgramText] = {}
    for room in ("mechanisms", "dpportal"):
        for path in sorted((ROOT / room).rglob("*.py")):
            if not _is_skipped(path):
                for text in _TextFinder.texts_of(
                    path, takes_phrases=room == "mechanisms" or _is_in(path, "dpportal", OF_FRAGMENTS)
                ):
                    texts.setdefault(text.template, text)
    return list(texts.values())


def _is_skipped(path: Path) -> bool:
    inside = path.relative_to(ROOT)
    if "migrations" in inside.parts or inside.name in ("triggers.py", "__main__.py"):
        return True
    if inside.is_relative_to("mechanisms"):
        return _is_in(path, "mechanisms", OF_LIBRARY_PROGRAMMERS)
    return "commands" in inside.parts or _is_in(path, "dpportal", OF_PROGRAMS)


def _is_in(path: Path, folder: str, rooms: Collection[str]) -> bool:
    return any(path.is_relative_to(ROOT / folder / room) for room in rooms)


class _TextFinder(ast.NodeVisitor):
    """Goes through one module."""

    def __init__(self, path: Path, *, takes_phrases: bool) -> None:
        self.path, self.takes_phrases = path, takes_phrases
        self.texts: list[ProgramText] = []

    @classmethod
    def texts_of(cls, path: Path, *, takes_phrases: bool) -> list[ProgramText]:
        reader = cls(path, takes_phrases=takes_phrases)
        reader.visit(ast.parse(path.read_text()))
        return reader.texts

    def visit_Expr(self, node: ast.Expr) -> None:
        """A docstring is none."""
        if not isinstance(node.value, ast.Constant):
            self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        name = _name(node.func)
        if name in MARKED | FOR_PROGRAMMERS:
            return
        if name in DESCRIBED:
            self._take_all(node.args[1:])
        if name in ("record", "note"):
            self._take_all(node.args[1:3])
        self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        """A key is none."""
        self.visit(node.value)

    def visit_Compare(self, node: ast.Compare) -> None:
        """What is compared is not shown."""

    def visit_Assign(self, node: ast.Assign) -> None:
        targets = [each for target in node.targets for each in getattr(target, "elts", [target])]
        self._assigned([_name(target) for target in targets], node.value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self._assigned([_name(node.target)], node.value)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        if "about" in node.name:
            self._take_all(
                [each.value for each in ast.walk(node) if isinstance(each, ast.Return) and each.value]
            )
        self.generic_visit(node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        self._take(node, _template(node))
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                self.visit(part)

    def visit_FormattedValue(self, node: ast.FormattedValue) -> None:
        """A format is no text, but a value may hold one."""
        self.visit(node.value)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str):
            self._take(node, node.value)

    def _assigned(self, names: list[str], value: ast.expr) -> None:
        if any(name in SHOWN or name.startswith("ABOUT") for name in names):
            self._take_all([value])
        else:
            self.visit(value)

    def _take_all(self, nodes: list[ast.expr]) -> None:
        """Every text in them that has a letter."""
        for node in nodes:
            for text in _texts_in(node):
                if re.search("[A-Za-z]{2}", text):
                    self._add(node, text)

    def _take(self, node: ast.expr, text: str) -> None:
        is_shown = PHRASE.search(text) if self.takes_phrases else SENTENCE.fullmatch(text.strip())
        if is_shown and not QUERY.search(text):
            self._add(node, text)

    def _add(self, node: ast.expr, text: str) -> None:
        place = f"{self.path.relative_to(ROOT)}:{node.lineno}"
        self.texts.append(ProgramText(text.strip(), place))


def _texts_in(node: ast.expr) -> Iterator[str]:
    """The texts of an expression that gettext does not mark."""
    if isinstance(node, ast.JoinedStr):
        yield _template(node)
    elif isinstance(node, ast.Constant):
        if isinstance(node.value, str):
            yield node.value
    elif not (isinstance(node, ast.Call) and _name(node.func) in MARKED):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                yield from _texts_in(child)


def _template(node: ast.JoinedStr) -> str:
    """An f-string as `str.format` would fill it: a value has the last name of its expression, or the next free one."""
    text, names = "", dict[str, str]()
    for part in node.values:
        if isinstance(part, ast.FormattedValue):
            text += f"{{{_place_name(part.value, names)}}}"
        elif isinstance(part, ast.Constant):
            text += str(part.value).replace("{", "{{").replace("}", "}}")
    return text


def _place_name(value: ast.expr, names: dict[str, str]) -> str:
    """names: of the places before it, with their expressions; this one's is added."""
    expression, name = ast.dump(value), _name(value).strip("_") or "value"
    if names.get(name, expression) != expression:
        name = f"{name}_{len(names)}"
    names[name] = expression
    return name


def _name(node: ast.AST) -> str:
    """The last name of an expression, that of a call's function or first argument among them; else empty."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Call(func=function):
            return _name(function)
        case ast.Subscript(value=value):
            return _name(value)
    return ""
