-- Ten thousand records, each with every other of thirty words, and with ten of some thousand others.

create function plain.frequent(n integer) returns text language sql immutable parallel safe as $$
  select (string_to_array('river stone garden winter harbor copper forest letter market violin window castle silver bridge '
    'candle desert engine falcon granite hammer island jacket kettle lantern meadow needle orchard pepper quarry ribbon', ' '))[n]
$$;

select keyed.create_template('bench', 'papers', '[
  {"slug": "title", "type": "string"}, {"slug": "abstract", "type": "string"}, {"slug": "kind", "type": "list"}]');

insert into bench.papers (external_key, title, abstract, kind)
select 'P-' || n, 'On ' || md5(n::text),
  (select string_agg(plain.frequent(word), ' ' order by hashint4(n * 31 + word)) from generate_series(1, 30) as word
    where hashint4(n * 100 + word) % 2 = 0)
    || ' ' || (select string_agg(translate(substr(md5((n * 7 + other * 13 % 500)::text), 1, 7), '0123456789', 'ghijklmnop'), ' ')
    from generate_series(1, 10) as other),
  array['k' || n % 5]
from generate_series(1, 10000) as n;

create table rest.papers (like bench.papers);
insert into rest.papers table bench.papers;
alter table rest.papers add primary key (id);
alter table rest.papers add column words tsvector
  generated always as (to_tsvector('english', coalesce(title, '') || ' ' || coalesce(abstract, ''))) stored;
create index on rest.papers using gin (words);
vacuum analyze bench.papers;
vacuum analyze rest.papers;

-- 69,000 records, half of which have one word.
select keyed.create_template('bench', 'journals', '[
  {"slug": "title", "type": "string"}, {"slug": "city", "type": "string"}, {"slug": "kind", "type": "list"}]');

insert into bench.journals (external_key, title, city, kind)
select 'J-' || n, translate(substr(md5(n::text), 1, 7), '0123456789', 'ghijklmnop') || case when n % 2 = 0 then ' annual' else '' end,
  'City ' || n::bigint * 7919 % 1000, array['k' || n % 5, 'l' || n % 40]
from generate_series(1, 69000) as n;

create table rest.journals (like bench.journals);
insert into rest.journals table bench.journals;
alter table rest.journals add primary key (id);
alter table rest.journals add column words tsvector
  generated always as (to_tsvector('english', coalesce(title, '') || ' ' || coalesce(city, ''))) stored;
create index on rest.journals using gin (words);
vacuum analyze bench.journals;
vacuum analyze rest.journals;
