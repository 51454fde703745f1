//! The statements that BI tools send to PostgreSQL, and a project of orders to run them on.

use crate::{Database, Session};
use serde_json::{Value, json};

/// The statements that one tool sends for one purpose.
pub struct Statement {
    /// The name of the tool and the purpose.
    pub name: &'static str,
    /// One statement, or several that must run together.
    pub sql: &'static str,
}

/// The records that a statement reads: through the policies of a login, or as superuser with an equivalent condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    /// The orders and customers of one region.
    Scoped,
    /// All records that are not deleted.
    All,
}

impl Visibility {
    /// The scope of the grant.
    pub fn scope(self) -> Option<Value> {
        let europe = json!({"field": "region", "operator": "eq", "value": "EU"});
        (self == Self::Scoped).then_some(europe)
    }

    /// The schema of the views that return the same records to a superuser.
    fn schema(self) -> &'static str {
        match self {
            Self::Scoped => "scoped_by_hand",
            Self::All => "all_by_hand",
        }
    }

    /// Creates a login that can read exactly these records.
    pub async fn login(self, database: &Database) -> String {
        let name = if self == Self::Scoped { "scoped" } else { "unscoped" };
        let role = database.create_role(name).await;
        for template in ["crm.orders", "crm.customers"] {
            match self.scope() {
                Some(scope) => database.grant_within(&role, template, "read", &scope).await,
                None => database.grant(&role, template, "read").await,
            }
        }
        role
    }
}

impl Statement {
    /// The statement for a superuser, who bypasses policies: it reads views that contain the policy's condition.
    pub fn by_hand(&self, visibility: Visibility) -> String {
        let sql = self.sql.replace("\"crm\".", "crm.");
        sql.replace("crm.", &format!("{}.", visibility.schema()))
    }
}

/// The statements that read records.
pub fn statements() -> Vec<Statement> {
    parse(include_str!("bi/statements.sql"))
}

/// The statements that read the catalog: tables, columns and keys.
pub fn introspection() -> Vec<Statement> {
    parse(include_str!("bi/introspection.sql"))
}

/// Creates orders, a tenth as many customers, and the views for superusers.
pub async fn fill(session: &Session, orders: u32) {
    // An order has the region of its customer.
    let customers = orders / 40 * 4;
    let script = include_str!("bi/orders.sql")
        .replace(":customers", &customers.to_string())
        .replace(":records", &orders.to_string());
    session.run(&script).await;
    session.run("vacuum analyze crm.orders").await;
    session.run("vacuum analyze crm.customers").await;
}

/// Parses a file of statements: the comment before each statement is its name; the comment at the top describes the
/// file.
fn parse(file: &'static str) -> Vec<Statement> {
    let parts = file.split("\n\n-- ").skip(1);
    let statement = |part: &'static str| {
        let (name, sql) = part.split_once('\n').expect("a statement follows its name");
        Statement { name, sql: sql.trim_end() }
    };
    parts.map(statement).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_statement_has_a_tool_and_a_purpose() {
        let tools = ["Metabase", "Superset", "Grafana", "Power BI", "Tableau"];
        let (statements, introspection) = (statements(), introspection());
        assert!(statements.len() >= 25 && introspection.len() >= 10);
        for Statement { name, sql } in statements.iter().chain(&introspection) {
            let (tool, purpose) = name.split_once(": ").expect("a colon");
            assert!(tools.contains(&tool) && !purpose.is_empty(), "{name}");
            assert!(sql.ends_with(';'), "{name}");
        }
        let names: std::collections::HashSet<_> = statements.iter().map(|it| it.name).collect();
        assert_eq!(names.len(), statements.len(), "two statements share a name");
    }

    #[test]
    fn bi_statements_read_only_views() {
        for statement in statements() {
            for (visibility, schema) in
                [(Visibility::Scoped, "scoped_by_hand."), (Visibility::All, "all_by_hand.")]
            {
                let sql = statement.by_hand(visibility);
                assert!(sql.contains(schema) && !sql.contains("crm"), "{sql}");
            }
        }
    }
}
