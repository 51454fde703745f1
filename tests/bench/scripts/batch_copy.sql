copy plain.bare (external_key, name, email, city, score) from stdin
