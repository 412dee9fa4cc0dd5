"""Symmetrisation of word alignments on a matrix, as the program of Moses does it: row by row, cell by cell."""

from __future__ import annotations


def grow_diag(forward, backward, final, n, m):
    """`final`: "", "final" or "final-and"."""
    one = [[(i, j) in forward for j in range(m)] for i in range(n)]
    other = [[(i, j) in backward for j in range(m)] for i in range(n)]
    current = [[one[i][j] and other[i][j] for j in range(m)] for i in range(n)]

    def row_free(i):
        return not any(current[i])

    def column_free(j):
        return not any(row[j] for row in current)

    added = True
    while added:
        added = False
        for i in range(n):
            for j in range(m):
                if not current[i][j]:
                    continue
                for a, b in ((-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1)):
                    x, y = i + a, j + b
                    inside = 0 <= x < n and 0 <= y < m
                    if inside and (one[x][y] or other[x][y]) and (row_free(x) or column_free(y)):
                        current[x][y] = added = True
    for direction in (one, other) if final else ():
        for i in range(n):
            for j in range(m):
                if direction[i][j] and not current[i][j]:
                    free = (row_free(i), column_free(j))
                    if all(free) if final == "final-and" else any(free):
                        current[i][j] = True
    return {(i, j) for i in range(n) for j in range(m) if current[i][j]}
