-- A small project to try things on. Run once by `make run` in a new cluster.

select keyed.create_project('demo', 'Demo');
select keyed.create_template('demo', 'artists', '[
  {"slug": "name", "type": "string", "label": "Name", "required": true},
  {"slug": "born", "type": "date", "label": "Born"}
]', 'Artists');
select keyed.create_template('demo', 'paintings', '[
  {"slug": "title", "type": "string", "label": "Title"},
  {"slug": "artist", "type": "reference", "template": "artists", "label": "Artist"},
  {"slug": "year", "type": "number", "label": "Year"},
  {"slug": "medium", "type": "list", "label": "Medium", "options": ["oil", "fresco", "tempera"]},
  {"slug": "visitors", "type": "metric", "label": "Visitors"}
]', 'Paintings', embed => '{title,medium}');
select keyed.upsert_by_key('demo.artists', 'museum:vermeer', '{"name": "Johannes Vermeer", "born": "1632-10-31"}');
select keyed.upsert_by_key('demo.paintings', 'museum:670', '{
  "title": "Girl with a Pearl Earring", "artist": {"external_key": "museum:vermeer"}, "year": 1665,
  "medium": ["oil"], "visitors": 1200
}');
