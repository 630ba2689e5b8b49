"""What a maintainer runs: `python -m tools.NAME`."""
