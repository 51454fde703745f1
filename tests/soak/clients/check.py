"""Calls a service with the Python client that openapi-python-client generates: ADDRESS KEY_FILE DOCUMENT."""

import io
import json
import pkgutil
import re
import sys
from http import HTTPStatus

import keyed_client.api
from keyed_client import AuthenticatedClient, models
from keyed_client.api.administration import grant_access, list_grants
from keyed_client.api.files import import_records
from keyed_client.api.records import create_record, get_history, get_record, patch_record, run_batch
from keyed_client.api.records_by_key import get_record_by_key, upsert_record
from keyed_client.api.search import search
from keyed_client.api.templates import create_template, get_template
from keyed_client.types import File

address, key_file, document_file = sys.argv[1:]
with open(key_file, encoding="utf-8") as file:
    key = file.read().strip()
with open(document_file, encoding="utf-8") as file:
    document = json.load(file)
client = AuthenticatedClient(base_url=address, token=key)
PROJECT = {"x_service_project_id": "crm"}


def expect(response, status, kind):
    """The response, as the type that the document declares."""
    assert response.status_code == status, (response.status_code, response.content)
    assert isinstance(response.parsed, kind), (type(response.parsed), response.content)
    return response.parsed


def snake(name):
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


# Every operation of the document has a function.
walk = pkgutil.walk_packages(keyed_client.api.__path__, keyed_client.api.__name__ + ".")
made = {name for _, name, is_folder in walk if not is_folder}
made = {name.rsplit(".", 1)[-1] for name in made}
operations = [it for methods in document["paths"].values() for it in methods.values()]
missing = {snake(it["operationId"]) for it in operations} - made
assert not missing, missing

# A template.
attributes = [
    models.NewAttribute(slug=slug, type_=kind)
    for slug, kind in [
        ("name", models.NewAttributeType.STRING),
        ("credit", models.NewAttributeType.NUMBER),
        ("tags", models.NewAttributeType.LIST),
    ]
]
body = models.NewTemplate(slug="clients", attributes=attributes)
template = expect(create_template.sync_detailed(client=client, body=body, **PROJECT), HTTPStatus.CREATED, models.Template)
same = expect(get_template.sync_detailed(template.id, client=client), HTTPStatus.OK, models.Template)
assert [it.slug for it in same.attributes] == ["name", "credit", "tags"], same

# Upsert: created, then updated by an increment, and read by its key.
values = models.Attributes.from_dict({"name": "Ada", "credit": 80.5, "tags": ["a", "b"]})
body = models.Upsert(external_key="erp:4711", attributes=values)
first = expect(upsert_record.sync_detailed("clients", client=client, body=body, **PROJECT), HTTPStatus.CREATED, models.Upserted)
assert first.created
body = models.Upsert(external_key="erp:4711", attributes=models.Attributes.from_dict({"credit": {"$inc": 5}}))
again = expect(upsert_record.sync_detailed("clients", client=client, body=body, **PROJECT), HTTPStatus.OK, models.Upserted)
assert (again.id, again.created) == (first.id, False)
record = get_record_by_key.sync_detailed("clients", client=client, key="erp:4711", **PROJECT)
record = expect(record, HTTPStatus.OK, models.Record)
assert record.attributes["credit"] == 85.5 and record.attributes["tags"] == ["a", "b"], record

# Create, patch, read.
body = models.NewRecord(attributes=models.Attributes.from_dict({"name": "Bob"}))
bob = expect(create_record.sync_detailed("clients", client=client, body=body, **PROJECT), HTTPStatus.CREATED, models.Record)
assert bob.external_key is None, bob
body = models.RecordChange(external_key="erp:4712", attributes=models.Attributes.from_dict({"tags": None, "credit": 1}))
bob = expect(patch_record.sync_detailed(bob.id, client=client, body=body), HTTPStatus.OK, models.Record)
read = expect(get_record.sync_detailed(bob.id, client=client), HTTPStatus.OK, models.Record)
assert (read.external_key, read.attributes["credit"]) == ("erp:4712", 1), read
history = expect(get_history.sync_detailed(bob.id, client=client), HTTPStatus.OK, models.History)
assert [it.operation.value for it in history.history] == ["update", "create"], history

# Batch with a rejected operation.
operations = [
    models.Operation(op=models.OperationOp.UPSERT, template="clients", external_key="erp:4713", attributes=values),
    models.Operation(op=models.OperationOp.CREATE, template="clients", attributes=models.Attributes.from_dict({"no": 1})),
    models.Operation(op=models.OperationOp.DELETE, template="clients", external_key="erp:4712"),
]
body = models.Batch(operations=operations)
report = expect(run_batch.sync_detailed(client=client, body=body, **PROJECT), HTTPStatus.OK, models.BatchReport)
assert [it.status for it in report.results] == [201, 422, 204], report
assert report.results[1].error.code == "unknown_attribute", report

# Search, with nested conditions.
rich = models.Comparison(field="credit", operator=models.ComparisonOperator.GT, value=80)
nobody = models.Negation(not_=models.Comparison(field="name", operator=models.ComparisonOperator.EQ, value="Ada"))
body = models.Search(filters=[models.AnyOf(or_=[rich, nobody])], sort="-credit", count=models.SearchCount.EXACT)
found = expect(search.sync_detailed("clients", client=client, body=body, **PROJECT), HTTPStatus.OK, models.SearchResult)
assert [it.external_key for it in found.records] == ["erp:4711", "erp:4713"] and found.total == 2, found

# A grant, with a condition as its scope.
scope = models.Comparison(field="credit", operator=models.ComparisonOperator.GT, value=80)
body = models.GrantRequest(
    role="sales_bern", target="crm.clients", privileges=[models.GrantRequestPrivilegesItem.READ], scope=scope
)
expect(grant_access.sync_detailed(client=client, body=body), HTTPStatus.OK, models.Grants)
grants = expect(list_grants.sync_detailed(client=client, target="crm.clients"), HTTPStatus.OK, models.Grants)
assert [(it.role, it.scope) for it in grants.grants] == [("sales_bern", scope)], grants

# An error is a problem document.
body = models.Upsert(external_key="x" * 256)
refused = upsert_record.sync_detailed("clients", client=client, body=body, **PROJECT)
problem = expect(refused, HTTPStatus.UNPROCESSABLE_ENTITY, models.Problem)
assert problem.code == "invalid_external_key" and problem.errors[0].pointer == "/external_key", problem

# A file.
rows = File(payload=io.BytesIO(b"external_key,name\nerp:4714,Eve\n"))
report = import_records.sync_detailed("clients", client=client, body=rows, **PROJECT)
assert expect(report, HTTPStatus.OK, models.ImportReport).created == 1, report
print(f"{len(made)} operations; upsert, create, patch, read, history, batch, search and import work")
