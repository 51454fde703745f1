-- Display formats of attributes. Run once, as keyed_owner.

alter table keyed_state.attribute add column "format" jsonb;
comment on column keyed_state.attribute."format" is 'The display format of the values: for numbers grouping, decimals, unit, currency and percent; for dates a pattern; for strings a kind. Null: the default of the type.';
