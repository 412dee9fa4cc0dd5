"""The experiments of the papers that Margent grew from, run again: `margent reproduce NAME`. See docs/reproduce.md."""
