-- The time zone in which a project's days begin and end.

alter table keyed_state.project add column time_zone text;
comment on column keyed_state.project.time_zone is 'The time zone of searches that name none; null: UTC.';
