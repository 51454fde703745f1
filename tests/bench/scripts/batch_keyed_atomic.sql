select keyed.batch($1::text::jsonb, atomic => true)::text as report
