\set n random(1, 100)
select json_agg(json_build_object('similarity_score', 1 - distance, 'entity', json_build_object(
  'id', t.id, 'template_id', '1', 'template_slug', 'items', 'external_key', external_key, 'attribute_values', json_build_object(
    'share', json_build_object('value', share), 'part', json_build_object('value', part),
    'name', json_build_object('value', name)))) order by distance)
from (
  select record_id, embedding <=> (select v from question where n = :n) as distance
  from keyed_state.vector_1 v join bench.items t on t.id = record_id
  where live and deleted_at is null and :condition
  order by embedding:cast <=> (select v:cast from question where n = :n) limit 10
) as closest join bench.items t on t.id = record_id;
