\set key case when random(1, 100) <= :fresh then random(1000000000, 1000000000000000000) else random(1, :records) end
\set name random(1, 1000000)
\set user random(1, 1000000)
\set city random(1, 1000000)
\set score random(1, 1000000)
-- Everything that an upsert of keyed writes, by hand: the record, its history entry with old and new values, and the
-- search document.
with before as (
  select name, email, city, score from plain.customers where external_key = 'A-' || :key and deleted_at is null
), written as (
  insert into plain.customers as record (external_key, name, email, city, score)
  values ('A-' || :key, 'Name ' || :name, 'user' || :user || '@example.org', 'City ' || :city, :score)
  on conflict (external_key) where deleted_at is null and external_key is not null do update
    set name = excluded.name, email = excluded.email, city = excluded.city, score = excluded.score, updated_at = now()
  returning id, external_key, name, email, city, score, xmax = 0 as created
), logged as (
  insert into plain.customers_history (record_id, at, actor, source, operation, external_key, changes)
  select written.id, now(), 'bench', 'sql', case when created then 'create' else 'update' end, written.external_key,
    jsonb_build_object(
      'name', jsonb_build_object('old', before.name, 'new', written.name),
      'email', jsonb_build_object('old', before.email, 'new', written.email),
      'city', jsonb_build_object('old', before.city, 'new', written.city),
      'score', jsonb_build_object('old', before.score, 'new', written.score))
  from written left join before on true
), searched as (
  insert into plain.customers_text as text (record_id, document)
  select id, lower(concat_ws(E'\x1f', external_key, name, email, city)) from written
  on conflict (record_id) do update set document = excluded.document where text.document <> excluded.document
)
select id, created from written;
