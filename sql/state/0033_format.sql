-- Display formats of attributes. Run once, as keyed_owner.

alter table keyed_state.attribute add column "format" jsonb;
comment on column keyed_state.attribute."format" is 'How applications show the values: of numbers grouping, decimals, unit, currency and percent; of dates a pattern; of texts a kind. Null: as their type is shown.';
