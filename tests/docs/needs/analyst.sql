-- The login of the page about BI tools, which other pages use.
do $$
begin
  create role analyst login password 'change me';
exception when duplicate_object then
  null; -- That page was read before.
end $$;
select keyed.grant_access('analyst', 'crm', '{read}');
