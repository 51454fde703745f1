-- What lists and searches are measured on: many records of ten attributes, one of each type and more. The words are
-- made up of a hundred syllables, so that parts of them are about as frequent as in a language.

create function plain.syllable(n integer) returns text language sql immutable parallel safe as $$
  select substr('bacadafagahajakalamanapaqarasatavawaxazabecedefegehejekelemenepeqeresetevewexezebicidifigihijikilimi'
    'nipiqirisitiviwixizibocodofogohojokolomonopoqorosotovowoxozobucudufuguhujukulumunupuqurusutuvuwuxuzu', 1 + n % 100 * 2, 2)
$$;
create function plain.word(n integer) returns text language sql immutable parallel safe as $$
  select plain.syllable(n * 1237) || plain.syllable(n * 1237 / 100) || plain.syllable(n * 1237 / 10000)
$$;

select keyed.create_template('bench', 'countries', '[{"slug": "name", "type": "string"}]');
select keyed.create_template('bench', 'works', '[
  {"slug": "title", "type": "string", "indexed": true},
  {"slug": "city", "type": "string", "indexed": true},
  {"slug": "notes", "type": "string"},
  {"slug": "price", "type": "number", "indexed": true},
  {"slug": "amount", "type": "number"},
  {"slug": "made", "type": "date", "indexed": true},
  {"slug": "seen", "type": "datetime"},
  {"slug": "tags", "type": "list", "indexed": true},
  {"slug": "country", "type": "reference", "template": "countries"},
  {"slug": "heat", "type": "metric"}]');

set synchronous_commit = off;
insert into bench.countries (external_key, name) select 'C-' || n, 'Country ' || n from generate_series(1, 200) as n;

-- Neighbours in the notes are neighbours in number, so that two words that are looked for have met. A title has
-- words that no notes have. Amounts are alike in five thousand neighbours, so all other values meet each amount, and
-- leap from one five thousand to the next.
insert into bench.works (external_key, title, city, notes, price, amount, made, seen, tags, country)
select 'W-' || n, initcap(plain.word(5000 + n * 7 % 20011)) || ' ' || plain.word(5000 + n * 11 % 30011) || ' ' || n % 5000,
  'City ' || n::bigint * 7919 % 1000,
  (select string_agg(plain.word((n * 31 % 5000 + step) % 5000), ' ') from generate_series(0, 7) as step),
  (n::bigint * 7717 % 1000000) / 100.0, (n / 5000 + 50) * 37 % 100, date '1900-01-01' + n % 40000,
  timestamptz '2020-01-01T00:00:00Z' + n * interval '1 second', array['t' || n % 50, 'u' || n % 7],
  countries.ids[1 + n % 200]
from (select array_agg(id) as ids from bench.countries) as countries, generate_series(1, :records) as n;
