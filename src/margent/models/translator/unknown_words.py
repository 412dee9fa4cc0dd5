"""Unknown source words as what they are made of: for languages whose words are written without blanks."""

from __future__ import annotations

from collections.abc import Set


def known_pieces(word: str, known: Set[str], longest: int = 8) -> list[str]:
    """Cuts an unknown word into known ones: as few unknown characters as possible, then as few pieces, then the first
    pieces as long as possible. Unknown characters that meet stay together. A word without known parts stays whole.

    cost(i) = min over k of cost(i + k) + (0, 1) if word[i : i + k] is known, (1, 1) if k = 1 and it is not

    known : words that can be translated
    longest : no piece is longer

    >>> known_pieces("北京大学生", {"北京", "大学", "大", "学生"})
    ['北京', '大', '学生']
    >>> known_pieces("abc", {"x"})
    ['abc']
    """
    n = len(word)
    best: list[tuple[int, int]] = [(0, 0)] * (n + 1)
    step = [0] * n
    for start in range(n - 1, -1, -1):
        choices = [
            ((best[start + k][0], best[start + k][1] + 1), k)
            for k in range(min(longest, n - start), 0, -1)
            if word[start : start + k] in known
        ]
        if not choices:  # of a known character the better way never leaves it unknown
            choices = [((best[start + 1][0] + 1, best[start + 1][1] + 1), 1)]
        best[start], step[start] = min(choices, key=lambda choice: choice[0])
    pieces: list[str] = []
    place, unknown = 0, False
    while place < n:
        piece = word[place : place + step[place]]
        if piece in known:
            pieces.append(piece)
            unknown = False
        elif unknown:
            pieces[-1] += piece
        else:
            pieces.append(piece)
            unknown = True
        place += step[place]
    return pieces
