//! Searches in databases with different collation providers.

use super::words::{found, upsert};
use harness::{Cluster, Database, major_version};
use serde_json::json;

/// Options of CREATE DATABASE.
fn locales() -> Vec<&'static str> {
    let mut locales = vec![
        "locale 'C'",
        "locale 'C.UTF-8'",
        "locale_provider icu icu_locale 'und' locale 'C.UTF-8'",
        // In this locale, the lowercase letter of I has no dot.
        "locale_provider icu icu_locale 'tr' locale 'C.UTF-8'",
    ];
    if major_version() >= 17 {
        locales.push("locale_provider builtin builtin_locale 'C.UTF-8' locale 'C.UTF-8'");
    }
    if major_version() >= 18 {
        // Since PostgreSQL 18, full-text search uses the database's provider instead of libc.
        locales.push("locale_provider icu icu_locale 'und' locale 'C'");
        locales.push("locale_provider builtin builtin_locale 'PG_UNICODE_FAST' locale 'C'");
    }
    locales
}

#[tokio::test]
async fn search_finds_words_and_substrings_in_every_locale() {
    for locale in locales() {
        let options = format!("template template0 {locale}");
        let database = Database::empty_with(&Cluster::shared(), &options).await;
        database.session().await.run("create extension keyed cascade; select keyed.init()").await;
        let database = database.add_crm().await;
        let session = database.session().await;
        for (key, name) in
            [("school", "ÉCOLE Supérieure"), ("street", "Große Straße"), ("town", "IĞDIR Izmir")]
        {
            upsert(&session, key, json!({"name": name})).await;
        }
        for (query, key) in [
            ("ÉCOLE", "school"),
            ("supérieure", "school"),
            ("périeu", "school"),
            ("Straße", "street"),
            ("traß", "street"),
            ("IĞDIR", "town"),
            ("ĞDI", "town"),
            ("Izmir", "town"),
            ("\"Große Straße\"", "street"),
        ] {
            assert_eq!(found(&session, query).await, key, "{query} with {locale}");
        }
        for (query, key) in [("école", "school"), ("éCOLE sup", "school"), ("GROßE", "street")] {
            assert_eq!(found(&session, query).await, key, "{query} with {locale}");
        }
        // A record that is written again updates itself, and rebuilt documents are equal.
        upsert(&session, "town", json!({"name": "IĞDIR"})).await;
        session.run("select keyed.rebuild_documents('crm.customers'); select keyed.run_jobs()").await;
        assert_eq!(found(&session, "IĞDIR").await, "town", "{locale}");
        assert_eq!(found(&session, "Izmir").await, "", "{locale}");
    }
}
