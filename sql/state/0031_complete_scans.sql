-- Functions of policies ignore gin_fuzzy_search_limit, which any login can set. With a limit, a GIN scan omits rows at random, and
-- a scope that excludes the result of such a function would show hidden records. No table is locked.
do $$
declare
  scope_function regprocedure;
begin
  for scope_function in select p.oid from pg_proc p where p.pronamespace = 'keyed_scope'::regnamespace order by p.oid loop
    execute format('alter function %s set gin_fuzzy_search_limit = 0', scope_function);
  end loop;
end
$$;
