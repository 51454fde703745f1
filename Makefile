# The commands of this repository. Each is a script in .dev/, whose header documents it.
.PHONY: help setup build run test test-all test-assert bench soak docs deb images

help:
	@echo 'make run     start PostgreSQL, the extension and the proxy from this clone (KEYED_PORT=8080)'
	@echo 'make test    checks and tests, without installing packages (KIND=lint|unit|sql|http|race|access|cli|lifecycle|ui|docs|packages|pg_upgrade, TEST=name, KEYED_TEST_DIRECT=off)'
	@echo 'make test-all     make test, KIND=packages, and the tests of the database (KIND=major) on every available version of PostgreSQL'
	@echo 'make test-assert  the tests of the database on a PostgreSQL with assertions, which it builds (KIND=…, TEST=…)'
	@echo 'make bench   measure the release build'
	@echo 'make soak    check with third-party tools, which it downloads (KIND=clients|schemathesis|sqlsmith|callers|day|crash)'
	@echo 'make docs    build a book from docs/ in target/book, with mdbook, which it downloads'
	@echo 'make build   build the release, install the extension into PostgreSQL'
	@echo 'make deb     build Debian packages of extension and proxy in target/deb'
	@echo 'make images  build container images from Debian packages with Docker, compiled in a container (PG=15|17, DEB=target/deb)'
	@echo 'make setup   install the dependencies of the other commands, the only command that may need root (FOR=run|test|bench)'
	@echo 'Add PG=18 to a command to use that version of PostgreSQL (15, 16, 17 or 18), which is built from source if apt has no package. KIND=major PG=18 runs the tests that depend on the version'

setup build run test test-all test-assert bench soak docs deb images:
	@.dev/$@
