-- The objects that the other contenders need in addition to works.sql. Hand-written SQL uses the tables of the template itself.

-- So that no script needs the template's id.
grant usage on schema plain to public;
create view plain.works_text as select record_id, document from keyed_state.text_:template;

-- PostgREST's table is plain, with the indexes that a user would create.
create table rest.works (like bench.works);
insert into rest.works table bench.works;
alter table rest.works add primary key (id);
create unique index on rest.works (external_key);
create index on rest.works (title);
create index on rest.works (city);
create index on rest.works (price);
create index on rest.works (made);
create index on rest.works using gin (tags);
create index on rest.works (country);

-- The first page and the thousandth of five lists, as bodies of a search.
create table plain.pages (n integer primary key, price integer not null, first jsonb not null, thousandth jsonb);
insert into plain.pages (n, price, first)
select n, 10000 - n, jsonb_build_object('sort', '-price', 'limit', 50, 'filters', jsonb_build_array(
  jsonb_build_object('field', 'price', 'operator', 'lte', 'value', 10000 - n)))
from generate_series(1, 5) as n;

-- The steps are larger than the pages, and omit what is not needed: the cursor is the same.
do $$
declare
  page plain.pages;
  body jsonb;
  step integer;
begin
  for page in table plain.pages loop
    body := page.first || '{"fields": []}';
    foreach step in array array_fill(1000, array[49]) || 950 loop
      body := body || jsonb_build_object('limit', step);
      body := body || jsonb_build_object('cursor', keyed.search('bench.works', body) -> 'next_cursor');
    end loop;
    update plain.pages set thousandth = first || jsonb_build_object('cursor', body -> 'cursor') where n = page.n;
  end loop;
end
$$;
