-- Synonyms of templates. Run once, as keyed_owner.

alter table keyed_state.template add synonyms jsonb;
comment on column keyed_state.template.synonyms is 'Synonyms for searches: [{synonyms}], in which each term finds the others, or [{root, synonyms}], in which only the root finds the others; null for none.';
