-- Jobs also build indexes of documents. Run once, as keyed_owner.

alter table keyed_state.job drop constraint job_check;
alter table keyed_state.job add constraint job_check check (kind = 'index' or attribute_id is null);
comment on column keyed_state.job.kind is 'index: the indexes of an attribute are built, or without an attribute the index of the documents; documents: what is searched of each record is written anew; embeddings: each record is looked at for a text to embed; series: the points of dropped metrics are deleted.';
comment on column keyed_state.job.attribute_id is 'index: the attribute; null: the index of the documents is built.';
