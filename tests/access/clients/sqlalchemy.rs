//! SQLAlchemy reflects record tables as ordinary tables, and reads the records of its login.

use crate::sales::{Sales, of_region};
use serde_json::{Value, json};
use std::process::Command;

/// Reflects the project, then follows a foreign key; prints the result as JSON.
const PROGRAM: &str = r#"
import json, psycopg2, sys
from sqlalchemy import MetaData, create_engine, func, select
engine = create_engine("postgresql+psycopg2://", creator=lambda: psycopg2.connect(sys.argv[1]))
found = MetaData()
found.reflect(bind=engine, schema="crm")
customers, companies = found.tables["crm.customers"], found.tables["crm.companies"]
with engine.connect() as connection:
    rows = connection.execute(
        select(customers.c.external_key, companies.c.name)
        .join(companies, customers.c.company == companies.c.id)
        .order_by(customers.c.external_key)).fetchall()
    total = connection.execute(select(func.count()).select_from(customers)).scalar()
print(json.dumps({
    "types": {column.name: str(column.type) for column in customers.columns},
    "references": [key.target_fullname for key in customers.foreign_keys],
    "comments": [customers.comment, customers.c.external_key.comment is not None],
    "rows": [list(row) for row in rows],
    "total": total,
}))
"#;

#[tokio::test]
async fn sqlalchemy_reflects_tables_and_reads_its_scope() {
    let sales = Sales::new().await;
    let (role, _session) = sales.clerk("read", &of_region("EU")).await;
    sales.database.grant(&role, "crm.companies", "read").await;
    let login = sales.database.create_role("bi").await;
    sales.admin.run(&format!("grant {role} to {login}")).await;
    let url = sales.database.cluster().url(&login, sales.database.name());
    // Debian's Python has Debian's SQLAlchemy, even if another Python comes first in PATH.
    let output = Command::new("/usr/bin/python3").args(["-c", PROGRAM, &url]).output().expect("Python runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let found: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(found["rows"], json!([["EU-1", "Acme"], ["EU-2", "Acme"]]));
    assert_eq!((&found["total"], &found["references"]), (&json!(2), &json!(["crm.companies.id"])));
    assert_eq!(found["comments"], json!(["customers", true]));
    for (column, sql_type) in [
        ("id", "UUID"),
        ("external_key", "TEXT"),
        ("amount", "NUMERIC"),
        ("mood", "DOUBLE PRECISION"),
        ("tier", "ARRAY"),
        ("due", "DATE"),
        ("seen", "TIMESTAMP"),
    ] {
        // Releases of SQLAlchemy spell two-word names differently.
        let found = found["types"][column].as_str().unwrap_or_default().replace('_', " ");
        assert_eq!(found, sql_type, "{column}");
    }
}

/// Upserts as an ORM sends them, twice the same key, then a deleted one; prints the result as JSON.
const UPSERTS: &str = r#"
import json, psycopg2, sys
from sqlalchemy import MetaData, Table, create_engine
from sqlalchemy.dialects.postgresql import insert
engine = create_engine("postgresql+psycopg2://", creator=lambda: psycopg2.connect(sys.argv[1]))
customers = Table("customers", MetaData(), schema="crm", autoload_with=engine)
def upsert(connection, **values):
    statement = insert(customers).values(external_key="EU-9", region="EU", **values)
    statement = statement.on_conflict_do_update(index_elements=["external_key"], set_=values)
    return connection.execute(statement.returning(customers.c.id, customers.c.name)).one()
with engine.begin() as connection:
    first, second = upsert(connection, name="first"), upsert(connection, name="second")
    ignored = insert(customers).values(external_key="EU-9", region="EU", id=None, created_at=None, updated_at=None)
    ignored = connection.execute(ignored.on_conflict_do_nothing(index_elements=["external_key"])).rowcount
with engine.begin() as connection:
    connection.exec_driver_sql("update crm.customers set deleted_at = now() where external_key = 'EU-9'")
    third = upsert(connection, name="third")
print(json.dumps([first.id == second.id, second.name, ignored, third.id != first.id, third.name]))
"#;

#[tokio::test]
async fn sqlalchemy_upserts_by_the_key_with_and_without_a_scope() {
    let sales = Sales::new().await;
    let (scoped, _session) = sales.clerk("read, create, update, delete", &of_region("EU")).await;
    let (open, _session) = sales.member().await;
    sales.database.grant(&open, "crm.customers", "read, create, update, delete").await;
    for (login, role) in [("orm", scoped), ("open_orm", open)] {
        let login = sales.database.create_role(login).await;
        sales
            .admin
            .run(&format!("delete from crm.customers where name = 'third'; grant {role} to {login}"))
            .await;
        let url = sales.database.cluster().url(&login, sales.database.name());
        let output =
            Command::new("/usr/bin/python3").args(["-c", UPSERTS, &url]).output().expect("Python runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let found: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(found, json!([true, "second", 0, true, "third"]));
    }
}
