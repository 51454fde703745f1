\set key random(1, :records)
select row_to_json(record) from plain.customers as record where external_key = 'A-' || :key and deleted_at is null;
