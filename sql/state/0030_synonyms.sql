-- Synonyms of templates. Run once, as keyed_owner.

alter table keyed_state.template add synonyms jsonb;
comment on column keyed_state.template.synonyms is 'Words that stand for each other in searches: [{synonyms}], of which each finds the others, or [{root, synonyms}], of which the root alone does; null for none.';
