-- A subscriber of logical replication writes row by row, past the triggers that tell sessions to forget. These tell them
-- there, and where somebody loads rows with session_replication_role = replica; elsewhere they do not fire. Run once, as
-- keyed_owner.
do $$
declare
  name text;
begin
  foreach name in array array['api_key', 'access_grant', 'project', 'quota', 'template', 'attribute']
  loop
    execute pg_catalog.format('create trigger keyed_announce_row after insert or update or delete on keyed_state.%I '
      'for each row execute function keyed.announce_change()', name);
    execute pg_catalog.format('create trigger keyed_announce_end after truncate on keyed_state.%I '
      'for each statement execute function keyed.announce_change()', name);
    execute pg_catalog.format('alter table keyed_state.%I enable replica trigger keyed_announce_row', name);
    execute pg_catalog.format('alter table keyed_state.%I enable replica trigger keyed_announce_end', name);
  end loop;
end
$$;
