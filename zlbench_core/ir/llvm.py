"""LLVM IR text without debug information, its metadata numbered anew."""

from __future__ import annotations

import re
from collections.abc import Iterator

_STRING_OR_COMMENT = re.compile(r'"[^"]*"|;[^\n]*')
_ATTACHED = re.compile(r",? !dbg !\d+")
_DEBUG_LINE = re.compile(
    r"^\s*(#dbg_|(tail )?call void @llvm\.dbg\.|declare void @llvm\.dbg\.|source_filename = )"
)
_NODE = re.compile(r"^!(\d+) = (.*)$")
_NAMED = re.compile(r"^!([A-Za-z_.][\w.]*) = (.*)$")
_STRING_OR_REFERENCE = re.compile(r'"[^"]*"|!(\d+)\b')
_DEBUG_NODE = re.compile(r'^(distinct )?!DI[A-Z]|!"(Debug Info|Dwarf) Version"')


def readable_llvm(text: str) -> str:
    """Drop comments, `!dbg` attachments, debug records and debug nodes; number what metadata is left.

    Loop metadata names its source lines among its operands: those operands go, the loop's properties stay.
    Named metadata is sorted: Triton 3.2 writes it in another order when there is debug information.
    """
    code, named, nodes = _split(_STRING_OR_COMMENT.sub(_keep_string, text))
    debug = {number for number, body in nodes.items() if _DEBUG_NODE.search(body)}
    lines = code + [f"!{name} = {_without_operands(body, debug)}" for name, body in sorted(named)]
    return _numbered(lines, {n: _without_operands(body, debug) for n, body in nodes.items()})


def _keep_string(match: re.Match[str]) -> str:
    return match[0] if match[0].startswith('"') else ""


def _split(text: str) -> tuple[list[str], list[tuple[str, str]], dict[str, str]]:
    """The code lines, the named metadata and the numbered nodes of a module."""
    code: list[str] = []
    named: list[tuple[str, str]] = []
    nodes: dict[str, str] = {}
    for line in text.splitlines():
        if node := _NODE.match(line):
            nodes[node[1]] = node[2].rstrip()
        elif name := _NAMED.match(line):
            if name[1] != "llvm.dbg.cu":
                named.append((name[1], name[2].rstrip()))
        elif line.strip() and not _DEBUG_LINE.match(line):
            code.append(_ATTACHED.sub("", line).rstrip())
    return code, named, nodes


def _without_operands(body: str, dropped: set[str]) -> str:
    opening, brace, inside = body.partition("!{")
    if not brace:
        return body
    operands = [
        operand for operand in _operands(inside.removesuffix("}")) if operand.lstrip("!") not in dropped
    ]
    return f"{opening}!{{{', '.join(operands)}}}"


def _operands(inside: str) -> Iterator[str]:
    """The operands of a metadata tuple, split at the commas that are outside strings and brackets."""
    depth, start = 0, 0
    for match in re.finditer(r'"[^"]*"|[(\[{<]|[)\]}>]|,', inside):
        if match[0] in "([{<":
            depth += 1
        elif match[0] in ")]}>":
            depth -= 1
        elif match[0] == "," and depth == 0:
            yield inside[start : match.start()].strip()
            start = match.end()
    if inside[start:].strip():
        yield inside[start:].strip()


def _numbered(lines: list[str], nodes: dict[str, str]) -> str:
    """`lines`, followed by the nodes that they reach, numbered in the order in which they are met."""
    numbers: dict[str, int] = {}

    def rename(match: re.Match[str]) -> str:
        if match[1] is None:
            return match[0]
        return f"!{numbers.setdefault(match[1], len(numbers))}"

    written = [_STRING_OR_REFERENCE.sub(rename, line) for line in lines]
    done = 0
    while done < len(numbers):
        number = list(numbers)[done]
        written.append(f"!{done} = {_STRING_OR_REFERENCE.sub(rename, nodes.get(number, ''))}")
        done += 1
    return "".join(f"{line}\n" for line in written)
