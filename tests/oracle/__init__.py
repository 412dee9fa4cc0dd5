"""Plain, slow, obviously correct twins of what the library computes. They import nothing of it."""
