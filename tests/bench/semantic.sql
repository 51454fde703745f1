-- A hundred thousand records with vectors, and queries for them. The statements of synthetic() have run.

select keyed.create_project('bench');
select keyed.create_template('bench', 'items', '[
  {"slug": "share", "type": "number", "indexed": true}, {"slug": "part", "type": "number"}, {"slug": "name", "type": "string"}
]');

-- Without triggers, which would write documents and history that this benchmark does not read.
set session_replication_role = replica;
insert into bench.items (external_key, share, part, name)
  select 'I-' || n, n * 7919::bigint % 10000, n * 7919::bigint % 10000, 'Item ' || n from generate_series(1, 100000) n;
set session_replication_role = origin;
drop index keyed_state.vector_1_hnsw;
insert into keyed_state.vector_1 (record_id, embedding) select id, synthetic() from bench.items;

create table question as
  select n, v, '{"template_id":"1","query_vector":' || v::text as body from (
    select n, synthetic() as v from generate_series(1, 100) n offset 0) q;
create unique index on question (n);

set maintenance_work_mem = '1GB';
select keyed.migrate();
