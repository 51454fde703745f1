-- The records whose embedding was given up, for who counts them. Run once, as keyed_owner.

create index on keyed_state.embedding_job (template_id) where state = 'failed';
