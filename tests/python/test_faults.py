"""Sweeps that are killed, whose processes are killed, and whose disk or clock fails.

A sweep, or one of the processes that make its runs, gets SIGKILL at random moments and is started
again. In the end its journal must be the same, record by record, as that of a sweep that nothing
interrupted. `FOREBAY_KILLS` in the environment says how many kills of each kind there are (default
10); `make validate ONLY=faults` sets it to 200.
"""

# ruff: noqa: TID251 (waits no longer than for a time)

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import front
import pytest
from numpy.random import default_rng

from forebay.errors import MachineError
from forebay.run.executors import executor
from forebay.run.jobs import Job, build, version
from forebay.run.journal import Journal

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs Linux's /proc"),
]

KILLS = int(os.environ.get("FOREBAY_KILLS", "10"))

SWEEP = """
scenario = "small.toml"
replications = 15
quantities = ["flows.chatter.throughput_bps", "events"]

[grid]
duration = ["40 s", "50 s"]
links.wire.rate = ["5 Mbit/s", "10 Mbit/s"]
"""
RUNS = 60
THROUGH: list[str] = []
PATIENCE_S = 300
"""After this something hangs; nothing is expected to take as long."""


@pytest.fixture
def sweep(scenario: Path) -> Path:
    """A sweep of 60 runs, of some ten milliseconds each."""
    path = scenario.parent / "sweep.toml"
    path.write_text(SWEEP)
    return path


def command(*words: object) -> list[str]:
    """A command of Forebay, in a process of its own."""
    return [sys.executable, "-m", "forebay", *map(str, words)]


def dump(folder: Path) -> list[str]:
    """The journal of a folder in canonical form."""
    with Journal(folder) as journal:
        return list(journal.dump())


def children(process: int) -> list[int]:
    """The processes that a process has started, and that have not ended."""
    found = []
    for entry in Path("/proc").iterdir():
        with suppress(OSError, ValueError, IndexError):
            # The name of the program, in brackets, may hold spaces.
            state, parent = (entry / "stat").read_text().rpartition(")")[2].split()[:2]
            if int(parent) == process and state != "Z":
                found.append(int(entry.name))
    return found


def gone(process: int) -> bool:
    """Returns True if a process has ended; its parent may not have collected its status yet."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def until(condition: Any) -> None:
    """Wait until something is so."""
    end = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def progress(process: subprocess.Popen[str], folder: Path, wanted: int) -> None:
    """Wait until the journal of a folder holds so many runs, or the process has ended."""
    until(lambda: process.poll() is not None or front.runs_kept(folder) >= wanted)


@contextmanager
def started(*words: object) -> Iterator[subprocess.Popen[str]]:
    """A command that runs meanwhile, and is killed if it has not ended then."""
    with subprocess.Popen(command(*words), stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
                          text=True) as process:  # fmt: skip
        try:
            yield process
        finally:
            process.kill()


@pytest.fixture
def through(forebay: front.Forebay, sweep: Path, tmp_path: Path) -> list[str]:
    """The journal of the sweep if nothing interrupts it."""
    if not THROUGH:
        assert forebay("sweep", sweep, "--out", tmp_path / "through").status == 0
        THROUGH.extend(dump(tmp_path / "through"))
        assert len(THROUGH) == RUNS
    return THROUGH


def test_a_sweep_that_is_killed_again_and_again_is_completed(
    through: list[str], sweep: Path, tmp_path: Path
) -> None:
    """A sweep that is killed again and again is completed: no run is lost, made twice or
    damaged."""
    random, killed, number = default_rng(1), 0, 0
    while killed < KILLS:
        out = tmp_path / f"cut{number}"
        before = front.runs_kept(out)
        with started("sweep", sweep, "--out", out, "--jobs", 2) as process:
            # Anywhere from the start of Python to the middle of the runs.
            more = int(random.integers(0, 12))
            progress(process, out, before + more)
            time.sleep(float(random.uniform(0.0, 0.3 if more == 0 else 0.02)))
            workers = children(process.pid)
            process.kill()
            process.wait()
            assert "damaged" not in (process.stderr.read() if process.stderr else "")
            killed += process.returncode == -signal.SIGKILL
        # Who makes runs must not outlive the sweep for which it makes them.
        until(lambda: all(map(gone, workers)))  # noqa: B023
        if process.returncode == 0:
            assert dump(out) == through
            number += 1
    done = subprocess.run(command("sweep", sweep, "--out", out), capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert dump(out) == through


def test_processes_that_make_runs_may_be_killed(
    through: list[str], sweep: Path, tmp_path: Path
) -> None:
    """Processes that make runs may be killed, as when memory runs out, without ending the sweep."""
    random, killed, number = default_rng(2), 0, 0
    while killed < KILLS:
        out = tmp_path / f"cut{number}"
        with started("sweep", sweep, "--out", out, "--jobs", 2) as process:
            while killed < KILLS and process.poll() is None:
                workers = children(process.pid)
                if workers and front.runs_kept(out) < RUNS:
                    with suppress(OSError):
                        os.kill(int(random.choice(workers)), signal.SIGKILL)
                        killed += 1
                # A run is given up when its process was killed three times.
                progress(process, out, min(front.runs_kept(out) + 3, RUNS))
                time.sleep(float(random.uniform(0.0, 0.03)))
            process.wait(PATIENCE_S)
        # Very many kills may hit one run three times.
        last = command("sweep", sweep, "--out", out, "--retry")
        done = subprocess.run(last, capture_output=True, check=False)
        assert (done.returncode, done.stderr) == (0, b"")
        assert dump(out) == through
        number += 1


def test_sweeps_in_one_folder_share_the_work(
    through: list[str], sweep: Path, tmp_path: Path
) -> None:
    """Sweeps in one folder share the work: no run is made twice, and none is overwritten."""
    out = tmp_path / "shared"
    words = command("sweep", sweep, "--out", out, "--jobs", 1, "--json")
    processes = [
        subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    # One of them is killed: the others take its claims over.
    until(lambda: front.runs_kept(out) >= 5)
    processes[0].kill()
    answers = [process.communicate(timeout=PATIENCE_S) for process in processes]
    assert [process.returncode for process in processes[1:]] == [0, 0]
    assert answers[1] == answers[2]
    assert json.loads(answers[1][0])["runs"] == RUNS
    assert dump(out) == through
    with closing(sqlite3.connect(out / "runs.sqlite")) as database:
        # A run made again would have a number past those of all.
        numbers = [number for (number,) in database.execute("SELECT id FROM runs ORDER BY id")]
        assert numbers == list(range(1, RUNS + 1))
        assert database.execute("SELECT count(*) FROM claims").fetchone() == (0,)


CLOCK = """
import sys, time
jumps = [0.0]
def jumping(real):
    def now():
        # Hours forward and back, and now and then a year.
        jumps[0] = -1.7 * jumps[0] + 3600.0 if abs(jumps[0]) < 3e7 else 0.0
        return real() + jumps[0]
    return now
time.time = jumping(time.time)
time.monotonic = jumping(time.monotonic)
from forebay.cli.commands import main
raise SystemExit(main(sys.argv[1:]))
"""


def test_nothing_depends_on_the_clock(through: list[str], sweep: Path, tmp_path: Path) -> None:
    """Nothing depends on the clock: setting it, as on a machine without a battery, neither changes
    nor loses runs."""
    out = tmp_path / "clock"
    words = [sys.executable, "-c", CLOCK, "sweep", str(sweep), "--out", str(out)]
    for _ in range(2):
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        assert dump(out) == through


FULL = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2)
from forebay.cli.commands import main
raise SystemExit(main(sys.argv[2:]))
"""


@pytest.mark.parametrize("size", [0, 3_000, 8_192, 65_536, 100_000, 250_000])
def test_a_full_disk_is_said_and_loses_nothing(
    through: list[str], sweep: Path, tmp_path: Path, size: int
) -> None:
    """A full disk is reported without a traceback, with a status other than that of a mistake in
    the input, and the journal can be continued.

    No file may grow past a limit, from nothing at all up to the journal's half.
    """
    out = tmp_path / "full"
    words = [sys.executable, "-c", FULL, str(size), "sweep", str(sweep), "--out", str(out)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    _see_full_disk(done, out)
    last = subprocess.run(command("sweep", sweep, "--out", out), capture_output=True, check=False)
    assert (last.returncode, last.stderr) == (0, b"")
    assert dump(out) == through


def _see_full_disk(done: subprocess.CompletedProcess[str], out: Path) -> None:
    """A command ended with the status of a machine that failed, and one message with the place."""
    assert done.returncode == 1, done.stderr
    assert done.stderr.startswith("forebay: error: "), done.stderr
    assert done.stderr.count("\n") == 1
    assert str(out) in done.stderr


MOUNTED = 'mount -t tmpfs -o "$1" tmpfs "$2" && shift 2 && exec "$@"'
"""A file system of its own, in the memory, and a command; both end together (unshare)."""


@pytest.mark.parametrize(
    "limit",
    [
        *(f"size={kilobytes}k" for kilobytes in (4, 48, 96, 400)),
        *(f"nr_inodes={n}" for n in range(2, 8)),
    ],
)
def test_a_small_disk_has_one_exit_status(sweep: Path, tmp_path: Path, limit: str) -> None:
    """A small disk gives the exit status of a full disk, not that of a mistake in the sweep.

    Full is the disk in pages, or in files; at the start, or in the middle.
    """
    disk = tmp_path / "disk"
    disk.mkdir()
    apart = ["unshare", "--mount", "sh", "-c", MOUNTED, "-", limit, str(disk)]
    try:
        able = subprocess.run([*apart, "true"], capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        able = False
    if not able:
        pytest.skip("may not mount a file system")
    words = [*apart, *command("sweep", sweep, "--out", disk / "out")]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    _see_full_disk(done, disk / "out")


# Put into the way of Python, it changes what a process that makes runs does with one of them.
BROKEN = """
import os, sys
if "forebay.run.worker" in " ".join(sys.orig_argv):
    from forebay.run import jobs
    whole = jobs.run_jobs
    def broken(given, *others):
        job = given[0]
        if (job.replication, job.overrides[0]) == (2, 'duration="50 s"') and job.until is None:
            open(os.environ["FOREBAY_TEST_TRIES"], "a").write("x")
            how = os.environ["FOREBAY_TEST_FAULT"]
            if how == "panic":
                raise jobs.RunFailedError("all of it: it hurts", "it hurts")
            if how == "abort":
                os.write(2, b"memory allocation of 99 bytes failed\\n")
                os.abort()
            if how == "killed":
                os.kill(os.getpid(), 9)
            if how == "leave":
                os._exit(3)
        whole(given, *others)
    jobs.run_jobs = broken
"""


@pytest.mark.parametrize(
    ("fault", "tries", "reason"),
    [
        ("panic", 1, "it hurts"),
        ("abort", 1, "signal SIGABRT after saying: memory allocation of 99 bytes failed"),
        ("killed", 3, "its process ended with signal SIGKILL"),
        ("leave", 1, "its process ended with exit status 3"),
    ],
)
def test_a_run_that_fails_costs_itself_alone(
    through: list[str],
    sweep: Path,
    tmp_path: Path,
    fault: str,
    tries: int,
    reason: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A run that fails costs only itself: the rest of the sweep completes, the failure is not
    repeated unasked, and it is reported.

    Of the 60 runs two fail: replication 2 of one duration, on either link.
    """
    (tmp_path / "site").mkdir()
    (tmp_path / "site/sitecustomize.py").write_text(BROKEN)
    path = os.pathsep.join([str(tmp_path / "site"), os.environ.get("PYTHONPATH", "")])
    monkeypatch.setenv("PYTHONPATH", path)
    monkeypatch.setenv("FOREBAY_TEST_TRIES", str(tmp_path / "tries"))
    monkeypatch.setenv("FOREBAY_TEST_FAULT", fault)
    out = tmp_path / "out"
    words = ("sweep", sweep, "--out", out, "--json")
    first = subprocess.run(command(*words), capture_output=True, text=True, check=False)
    assert first.returncode == 1, first.stderr
    assert (tmp_path / "tries").read_text() == "x" * 2 * tries
    document = json.loads(first.stdout)
    assert document["runs"] == RUNS - 2
    assert [row["replication"] for row in document["failed"]] == [2, 2]
    assert all(reason in row["reason"] for row in document["failed"])
    *told, hint = first.stderr.splitlines()
    assert len(told) == 2
    assert "--retry" in hint
    for row, line in zip(document["failed"], told, strict=True):
        assert line == f"forebay: run failed: {row['reason']}; repeat it: {row['command']}"
        assert "--replication 2 --set 'duration=\"50 s\"'" in row["command"]
    again = subprocess.run(command(*words), capture_output=True, text=True, check=False)
    assert (again.returncode, again.stdout, again.stderr) == (1, first.stdout, first.stderr)
    assert (tmp_path / "tries").read_text() == "x" * 2 * tries
    monkeypatch.setenv("FOREBAY_TEST_FAULT", "none")
    last = subprocess.run(command(*words, "--retry"), capture_output=True, text=True, check=False)
    assert (last.returncode, last.stderr) == (0, "")
    assert dump(out) == through


@contextmanager
def cluster_of(folder: Path, workers: bool = True, path: str = "") -> Iterator[tuple[str, Any]]:
    """A Dask cluster on this machine, of a scheduler and, if `workers`, two processes; the address
    of the scheduler, and the process that has the workers. `path` comes first in their search for
    modules."""
    pytest.importorskip("distributed")
    file = folder / "scheduler.json"
    words = [["scheduler", "--scheduler-file", str(file), "--no-dashboard", "--port", "0"]]
    if workers:
        words += [["worker", "--scheduler-file", str(file), "--nworkers", "2", "--nthreads", "1",
                   "--no-dashboard"]]  # fmt: skip
    log = (folder / "dask.log").open("w")
    others = os.environ.get("PYTHONPATH", "")
    environment = {**os.environ, "PYTHONPATH": f"{path}{os.pathsep}{others}" if path else others}
    processes = [
        subprocess.Popen([sys.executable, "-m", "distributed.cli.dask_" + name, *rest],
                         cwd=folder, stdout=log, stderr=log, env=environment)
        for name, *rest in words
    ]  # fmt: skip
    try:
        until(file.exists)
        until(lambda: not workers or len(children(processes[1].pid)) >= 2)
        yield json.loads(file.read_text())["address"], processes[-1]
    finally:
        for process in processes:
            process.terminate()
            process.wait()
        log.close()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[str]:
    """A Dask cluster of two processes on this machine; the address of its scheduler."""
    with cluster_of(tmp_path) as (address, _):
        yield address


def test_a_cluster_without_workers_is_told(sweep: Path, tmp_path: Path) -> None:
    """A cluster without workers is reported at once, with the command that starts one."""
    with cluster_of(tmp_path, workers=False) as (address, _):
        words = command("sweep", sweep, "--out", tmp_path / "out", "--executor", f"dask:{address}")
        done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert f"no worker is connected to the Dask scheduler at {address}" in done.stderr
    assert f"dask worker {address}" in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("modules", "has"),
    [
        ({"forebay/__init__.py": ""}, "has no Forebay"),
        (
            {
                "forebay/__init__.py": "",
                "forebay/run/__init__.py": "",
                "forebay/run/jobs.py": "def build(): return 'other'",
            },
            "has build other",
        ),
    ],
)
def test_workers_that_cannot_make_runs_are_told(
    sweep: Path, tmp_path: Path, modules: dict[str, str], has: str
) -> None:
    """Workers that cannot make runs, for want of Forebay or with another build, are reported by the
    command, not only in their own log."""
    for name, text in modules.items():
        (tmp_path / "site" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "site" / name).write_text(text)
    with cluster_of(tmp_path, path=str(tmp_path / "site")) as (address, _):
        words = command("sweep", sweep, "--out", tmp_path / "out", "--executor", f"dask:{address}")
        done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert "workers at the Dask scheduler" in done.stderr
    assert has in done.stderr
    assert f"they need Forebay {version()}, build {build()}" in done.stderr


def test_workers_that_all_leave_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The end of all workers of a cluster is reported: the sweep gives up after a stated time."""
    for name, seconds in (("LOOK_S", 0.1), ("TELL_S", 0.5), ("GIVE_UP_S", 3.0)):
        monkeypatch.setattr(f"forebay.run.executors.{name}", seconds)
    job = Job(front.SCENARIO.replace('"5 s"', '"8000000 s"'))
    places = deque([0])
    with cluster_of(tmp_path) as (address, nanny), closing(executor(f"dask:{address}", 1)) as where:
        ticks = iter(range(10**9))

        def tick(_: object) -> None:
            # The run has begun; then its workers end.
            if next(ticks) == 20:
                for process in [nanny.pid, *children(nanny.pid)]:
                    os.kill(process, signal.SIGKILL)

        def never(*_: object) -> None:
            raise AssertionError

        def take() -> int | None:
            return places.popleft() if places else None

        with pytest.raises(MachineError, match=r"no worker was connected .* for 3 s"):
            where.run([job], take, never, never, tick)
    told = (
        f"forebay: no worker is connected to the Dask scheduler at {address}; 1 run waits for one"
    )
    assert capfd.readouterr().err.count(told) > 1


def test_a_cluster_outlives_a_law_that_does_not_return(tmp_path: Path, cluster: str) -> None:
    """A cluster outlives a law of one's own that does not return: that costs its run alone, which
    is kept as failed with the law's name, and no worker."""
    (tmp_path / "late.py").write_text(LATE)
    (tmp_path / "late.toml").write_text(LATE_SCENARIO)
    (tmp_path / "sweep.toml").write_text(LATE_SWEEP)
    words = ("sweep", "sweep.toml", "--laws", "late.py", "--law-timeout", "0.5", "--json")
    done = subprocess.run(
        command(*words, "--executor", f"dask:{cluster}"),
        cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE_S, check=False,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    document = json.loads(done.stdout)
    assert [row["links.wire.queue.late.late"] for row in document["failed"]] == [True, True]
    assert all('"late" at links.wire.queue' in row["reason"] for row in document["failed"])
    assert document["runs"] == 2
    assert [law["name"] for law in document["laws"]] == ["late"]


LATE = """
import forebay
from forebay.laws import PASS


@forebay.law(kind="queue")
class late:
    \"\"\"A queue that does not answer if it is told so.\"\"\"

    late: bool = False

    def enqueue(law, at):
        while law.late:
            pass
        return PASS
"""
LATE_SCENARIO = front.SCENARIO.replace(
    'queue = { droptail = { limit = "50 packets" } }', "queue = { late = {} }"
)
LATE_SWEEP = """
scenario = "late.toml"
replications = 2
quantities = ["events"]

[grid]
"links.wire.queue.late.late" = [false, true]
"""


def test_a_cluster_may_lose_its_processes(
    through: list[str], sweep: Path, tmp_path: Path, cluster: str
) -> None:
    """A cluster may lose its processes: no run is lost, and the sweep continues."""
    random, killed, number = default_rng(3), 0, 0
    while killed < KILLS:
        out = tmp_path / f"cut{number}"
        words = ("sweep", sweep, "--out", out, "--executor", f"dask:{cluster}")
        with started(*words) as process:
            while killed < KILLS and process.poll() is None:
                more = int(random.integers(4, 12))
                progress(process, out, min(front.runs_kept(out) + more, RUNS))
                if process.poll() is None and random.random() < 0.3:
                    process.kill()
                    killed += 1
                elif process.poll() is None:
                    killed += _kill_one_of_cluster(random)
            process.wait(PATIENCE_S)
        last = subprocess.run(command(*words, "--retry"), capture_output=True, check=False)
        assert last.returncode == 0, last.stderr
        assert dump(out) == through
        number += 1


def _kill_one_of_cluster(random: Any) -> int:
    """Kill a process that makes runs for the cluster; how many were killed."""
    nannies = [
        process for process in children(os.getpid())
        if b"dask_worker" in Path(f"/proc/{process}/cmdline").read_bytes()
    ]  # fmt: skip
    workers = [child for nanny in nannies for child in children(nanny)
               if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()]  # fmt: skip
    if not workers:
        return 0
    with suppress(OSError):
        os.kill(int(random.choice(workers)), signal.SIGKILL)
        return 1
    return 0
