"""Quoting for a small shell: `join` writes words in a line, `split` reads them again."""

from itertools import product

ALPHABET = "a '\"\\$"


def quote(word):
    """One word as the shell is to read it."""
    if word and all(letter in "a$" for letter in word) and not word.endswith("$"):
        return word
    if "'" not in word:
        return f"'{word}'"
    found = []
    for index, part in enumerate(word.split("'")):
        if index:
            found.append('"\'"' if part.startswith((" ", "$")) else "\\'")
        if part and (" " in part or '"' in part):
            found.append('"' + part.replace('"', '\\"') + '"' if "\\" not in part else f"'{part}'")
        elif part:
            found.append(part.replace("\\", "\\\\"))
    return "".join(found)


def join(words):
    """The line."""
    return " ".join(map(quote, words))


def split(line):
    """The words. Within double quotes a backslash counts before \\, " and $ only; $ before a letter is a variable,
    which is empty, unless it is quoted by '…' or a backslash."""
    words, word, mode, at = [], None, "", 0
    while at < len(line):
        letter = line[at]
        at += 1
        if mode == "'":
            if letter == "'":
                mode = ""
            else:
                word += letter
        elif letter == "\\" and at < len(line) and (mode == "" or line[at] in '\\"$'):
            word = (word or "") + line[at]
            at += 1
        elif letter == "$" and at < len(line) and line[at].isalpha():
            word = word or ""
            while at < len(line) and line[at].isalpha():
                at += 1
        elif letter == '"':
            mode, word = ("" if mode else '"'), word or ""
        elif letter == "'" and not mode:
            mode, word = "'", word or ""
        elif letter == " " and not mode:
            words += [word] if word is not None else []
            word = None
        else:
            word = (word or "") + letter
    return [*words, word] if word is not None else words


def lost(longest):
    """Words of up to `longest` letters that do not come back, and how many there are."""
    words = ["".join(letters) for n in range(longest + 1) for letters in product(ALPHABET, repeat=n)]
    return [word for word in words if split(join([word, "a"])) != [word, "a"]], len(words)
