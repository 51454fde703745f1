-- The records for lists and searches: ten attributes, at least one of each type. The words consist of a hundred
-- syllables, so that substrings are about as frequent as in a natural language.

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
