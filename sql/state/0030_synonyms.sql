-- Words that stand for each other in searches of a template. Run once, as keyed_owner.

alter table keyed_state.template add synonyms jsonb;
comment on column keyed_state.template.synonyms is 'What searches look for beside a word: [{synonyms}], each for each; [{root, synonyms}], for the root; null: nothing.';
