-- Everything that a batch of keyed writes, by hand and set-based: the records, their history entries with old and new
-- values, and the search documents.
-- The keys are sorted, so that batches do not deadlock. The previous values are looked up once, not once for each row.
with sent as (
  select external_key, name, email, city, score from json_to_recordset($1::text::json)
    as sent (external_key text collate "C", name text, email text, city text, score numeric)
), before as materialized (
  select record.external_key, record.name, record.email, record.city, record.score
  from plain.customers as record join sent using (external_key) where record.deleted_at is null
), written as (
  insert into plain.customers as record (external_key, name, email, city, score)
  select external_key, name, email, city, score from sent order by external_key
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
  from written left join before using (external_key)
), searched as (
  insert into plain.customers_text as text (record_id, document)
  select id, lower(concat_ws(E'\x1f', external_key, name, email, city)) from written
  on conflict (record_id) do update set document = excluded.document where text.document <> excluded.document
)
select external_key, id, created from written
