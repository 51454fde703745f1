\set word random(0, 4999)
\set letters random(1, 4)
-- Counted among the maximum number of documents that keyed reads, and case-folded.
select json_agg(json_build_object('text', word, 'count', count)) from (
  select word, count(*) from (
    select distinct record_id, match[1] as word
    from (select record_id, document from plain.works_text
      where document like '% ' || left(plain.word(:word), :letters) || '%' limit 2000) as found,
    regexp_matches(document, ' (' || left(plain.word(:word), :letters) || '[a-z0-9]*)', 'g') as match
  ) as words group by word order by count desc, word limit 10
) as suggestions;
