"""The command `forebay`, also as `python -m forebay`."""

from forebay.cli.commands import main

__all__ = ["main"]

if __name__ == "__main__":
    raise SystemExit(main())
