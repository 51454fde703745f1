copy plain.searched (external_key, name, email, city, score) from stdin
