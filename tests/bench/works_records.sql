-- Records of the template of works.sql, with these numbers.
--
-- Adjacent words of the notes have adjacent numbers, so that records with two searched words exist. A title has words
-- that no notes have. Five thousand consecutive records share an amount, so every amount occurs with all other values,
-- and amounts jump from one five thousand to the next.
insert into bench.works (external_key, title, city, notes, price, amount, made, seen, tags, country)
select 'W-' || n, initcap(plain.word(5000 + n * 7 % 20011)) || ' ' || plain.word(5000 + n * 11 % 30011) || ' ' || n % 5000,
  'City ' || n::bigint * 7919 % 1000,
  (select string_agg(plain.word((n * 31 % 5000 + step) % 5000), ' ') from generate_series(0, 7) as step),
  (n::bigint * 7717 % 1000000) / 100.0, (n / 5000 + 50) * 37 % 100, date '1900-01-01' + n % 40000,
  timestamptz '2020-01-01T00:00:00Z' + n * interval '1 second', array['t' || n % 50, 'u' || n % 7],
  countries.ids[1 + n % 200]
from (select array_agg(id) as ids from bench.countries) as countries, generate_series(:first, :last) as n;
