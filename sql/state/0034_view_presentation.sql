-- Views for presentation. Run once, as keyed_owner.

alter table keyed_state.view add column presentation boolean not null default false;
comment on column keyed_state.view.presentation is 'Whether its view in PostgreSQL shows values as people read them: references by the display of their targets, lists by the labels of their options.';
