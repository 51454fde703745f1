-- An index for counting failed embeddings. Run once, as keyed_owner.

create index on keyed_state.embedding_job (template_id) where state = 'failed';
