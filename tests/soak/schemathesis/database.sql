-- A project for generated requests. psql runs this file as superuser.

select keyed.create_project('soak', 'Soak');
select keyed.create_template('soak', 'works', '[
  {"slug": "name", "type": "string"},
  {"slug": "price", "type": "number", "indexed": true},
  {"slug": "humidity", "type": "metric"},
  {"slug": "tags", "type": "list"},
  {"slug": "made", "type": "date"},
  {"slug": "seen", "type": "datetime"},
  {"slug": "part_of", "type": "reference", "template": "works"}
]', embed => '{name}');
-- Referenced templates cannot be dropped, so some objects exist until the end.
select keyed.create_template('soak', 'notes', '[{"slug": "work", "type": "reference", "template": "works"}]');
select keyed.upsert_by_key('soak.works', 'work:' || n, jsonb_build_object('name', 'Work ' || n, 'price', n, 'humidity', n))
from generate_series(1, 20) n;
select keyed.save_view('soak.works', 'cheap', '{"filters": [{"field": "price", "operator": "lt", "value": 10}]}');

create role soak_scoped;
select keyed.grant_access('soak_scoped', 'soak.works', '{read,create,update,delete}',
  '{"field": "price", "operator": "lte", "value": 10}');
