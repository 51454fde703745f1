# The commands of this repository. Each is one script in .dev/, which says what it does.
.PHONY: help setup build run test test-assert bench soak docs

help:
	@echo 'make run     start PostgreSQL, the extension and the proxy from this clone (KEYED_PORT=8080)'
	@echo 'make test    every check and test (KIND=lint|unit|sql|http|race|access|cli|lifecycle|ui|docs, TEST=name, KEYED_TEST_DIRECT=off)'
	@echo 'make test-assert  the tests of the database on a PostgreSQL with assertions, which it builds (KIND=…, TEST=…)'
	@echo 'make bench   measure the release build'
	@echo 'make soak    check with tools of others, which it fetches (KIND=clients|schemathesis|sqlsmith|day)'
	@echo 'make docs    make a book of docs/ in target/book, with mdbook, which it fetches'
	@echo 'make build   build the release, install the extension into PostgreSQL 15'
	@echo 'make setup   only install what the others need: the one command for which they may ask root'

setup build run test test-assert bench soak docs:
	@.dev/$@
