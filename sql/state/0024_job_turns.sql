-- What a job comes back to, what searches leave out until it is done, and the series of dropped metrics as a job. Run once,
-- as keyed_owner.

alter table keyed_state.job add column left_out uuid[] not null default '{}';
alter table keyed_state.job add column dropped integer[] not null default '{}';
alter table keyed_state.job drop constraint job_kind_check;
alter table keyed_state.job add constraint job_kind_check check (kind in ('index', 'documents', 'embeddings', 'series'));
comment on column keyed_state.job.kind is 'index: the indexes of an attribute are built; documents: what is searched of each record is written anew; embeddings: each record is looked at for a text to embed; series: the points of dropped metrics are deleted.';
comment on column keyed_state.job.left_out is 'The records before the position that others had locked: the job comes back to them.';
comment on column keyed_state.job.dropped is 'documents: the dropped attributes of which documents that are not yet written anew may hold texts; series: the dropped metrics.';
comment on column keyed_state.job.records_done is 'How many records, or points of series, are done.';
comment on column keyed_state.job.records is 'How many there were when the job began; null: it has not begun.';
