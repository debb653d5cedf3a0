"""A running User Mode Linux kernel whose clock and network device end in this process."""

from __future__ import annotations

import select
import signal
import socket
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from forebay.errors import MachineError
from forebay.linux.clock import FOREVER, Clock
from forebay.linux.device import NetworkDevice
from forebay.linux.machine import boot_words, image, start, stop

__all__ = ["Kernel"]

_PATIENCE_S = 60
"""Real seconds without a word of the kernel after which it is taken as hung."""

_TIME_OF_DAY_NS = 1_704_067_200_000_000_000  # 2024-01-01, the same in every run


class Kernel:
    """A kernel that stands still but for `run`; times are ns of its own clock.

    `device` is the other end of its `eth0`, `sent` what it has sent there and when. `place` is a
    folder for its files, `init` the text of the script that is its first program. It boots on its
    own, until `boot_ns`.

    Raises
    ------
    UserError
        The kernel has not been built here (validation/linux/kernel.sh).
    MachineError
        It has ended or does not answer; also from the methods.
    """

    def __init__(self, init: str, place: Path, boot_ns: int, switches: Sequence[str] = ()) -> None:
        words = [
            f"time-travel=ext:{place / 'clock'}",
            f"virtio_uml.device={place / 'device'}:1",
            # A packet that the device has taken is no longer the sender's: no interrupt for that.
            "virtio_net.napi_tx=0",
            *switches,
        ]
        self._console = place / "console"
        self._poll = select.poll()
        self._interrupts = False
        self.sent: deque[tuple[int, bytes]] = deque()
        with ExitStack() as stack:
            clock, device = (stack.enter_context(_listen(place / n)) for n in ("clock", "device"))
            self._process = start(boot_words(place, init, words), self._console)
            stack.callback(stop, self._process, signal.SIGKILL)
            with self._explained():
                self._boot(clock, device, boot_ns, stack)
            self._stack = stack.pop_all()

    def _boot(
        self, clock: socket.socket, device: socket.socket, boot_ns: int, stack: ExitStack
    ) -> None:
        self._clock = Clock(self._accept(clock, stack), _TIME_OF_DAY_NS)
        self._poll.register(device, select.POLLIN)
        while self._ready() != device.fileno():
            self._clock.serve()
            self._let_boot(boot_ns)
            if self._clock.waiting:
                raise MachineError(f"{image()} knows no network device of ours; build it anew")
        self._poll.unregister(device)
        self.device = NetworkDevice(self._accept(device, stack))
        stack.callback(self.device.close)
        while not self._clock.waiting:
            self._serve()
            self._let_boot(boot_ns)
        if not self.device.ready:
            raise MachineError("the kernel has not set up its network device")
        self.sent.clear()

    def close(self) -> None:
        """End the kernel and all that runs in it."""
        self._stack.close()

    @property
    def next_ns(self) -> int | None:
        """The time of its next event, `None` if it waits for an interrupt alone."""
        return self._clock.wanted_ns if self._clock.wanted_ns < FOREVER else None

    def run(self, until_ns: int, free_ns: int = 0) -> None:
        """Let it do all that is due up to a time, that included, and what is due before another,
        until which nothing can happen to it."""
        with self._explained():
            while self._clock.wanted_ns <= until_ns:
                if self._clock.wanted_ns < free_ns:
                    self._clock.free_until(free_ns)
                self._clock.run(self._clock.wanted_ns)
                while not self._clock.waiting:
                    self._serve()

    def put(self, frame: bytes, now_ns: int) -> bool:
        """Let its device receive a frame at a time before which nothing is due; False if it has
        left no room for it."""
        with self._explained():
            self._clock.now_ns = now_ns
            if not self.device.put(frame):
                return False
            self.device.interrupt()
            while self.device.unanswered:
                self._serve()
        return True

    def _let_boot(self, boot_ns: int) -> None:
        # Alone in the world, it needs no leave for each of its events.
        if self._clock.waiting and self._clock.wanted_ns < boot_ns:
            self._clock.free_until(boot_ns)
            self._clock.run(self._clock.wanted_ns)

    def _serve(self) -> None:
        """Answer one message of the kernel."""
        ready = self._ready()
        if ready == self._clock.connection.fileno():
            self._clock.serve()
        elif ready == self.device.connection.fileno():
            self.device.serve()
            self.sent.extend((self._clock.now_ns, frame) for frame in self.device.sent)
            self.device.sent.clear()
            if self.device.requests is not None and not self._interrupts:
                self._interrupts = True
                self._poll.register(self.device.requests, select.POLLIN)
        else:
            self.device.interrupted()

    def _ready(self) -> int:
        """The file descriptor of a socket on which the kernel has said something."""
        found = self._poll.poll(1000 * _PATIENCE_S)
        if not found:
            raise MachineError(f"the kernel has said nothing for {_PATIENCE_S} s")
        return found[0][0]

    def _accept(self, listener: socket.socket, stack: ExitStack) -> socket.socket:
        for _ in range(_PATIENCE_S):
            if select.select([listener], [], [], 1.0)[0]:
                connection = stack.enter_context(listener.accept()[0])
                connection.settimeout(_PATIENCE_S)
                self._poll.register(connection, select.POLLIN)
                return connection
            if self._process.poll() is not None:
                break
        raise MachineError("the kernel does not boot")

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Adds what the kernel has printed last to an error."""
        try:
            yield
        except (MachineError, OSError) as error:
            said = self._console.read_text(encoding="utf-8", errors="replace").split("\n")
            raise MachineError(": ".join([str(error), *filter(None, said[-4:])])) from error


def _listen(path: Path) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen()
    return listener
