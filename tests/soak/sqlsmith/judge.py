"""Reads the server log of a run with random SQL, and fails if it contains a crash or an internal error of keyed."""

import collections
import re
import sys

CRASH = re.compile(r"PANIC:|was terminated by signal|terminating any other active server processes|server process .* exited with")
ERROR = re.compile(r"(?:ERROR|FATAL):  ([0-9A-Z]{5}): (.*)")
LOCATION = re.compile(r"LOCATION:  (.*)")

crashes, ours, others = [], [], []
codes = collections.Counter()
code = message = None
with open(sys.argv[1], encoding="utf-8", errors="replace") as log:
    for line in log:
        if CRASH.search(line):
            crashes.append(line.strip())
        if found := ERROR.search(line):
            code, message = found.groups()
            codes[code] += 1
        elif (found := LOCATION.search(line)) and code == "XX000":
            # Errors of keyed name a Rust source file, those of PostgreSQL a C file.
            (ours if ".rs:" in found[1] else others).append(f"{message} ({found[1]})")
            code = None

print("Errors by SQLSTATE:", dict(codes.most_common()))
for count, error in sorted(((n, e) for e, n in collections.Counter(others).items()), reverse=True)[:20]:
    print(f"PostgreSQL's own, {count} times: {error}")
for error in sorted(set(ours)):
    print(f"keyed's own: {error}", file=sys.stderr)
for line in crashes:
    print(f"crash: {line}", file=sys.stderr)
if not codes:
    print("The log has no error at all: sqlsmith cannot have run.", file=sys.stderr)
sys.exit(bool(ours or crashes or not codes))
