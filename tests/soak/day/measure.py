"""Measurements of a service over time: latencies, memory, errors, and table sizes."""

import asyncio
import collections
import sys
import time
from pathlib import Path

# Parts into which the time is divided. The last one is compared with the second one.
PARTS = 6
# Maximum ratios of the last part to the second.
MAX_LATENCY, MAX_MEMORY = 1.5, 1.15
# Differences below this, in KiB, are ignored, because the whole proxy is that small.
SLACK = 16 << 10
# Maximum ratio of the size of a large table with its indexes to a fresh copy of its rows.
MAX_SIZE, MIN_BYTES = 3.0, 8 << 20


class Curve:
    """The measurements, by part."""

    def __init__(self, seconds):
        self.seconds = seconds
        self.begun = None
        self.times = [collections.defaultdict(list) for _ in range(PARTS)]
        self.held = [[] for _ in range(PARTS)]
        self.errors = collections.Counter()

    def begin(self):
        self.begun = time.monotonic()

    def is_over(self):
        return time.monotonic() - self.begun >= self.seconds

    def left(self):
        """The remaining seconds."""
        return max(self.seconds - (time.monotonic() - self.begun), 0)

    def part(self):
        return min(int((time.monotonic() - self.begun) / self.seconds * PARTS), PARTS - 1)

    def time(self, name, seconds):
        if self.begun is not None:
            self.times[self.part()][name].append(seconds)

    def error(self, name, text, is_retryable):
        self.errors[(name, text, is_retryable)] += 1

    async def watch(self, database):
        """Samples the memory of the proxy and of its sessions."""
        while not self.is_over():
            sessions = await database.fetch("select pid from pg_stat_activity where usename = 'keyed_proxy'")
            own = [own_memory(row["pid"]) for row in sessions]
            proxies = [own_memory(process) for process in processes("keyed-proxy")]
            if own and proxies:
                self.held[self.part()].append((max(proxies), sum(own), max(own), len(own)))
            await asyncio.sleep(min(10, self.seconds / PARTS / 10))

    def table(self):
        names = sorted({name for part in self.times for name in part})
        yield ["part", "proxy MiB", "sessions MiB", "largest session MiB", *(f"{name} {what}" for name in names for what in ("count", "p50 ms", "p99 ms"))]
        for number, (times, held) in enumerate(zip(self.times, self.held), 1):
            row = [number, *(f"{max((one[column] for one in held), default=0) / 1024:.1f}" for column in range(3))]
            for name in names:
                row += [len(times[name]), f"{quantile(times[name], 0.5) * 1000:.1f}", f"{quantile(times[name], 0.99) * 1000:.1f}"]
            yield row


class Judgement:
    """Whether all limits hold."""

    def __init__(self, curve):
        self.curve = curve
        self.problems = []

    def latencies(self, names):
        for name in names:
            early, late = (quantile(self.curve.times[part][name], 0.99) for part in (1, PARTS - 1))
            if late > MAX_LATENCY * early:
                self.problems.append(f"p99 of {name} grew from {early * 1000:.1f} to {late * 1000:.1f} ms")

    def memory(self):
        for column, what in ((0, "the proxy"), (2, "the largest session")):
            early, late = (max(one[column] for one in self.curve.held[part]) for part in (1, PARTS - 1))
            if late > MAX_MEMORY * early + SLACK:
                self.problems.append(f"the memory of {what} grew from {early / 1024:.1f} to {late / 1024:.1f} MiB")

    def errors(self):
        for (name, text, is_retryable), count in sorted(self.curve.errors.items()):
            if not is_retryable:
                self.problems.append(f"{count} × {name}: {text}")

    def growth(self, tables):
        for table, (before, after) in tables.items():
            if before > MIN_BYTES and before > MAX_SIZE * after:
                self.problems.append(f"{table} took {before >> 20} MiB, and its rows need {after >> 20}")

    def tell(self):
        for row in self.curve.table():
            print("\t".join(map(str, row)))
        for (name, text, _), count in sorted(self.curve.errors.items()):
            print(f"{count} × {name}: {text}")
        for problem in self.problems:
            print(f"FAILED {problem}")
        sys.exit(bool(self.problems))


def quantile(values, part):
    return sorted(values)[int(part * (len(values) - 1))] if values else 0.0


def own_memory(process):
    """The private memory of a process, in kB."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Private_"))


def processes(name):
    """The processes of a program whose working directory is that of this one."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            program = (folder / "cmdline").read_bytes().split(b"\0")[0].decode()
            if program.endswith(name) and (folder / "cwd").resolve() == Path.cwd():
                yield folder.name
        except OSError:
            continue


async def rewritten(database):
    """The large tables, each with its size in bytes including indexes, before and after all its rows are rewritten."""
    rows = await database.fetch(
        "select c.oid::regclass::text as name from pg_class c join pg_namespace n on n.oid = c.relnamespace "
        "where c.relkind = 'r' and n.nspname in ('day', 'keyed_state') and pg_total_relation_size(c.oid) > $1",
        MIN_BYTES,
    )
    tables = {}
    for (table,) in rows:
        size = lambda: database.fetchval(f"select pg_total_relation_size('{table}')")
        before = await size()
        await database.execute(f"vacuum full {table}", timeout=600)
        tables[table] = (before, await size())
    return tables
