-- The target of random SQL: templates with every type of attribute, grants with scopes, views, records, and the login of
-- a BI tool. psql runs this file as superuser, with the variable password.

select keyed.create_project('shop', 'Shop');
select keyed.create_template('shop', 'cities', '[
  {"slug": "name", "type": "string", "required": true},
  {"slug": "founded", "type": "date", "indexed": true}
]');
select keyed.create_template('shop', 'customers', '[
  {"slug": "name", "type": "string", "required": true, "indexed": true},
  {"slug": "balance", "type": "number", "indexed": true},
  {"slug": "visits", "type": "metric"},
  {"slug": "tags", "type": "list", "options": ["new", "loyal", "lost"]},
  {"slug": "born", "type": "date"},
  {"slug": "seen", "type": "datetime"},
  {"slug": "city", "type": "reference", "template": "cities", "indexed": true}
]', embed => '{name}');
-- A template that the login cannot read.
select keyed.create_template('shop', 'secrets', '[{"slug": "text", "type": "string"}]');

select count(keyed.upsert_by_key('shop.cities', 'city:' || n, jsonb_build_object(
  'name', 'City ' || n, 'founded', date '1200-01-01' + n * 4000)))
from generate_series(1, 10) n;
select count(keyed.upsert_by_key('shop.customers', 'crm:' || n, jsonb_build_object(
  'name', 'Customer ' || n, 'balance', n * 1.25 - 50, 'visits', n, 'tags', array[(array['new', 'loyal', 'lost'])[1 + n % 3]],
  'born', date '1960-01-01' + n * 31, 'seen', timestamptz '2024-01-01 00:00Z' + n * interval '1 hour',
  'city', jsonb_build_object('external_key', 'city:' || 1 + n % 10))))
from generate_series(1, 200) n;
select count(keyed.delete_record((keyed.get_by_key('shop.customers', 'crm:' || n) ->> 'id')::uuid))
from generate_series(1, 20) n;
select count(keyed.upsert_by_key('shop.secrets', 'secret:' || n, '{"text": "hidden"}')) from generate_series(1, 5) n;

select keyed.save_view('shop.customers', 'loyal',
  '{"filters": [{"field": "tags", "operator": "in", "value": ["loyal"]}], "sort": "-balance"}');
select keyed.save_view('shop.customers', 'old_cities',
  '{"filters": [{"field": "city.founded", "operator": "lt", "value": "1250-01-01"}]}');

create role soak_reader;
select keyed.grant_access('soak_reader', 'shop.customers', '{read}',
  '{"field": "balance", "operator": "gte", "value": 0}');
select keyed.grant_access('soak_reader', 'shop.cities', '{read}');
-- The server's log has the SQLSTATE and the source location of each error of this login.
create role soak_login login in role soak_reader;
alter role soak_login set log_error_verbosity = verbose;
alter role soak_login set statement_timeout = '5s';
alter role soak_login password :'password';
analyze;
