"""A small backtracking matcher for patterns, which counts its steps."""


class TooMany(Exception):
    """More steps than allowed."""


def parse(pattern):
    """A tree: ("alt", [...]), ("seq", [...]), ("rep", node, least, greedy), ("set", characters) or ("end",)."""
    node, rest = _alternatives(pattern)
    assert not rest, rest
    return node


def _alternatives(text):
    branches = []
    node, text = _sequence(text)
    branches.append(node)
    while text.startswith("|"):
        node, text = _sequence(text[1:])
        branches.append(node)
    return (branches[0] if len(branches) == 1 else ("alt", branches)), text


def _sequence(text):
    parts = []
    while text and text[0] not in "|)":
        node, text = _atom(text)
        if text and text[0] in "*+?":
            sign, text = text[0], text[1:]
            greedy = not text.startswith("?")
            text = text if greedy else text[1:]
            node = ("alt", [node, ("seq", [])]) if sign == "?" else ("rep", node, int(sign == "+"), greedy)
        parts.append(node)
    return ("seq", parts), text


def _atom(text):
    if text[0] == "(":
        node, text = _alternatives(text[1:])
        return node, text[1:]
    if text[0] == "[":
        inside, _, rest = text[1:].partition("]")
        return ("set", inside), rest
    if text[0] == "$":
        return ("end",), text[1:]
    return ("set", text[0]), text[1:]


def steps(pattern, subject, limit=2_000_000):
    """(matched, steps) for a match that begins at the first character. A repetition whose turn is empty ends."""
    count = 0

    def match(node, at, then):
        nonlocal count
        count += 1
        if count > limit:
            raise TooMany
        kind = node[0]
        if kind == "set":
            return at < len(subject) and subject[at] in node[1] and then(at + 1)
        if kind == "end":
            return at == len(subject) and then(at)
        if kind == "alt":
            return any(match(branch, at, then) for branch in node[1])
        if kind == "seq":
            return row(node[1], 0, at, then)
        return again(node, at, 0, then)

    def row(parts, index, at, then):
        if index == len(parts):
            return then(at)
        return match(parts[index], at, lambda reached: row(parts, index + 1, reached, then))

    def again(node, at, turns, then):
        _, inner, least, greedy = node

        def more():
            return match(inner, at, lambda reached: reached > at and again(node, reached, turns + 1, then))

        if turns < least:
            return more()
        return (more() or then(at)) if greedy else (then(at) or more())

    return match(parse(pattern), 0, lambda at: True), count
