-- Texts of four words, some of which are in every second text and some in very few, in a template and in a table as a
-- user would create it for PostgREST.

create function plain.part_title(n integer) returns text language sql as $$
  select initcap(plain.word(floor(5000 * power(random(), 3))::int)) || ' ' || plain.word(floor(5000 * power(random(), 3))::int)
    || ' ' || plain.word(floor(5000 * random())::int) || case when n % 2 = 0 then ' archive' else '' end
$$;

select keyed.create_template('bench', ':template', '[
  {"slug": "title", "type": "string", "indexed": true}, {"slug": "price", "type": "number", "indexed": true},
  {"slug": "amount", "type": "number"}, {"slug": "notes", "type": "string"}]');

-- History is not measured here.
set session_replication_role = replica;
insert into bench.:template (external_key, title, price, amount, notes)
select 'P-' || n, plain.part_title(n), n::bigint * 7717 % 1000000 / 100.0, n * 37 % 1000, repeat(plain.word(n % 5000) || ' ', 8)
from generate_series(1, :fresh) as n;
create table rest.:template (like bench.:template);
insert into rest.:template table bench.:template;
alter table rest.:template add primary key (id);
create index on rest.:template (price, id);
create index on rest.:template using gin (title gin_trgm_ops);
vacuum analyze bench.:template;
vacuum analyze rest.:template;

-- Later changes, which PostgreSQL's statistics do not contain.
insert into bench.:template (external_key, title, price, amount, notes)
select 'P-' || n, plain.part_title(n), n::bigint * 7717 % 1000000 / 100.0, n * 37 % 1000, repeat(plain.word(n % 5000) || ' ', 8)
from generate_series(:fresh + 1, :records) as n;
insert into rest.:template select * from bench.:template where substr(external_key, 3)::int > :fresh;
update bench.:template set title = title || ' new' where :records > :fresh and amount < 200;
update rest.:template set title = title || ' new' where :records > :fresh and amount < 200;
