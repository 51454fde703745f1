\set n random(1, 5)
select keyed.search('bench.works', (select thousandth from plain.pages where n = :n));
