"""Vectors with 768 numbers, which exceed the limit of schemathesis' generator for one request."""

import schemathesis

DIMENSIONS = 768


@schemathesis.hook
def before_load_schema(context, raw_schema):
    for schema in raw_schema["components"]["schemas"].values():
        vector = schema.get("properties", {}).get("query_vector")
        if vector is None:
            continue
        bounds = (vector.pop("minItems"), vector.pop("maxItems"))
        assert bounds == (DIMENSIONS, DIMENSIONS), bounds
        vector.pop("items")
        vector["enum"] = [
            [0.5] * DIMENSIONS,
            [0] * DIMENSIONS,
            [1e300] * DIMENSIONS,
            [(-1) ** n / (n + 1) for n in range(DIMENSIONS)],
        ]
