-- Vectors of records. PUBLIC can execute these functions; each checks its caller.

create function keyed.set_embedding(id uuid, vector real[], if_match text default null) returns void
  language c volatile as 'MODULE_PATHNAME', 'keyed_set_embedding';
comment on function keyed.set_embedding(uuid, real[], text) is
  'Sets the vector of a live record for semantic search; null removes it. vector: 768 finite numbers, not all zero, or a value of pgvector''s type vector; it is normalized to unit length. if_match as for keyed.patch_record. Changes neither updated_at nor the history. Errors: 22023 for an invalid vector, P0002 if the record does not exist.';
