\set key random(1000000000, 1000000000000000000)
\set name random(1, 1000000)
\set user random(1, 1000000)
\set city random(1, 1000000)
\set score random(1, 1000000)
-- Everything that a creation by keyed writes, by hand: the record, its history entry, and the search document.
with written as (
  insert into plain.customers (external_key, name, email, city, score)
  values ('A-' || :key, 'Name ' || :name, 'user' || :user || '@example.org', 'City ' || :city, :score)
  returning id, external_key, created_at, updated_at, name, email, city, score
), logged as (
  insert into plain.customers_history (record_id, at, actor, source, operation, external_key, changes)
  select id, now(), 'bench', 'sql', 'create', external_key, jsonb_build_object(
    'name', jsonb_build_object('old', null, 'new', name), 'email', jsonb_build_object('old', null, 'new', email),
    'city', jsonb_build_object('old', null, 'new', city), 'score', jsonb_build_object('old', null, 'new', score))
  from written
), searched as (
  insert into plain.customers_text (record_id, document)
  select id, lower(concat_ws(E'\x1f', external_key, name, email, city)) from written
)
table written;
