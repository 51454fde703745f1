"""A day in the life of a service, in an hour: writers, readers of three scopes, a BI tool, imports, deliveries, vectors,
definitions, grants and dumps, all concurrently for a given time. It prints the measurements, and fails if latencies or
memory grow, if an error is not retryable, or if a table is much larger than its rows.

usage: day.py ADDRESS KEYS DATABASE_URL LOGIN_URL SECONDS FOLDER
"""

import asyncio
import csv
import json
import random
import sys
import time
import uuid
from pathlib import Path

import aiohttp
import asyncpg

from measure import Curve, Judgement, rewritten

ADDRESS, KEYS, DATABASE_URL, LOGIN_URL, SECONDS, FOLDER = sys.argv[1:7]
KEYS = json.loads(Path(KEYS).read_text())
SECONDS = float(SECONDS)
FOLDER = Path(FOLDER)
TEMPLATES = [f"things_{number}" for number in range(1, 200)]
WORDS = "amber basalt cedar delta ember fjord garnet harbor indigo jasper kelp lagoon maple nickel opal pepper".split()

random.seed(1)
curve = Curve(SECONDS)


def a_template():
    """A few templates get most of the requests."""
    return TEMPLATES[min(int(random.expovariate(1 / 25)), len(TEMPLATES) - 1)]


def values(area):
    return {
        "name": " ".join(random.choices(WORDS, k=3)),
        "note": " ".join(random.choices(WORDS, k=25)),
        "price": random.randrange(100_000) / 100,
        "area": area,
        "seen": "2024-05-06T07:08:09Z",
        "tags": random.sample(WORDS, 2),
        "region": {"external_key": f"region:{random.randrange(100)}"},
    }


class Service:
    """Requests, whose durations and errors are recorded by operation."""

    def __init__(self, session):
        self.session = session

    async def ask(self, name, method, path, key="admin", **rest):
        headers = {"Authorization": f"Bearer {KEYS[key]}", "X-Service-Project-Id": "day"} | rest.pop("headers", {})
        begun = time.monotonic()
        try:
            async with self.session.request(method, f"{ADDRESS}/v1{path}", headers=headers, **rest) as answer:
                body = await answer.read()
        except aiohttp.ClientError as error:
            curve.error(name, f"no answer: {type(error).__name__}", False)
            return None
        curve.time(name, time.monotonic() - begun)
        if answer.status < 400:
            return json.loads(body) if body else {}
        problem = json.loads(body)
        curve.error(name, f"{answer.status} {problem['code']}: {problem['detail'][:120]}", problem.get("retryable", False))
        return None


async def forever(action, pause):
    """Repeats an operation until the end, with a pause of about this many seconds."""
    while not curve.is_over():
        await action()
        await asyncio.sleep(min(random.uniform(0.5, 1.5) * pause, curve.left()))


def writer(service, number):
    sent = []

    async def write():
        if sent and random.random() < 0.85:
            template, key, before = random.choice(sent)
            new = before if random.random() < 0.3 else values(before["area"])
        else:
            template, key, new = a_template(), f"w{number}:{len(sent)}:{uuid.uuid4().hex[:8]}", values(random.randrange(100))
            if len(sent) < 5_000:
                sent.append((template, key, new))
        if random.random() < 0.1:
            new = new | {"load": random.random()}
        body = {"external_key": key, "attributes": new}
        await service.ask("upsert", "PUT", f"/entities/template/{template}/by-key", json=body)
        if sent:
            template, key, _ = random.choice(sent)
            await service.ask("lookup", "GET", f"/entities/template/{template}/by-key", params={"key": key})

    return write


def reader(service, key):
    async def read():
        template = a_template()
        chance = random.random()
        if chance < 0.6:
            body = {"filters": [{"field": "price", "operator": "lt", "value": random.randrange(1000)}], "sort": "-price", "limit": 20}
            await service.ask("list", "POST", f"/entities/search/{template}", key, json=body)
        elif chance < 0.95:
            body = {"global_search": " ".join(random.sample(WORDS, 2)), "limit": 20}
            await service.ask("text", "POST", f"/entities/search/{template}", key, json=body)
        else:
            await service.ask("me", "GET", "/me", key)

    return read


def importer(service):
    async def send():
        rows = [f"i:{random.randrange(20_000)},{' '.join(random.choices(WORDS, k=3))},{random.randrange(1000)},{random.randrange(100)}" for _ in range(2000)]
        body = "\n".join(["external_key,name,price,area", *rows])
        await service.ask("import", "POST", f"/entities/template/{a_template()}/import", params={"on_error": "skip"}, data=body, headers={"Content-Type": "text/csv"})

    return send


def deliverer(service, tokens):
    async def deliver():
        items = [{"id": random.randrange(5_000), "name": random.choice(WORDS), "price": random.randrange(100)} for _ in range(5)]
        await service.ask("delivery", "POST", f"/inbound/{random.choice(tokens)}", json={"items": items}, headers={"webhook-id": uuid.uuid4().hex})

    return deliver


def embedder(service):
    def vector():
        return [random.gauss(0, 1) for _ in range(768)]

    async def embed():
        template = random.choice(TEMPLATES[:5])
        key = f"e:{random.randrange(300)}"
        made = await service.ask("vector", "PUT", f"/entities/template/{template}/by-key", json={"external_key": key, "attributes": {"name": key}, "embedding": vector()})
        if made and random.random() < 0.5:
            body = {"query_vector": vector(), "template_id": template, "limit": 10}
            await service.ask("semantic", "POST", "/entities/semantic-search", "quarter", json=body)

    return embed


def definer(service):
    async def define():
        template = random.choice(TEMPLATES)
        slug = f"extra_{random.randrange(1000)}"
        added = {"slug": slug, "type": random.choice(["string", "number", "date"])}
        if await service.ask("define", "PATCH", f"/templates/{template}", json={"attributes": [added]}) is None:
            return
        await asyncio.sleep(1)
        await service.ask("define", "PATCH", f"/templates/{template}", json={"drop": [slug]})

    return define


def granter(database):
    async def grant():
        role, target = f"day_role_{random.randrange(1, 297)}", f"day.{a_template()}"
        scope = json.dumps({"field": "area", "operator": "eq", "value": random.randrange(100)})
        try:
            await database.execute("select keyed.grant_access($1::text::name, $2, '{read}', $3::text::jsonb)", role, target, scope)
            if random.random() < 0.8:
                await database.execute("select keyed.revoke_access($1::text::name, $2)", role, target)
        except asyncpg.PostgresError as error:
            curve.error("grant", f"{error.sqlstate} {error}", error.sqlstate in ("40001", "40P01", "55P03"))

    return grant


def analyst(database):
    async def analyse():
        begun = time.monotonic()
        try:
            await database.fetch(f"select region, count(*), avg(price) from day.{a_template()} where price > 100 group by region")
            curve.time("bi", time.monotonic() - begun)
        except asyncpg.PostgresError as error:
            curve.error("bi", f"{error.sqlstate} {error}", error.sqlstate in ("40001", "40P01", "55P03"))

    return analyse


def dumper():
    async def dump():
        program = await asyncio.create_subprocess_exec(
            "pg_dump", "--format=custom", f"--file={FOLDER / 'day.dump'}", DATABASE_URL, stderr=asyncio.subprocess.PIPE
        )
        _, said = await program.communicate()
        if program.returncode:
            # pg_dump reads the columns before it locks the table, so a definition can change them in between.
            said = said.decode().strip().splitlines()[0][-200:]
            curve.error("dump", said, "does not exist" in said)

    return dump


async def endpoints(service):
    tokens = []
    for template in TEMPLATES[:10]:
        body = {"slug": f"shop_{template}", "template": template, "items": "$.items[*]", "external_key": "$.id", "key_prefix": "shop:", "mapping": {"name": "$.name", "price": "$.price"}, "signed": False}
        tokens.append((await service.ask("endpoint", "POST", "/inbound-endpoints", json=body))["token"])
    return tokens


async def main():
    database, observer = [await asyncpg.connect(DATABASE_URL) for _ in range(2)]
    login = await asyncpg.connect(LOGIN_URL)
    timeout = aiohttp.ClientTimeout(total=120)
    async with aiohttp.ClientSession(timeout=timeout, connector=aiohttp.TCPConnector(limit=0)) as session:
        service = Service(session)
        tokens = await endpoints(service)
        curve.begin()
        actors = [forever(writer(service, number), 0.15) for number in range(8)]
        actors += [forever(reader(service, key), 0.4) for key in ("all", "quarter", "hundredth")]
        actors += [
            forever(importer(service), 15),
            forever(deliverer(service, tokens), 0.7),
            forever(embedder(service), 1.5),
            forever(definer(service), 8),
            forever(granter(database), 2),
            forever(analyst(login), 1),
            forever(dumper(), SECONDS / 6),
            curve.watch(observer),
        ]
        await asyncio.gather(*actors)
    judgement = Judgement(curve)
    judgement.latencies(("lookup", "upsert"))
    judgement.memory()
    judgement.errors()
    judgement.growth(await rewritten(observer))
    with (FOLDER / "curve.csv").open("w") as file:
        csv.writer(file).writerows(curve.table())
    judgement.tell()


asyncio.run(main())
