"""Labels split into hidden ones, which nobody has to annotate."""
