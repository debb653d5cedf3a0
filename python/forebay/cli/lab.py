"""The command `lab`: a scenario in a page that runs it, served here or written to a file."""

from __future__ import annotations

import contextlib
import json
import webbrowser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from forebay.cli.complaints import lists_mechanisms
from forebay.cli.options import NO_LAWS
from forebay.errors import MachineError, UserError
from forebay.native import ENGINE, own_engine
from forebay.run.jobs import Job, check, files_read, load
from forebay.run.outputs import LAB, Output, refuse_losses
from forebay.run.portable import portable_text
from forebay.run.progress import say, say_warnings

__all__ = ["PAGE", "open_lab", "page", "server"]

PAGE = Path(__file__).parents[1] / "lab" / "page.html"
"""The page that `make lab` builds and a wheel holds: one file with the engine in it."""

GIVEN = "/*GIVEN*/"
"""Placeholder of the scenario in the page, as JSON."""

ADDRESS = "127.0.0.1"
"""Only programs of this machine reach it."""


def open_lab(
    scenario: Path | str | None,
    write: Path | None,
    port: int,
    browser: bool = True,
    force: bool = False,
) -> None:
    """`forebay lab`: serve the page until Ctrl-C, or write it to `write`, with `force` in place of
    whatever stands there.

    Raises `UserError` for a wrong scenario, or a file or port that cannot be had.
    """
    job = None if scenario is None else _checked(load(scenario))
    output = None if write is None else Output("--write", write, LAB)
    if output is not None:
        inputs = [] if job is None else map(Path, files_read(job))
        refuse_losses([output], inputs, force=force)
    text = page(scenario)
    if output is not None:
        output.write(text.encode())
        say(f"lab: {write}; it opens from disk in any browser")
        return
    # Ctrl-C is how the command is ended, not a failure.
    with server(text, port) as serving, contextlib.suppress(KeyboardInterrupt):
        url = f"http://{ADDRESS}:{serving.server_port}/"
        say(f"lab: {url}; Ctrl-C ends it")
        if browser:
            webbrowser.open(url)
        serving.serve_forever(poll_interval=0.2)


def page(scenario: Path | str | None) -> str:
    """The page with a scenario in it; with its first lesson if there is none.

    Raises `UserError` for a wrong scenario, and `MachineError` if the page is not built.
    """
    job = None if scenario is None else load(scenario)
    # What is wrong with it is said here, and not only in the page.
    given = "" if job is None else _given(job)
    try:
        text = PAGE.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise MachineError(
            "this installation was built without the page of the lab; wheels of releases have it: "
            "pip install --force-reinstall --no-deps --only-binary :all: forebay; in a checkout "
            "`make lab` builds it, with node and Rust's WebAssembly target"
        ) from None
    return text.replace(GIVEN, given, 1)


def server(text: str, port: int) -> ThreadingHTTPServer:
    """A server of the one page `text`, on the loopback address; on a free port for 0.

    Raises `UserError` if the port cannot be had.
    """
    body = text.encode("utf-8")

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            own = (f"{ADDRESS}:{found.server_port}", f"localhost:{found.server_port}")
            # What stands behind a question mark is for the page, which has no use for it.
            place = self.path.partition("?")[0]
            # A name that leads here from outside is not answered (DNS rebinding).
            if place != "/" or self.headers.get("Host") not in own:
                self.send_error(404)
                return
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Cache-Control", "no-store")
            self.end_headers()
            # The reader may leave before the page is through.
            with contextlib.suppress(ConnectionError):
                self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Requests are of no interest."""

    try:
        found = ThreadingHTTPServer((ADDRESS, port), Handler)
    except OSError as error:
        raise UserError(f"--port: {port} cannot be had: {error.strerror or error}") from None
    return found


def _checked(job: Job) -> Job:
    """The job, of which is said what is hardly meant in it. Raises `UserError` if it is wrong."""
    if own_engine() is not None:
        raise UserError(f"{ENGINE}: the page of the lab has an engine of Forebay's, and no other")
    try:
        say_warnings(check(job)["warnings"])
    except UserError as error:
        first, *others = error.lines
        if lists_mechanisms(first):
            first += f"; {NO_LAWS}"
        raise UserError(first, *others) from None
    return job


def _given(job: Job) -> str:
    """The scenario as JSON that can stand in a script."""
    text = portable_text(job)
    if text is None:
        raise UserError(f"{job.name}: it needs files beside it, which the page cannot hold")
    return json.dumps({"text": text, "name": Path(job.name).name}).replace("<", "\\u003c")
