"""The command `forebay`, also as `python -m forebay`."""

from forebay.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
