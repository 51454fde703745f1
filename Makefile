# The commands of this repository. Each is one script in .dev/, which says what it does.
.PHONY: help setup build run test test-all test-assert bench soak docs deb images

help:
	@echo 'make run     start PostgreSQL, the extension and the proxy from this clone (KEYED_PORT=8080)'
	@echo 'make test    checks and tests, without installing packages (KIND=lint|unit|sql|http|race|access|cli|lifecycle|ui|docs|packages|pg_upgrade, TEST=name, KEYED_TEST_DIRECT=off)'
	@echo 'make test-all     make test, KIND=packages, and the tests of the database (KIND=major) on every version of PostgreSQL that can be had'
	@echo 'make test-assert  the tests of the database on a PostgreSQL with assertions, which it builds (KIND=…, TEST=…)'
	@echo 'make bench   measure the release build'
	@echo 'make soak    check with tools of others, which it fetches (KIND=clients|schemathesis|sqlsmith|callers|day|crash)'
	@echo 'make docs    make a book of docs/ in target/book, with mdbook, which it fetches'
	@echo 'make build   build the release, install the extension into PostgreSQL'
	@echo 'make deb     build Debian packages of extension and proxy in target/deb'
	@echo 'make images  build container images of such packages with Docker, which compiles in a container (PG=15|17, DEB=target/deb)'
	@echo 'make setup   only install what the others need: the one command for which they may ask root (FOR=run|test|bench)'
	@echo 'PG=18 behind a command: on that version of PostgreSQL (15, 16, 17 or 18), which is built from source if apt has no package. KIND=major PG=18: the tests that depend on it'

setup build run test test-all test-assert bench soak docs deb images:
	@.dev/$@
