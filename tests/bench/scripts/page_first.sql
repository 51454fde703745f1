\set n random(1, 10)
select keyed.search('bench.works', (select first from plain.pages where n = :n));
