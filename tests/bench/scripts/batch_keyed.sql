select keyed.batch($1::text::jsonb)::text as report
