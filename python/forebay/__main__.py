"""The command `forebay`, also as `python -m forebay`."""

import gc
import os
import sys

from forebay.cli import commands


def main() -> int:
    """Run the command that the command line asks for; its exit status."""
    # What is loaded by now stays to the end. Without it the collector has next to nothing to look
    # through, which saves a tenth of what the process of a short run takes to begin and end.
    gc.freeze()
    status = commands.main()
    # To take the interpreter apart takes as long again. That is for those who have asked to be
    # told of the end, or have threads: where nobody can have, the process just ends. Not after a
    # mistake: what was printed before it has not been written out.
    if status == 0 and sys.modules.keys().isdisjoint(("atexit", "threading")):
        sys.stderr.flush()
        os._exit(status)
    return status


if __name__ == "__main__":
    raise SystemExit(main())
