\set n random(1, 10)
select keyed.search('bench.works', (select thousandth from plain.pages where n = :n));
