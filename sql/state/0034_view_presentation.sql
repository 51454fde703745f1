-- Views for presentation. Run once, as keyed_owner.

alter table keyed_state.view add column presentation boolean not null default false;
comment on column keyed_state.view.presentation is 'Whether its SQL view shows readable values: the display attribute of referenced records, and the labels of list options.';
