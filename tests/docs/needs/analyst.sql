-- The login of the page about BI tools, on which others build.
do $$
begin
  create role analyst login password 'change me';
exception when duplicate_object then
  null; -- That page was read before.
end $$;
select keyed.grant_access('analyst', 'crm', '{read}');
