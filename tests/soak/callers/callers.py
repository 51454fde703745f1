"""Callers of one role that use as much capacity as they can, next to a caller of another role that writes and looks up records.

Readers: pages of 12 MB are read slightly above the minimum rate for two minutes. The memory of the process grows by at most
256 MiB, a request beyond the limit gets 503, no client is cut off, and the memory is released within a minute after they
have ended.

Searchers: two, three and eight keys of a role search without an index, without pause. The 99th percentile of the other
caller's upserts is at most 10 times that of idle times, which are measured in between. If database, proxy and this program
share two cores, it is 6 to 8 times with the default of KEYED_POOL_SIZE, and 4 times with half of it.

Compression: two keys of a role request compressed pages of 12 MB, one after the other. The 99th percentile of the other
caller's lookups is at most 5 times that of idle times.

usage: callers.py ADDRESS METRICS KEYS SECONDS
"""

import asyncio
import json
import statistics
import sys
import time
import urllib.request
from pathlib import Path

import aiohttp

ADDRESS, METRICS, KEYS, SECONDS = sys.argv[1:5]
KEYS = json.loads(Path(KEYS).read_text())
SECONDS = float(SECONDS)
HOST, PORT = ADDRESS.removeprefix("http://").split(":")
MIB = 1 << 20
# The minimum rate is 4 KiB/s.
RATE = 5 << 10
FAULTS = []


def judge(is_right, sentence):
    print(f"{'ok    ' if is_right else 'FAILED'} {sentence}", flush=True)
    if not is_right:
        FAULTS.append(sentence)


def memory():
    with urllib.request.urlopen(METRICS) as answer:
        for line in answer.read().decode().splitlines():
            if line.startswith("process_resident_memory_bytes"):
                return float(line.split()[-1])
    raise SystemExit("the metrics have no process_resident_memory_bytes")


def headers(key):
    return {"Authorization": f"Bearer {key}", "X-Service-Project-Id": "callers"}


class Reader:
    """Requests a page of 12 MB, and reads it slowly."""

    def __init__(self):
        self.status = 0
        self.is_cut = False

    async def run(self, key, end):
        body = json.dumps({"limit": 400})
        lines = [f"{name}: {value}" for name, value in headers(key).items()]
        head = "\r\n".join(
            ["POST /v1/entities/search/pages HTTP/1.1", "Host: keyed", "Content-Type: application/json",
             f"Content-Length: {len(body)}", *lines, "", ""]
        )
        input, output = await asyncio.open_connection(HOST, int(PORT), limit=16 << 10)
        try:
            output.write((head + body).encode())
            self.status = int((await input.readline()).split()[1])
            while self.status == 200 and time.monotonic() < end:
                if await input.read(RATE // 4) == b"":
                    self.is_cut = True
                    return
                await asyncio.sleep(0.25)
        except ConnectionError:
            self.is_cut = True
        finally:
            output.close()


async def upserts(session, key, end, pause=0.02):
    """The durations of the upserts of a caller with this key, in seconds."""
    times, number = [], 0
    while time.monotonic() < end:
        number += 1
        begun = time.monotonic()
        body = {"external_key": f"own:{number % 1000}", "attributes": {"name": f"own {number}"}}
        url = f"{ADDRESS}/v1/entities/template/things/by-key"
        async with session.put(url, json=body, headers=headers(key)) as answer:
            await answer.read()
            if answer.status >= 400:
                FAULTS.append(f"an upsert of the other role got {answer.status}: {await answer.text()}")
        times.append(time.monotonic() - begun)
        await asyncio.sleep(pause)
    return times


async def searches(session, key, end):
    """Searches that cannot use an index, without pause. Rejections count as responses."""
    while time.monotonic() < end:
        body = {"filters": [{"field": "name", "operator": "ilike", "value": "%no such thing%"}], "limit": 1}
        async with session.post(f"{ADDRESS}/v1/entities/search/things", json=body, headers=headers(key)) as answer:
            await answer.read()
            if answer.status == 429:
                await asyncio.sleep(0.05)


async def lookups(session, key, end):
    """The durations of lookups of one record, in seconds."""
    times, number = [], 0
    while time.monotonic() < end:
        number += 1
        begun = time.monotonic()
        url = f"{ADDRESS}/v1/entities/template/things/by-key?key=thing:{number % 50000 + 1}"
        async with session.get(url, headers=headers(key)) as answer:
            await answer.read()
            if answer.status != 200:
                FAULTS.append(f"a lookup got {answer.status}: {await answer.text()}")
        times.append(time.monotonic() - begun)
        await asyncio.sleep(0.005)
    return times


async def packed(session, key, end):
    """Compressed pages. They are not decompressed here, because that would affect the measurement."""
    while time.monotonic() < end:
        url = f"{ADDRESS}/v1/entities/search/pages"
        own = headers(key) | {"Accept-Encoding": "gzip"}
        async with session.post(url, json={"limit": 400}, headers=own) as answer:
            while await answer.content.readany():
                pass


def p99(times):
    return statistics.quantiles(times, n=100)[98] * 1000


async def readers():
    idle = memory()
    end = time.monotonic() + max(SECONDS, 120)
    all_readers = [Reader() for _ in range(24)]
    keys = KEYS["busy"][:2] + [KEYS["other"]]
    tasks = [asyncio.create_task(it.run(keys[n % len(keys)], end)) for n, it in enumerate(all_readers)]
    most = 0
    async with aiohttp.ClientSession() as session:
        other = asyncio.create_task(upserts(session, KEYS["other"], end, pause=0.1))
        while time.monotonic() < end:
            most = max(most, memory())
            await asyncio.sleep(1)
        times = await other
    await asyncio.gather(*tasks)
    served = sum(it.status == 200 for it in all_readers)
    refused = sum(it.status == 503 for it in all_readers)
    judge(served + refused == len(all_readers) and served >= 3, f"{served} pages are read, {refused} were refused with 503")
    judge(not any(it.is_cut for it in all_readers), "no client that reads at the minimum rate is cut off")
    judge(most - idle < 256 * MIB, f"memory rises by {(most - idle) / MIB:.0f} MiB (at most 256)")
    print(f"      upserts meanwhile: p99 {p99(times):.1f} ms of {len(times)}")
    begun = time.monotonic()
    while memory() - idle > 32 * MIB and time.monotonic() - begun < 60:
        await asyncio.sleep(1)
    left = (memory() - idle) / MIB
    judge(left <= 32, f"{time.monotonic() - begun:.0f} s after the readers have gone, {left:.0f} MiB are left (at most 32)")


async def searchers():
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        for count in (2, 3, 8):
            quiet = await upserts(session, KEYS["other"], time.monotonic() + SECONDS / 6)
            end = time.monotonic() + SECONDS / 6
            busy = [searches(session, KEYS["busy"][n], end) for n in range(count) for _ in range(8)]
            (times, *_) = await asyncio.gather(upserts(session, KEYS["other"], end), *busy)
            judge(
                p99(times) <= 10 * p99(quiet),
                f"beside {count} keys, the p99 of upserts is {p99(times):.1f} ms; alone {p99(quiet):.1f} ms (at most 10 times)",
            )


async def packers():
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector, auto_decompress=False) as session:
        quiet = await lookups(session, KEYS["other"], time.monotonic() + SECONDS / 6)
        end = time.monotonic() + SECONDS / 6
        busy = [packed(session, key, end) for key in KEYS["busy"][:2]]
        (times, *_) = await asyncio.gather(lookups(session, KEYS["other"], end), *busy)
        judge(
            p99(times) <= 5 * p99(quiet),
            f"beside two that compress, the p99 of lookups is {p99(times):.1f} ms; alone {p99(quiet):.1f} ms (at most 5 times)",
        )


async def main():
    await searchers()
    await packers()
    await readers()


asyncio.run(main())
sys.exit(1 if FAULTS else 0)
