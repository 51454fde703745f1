-- Waits until a proxy has embedded everything, so that a checksum and a dump agree. Without a proxy, nothing changes.
do $$
declare
  waiting bigint;
  waited bigint := -1;
begin
  loop
    select sum(pending + running) into waiting from keyed.embedding_status();
    exit when coalesce(waiting, 0) in (0, waited);
    waited := waiting;
    perform pg_sleep(1);
  end loop;
end $$;
