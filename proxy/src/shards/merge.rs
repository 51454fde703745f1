//! Responses of several shards as one. Pure.

use serde_json::{Map, Value, json};

use super::listings::conflict;
use crate::shard::Shard;

/// A response of a shard.
pub(super) type Answer = (Shard, Map<String, Value>);

/// Says which shards did not respond.
pub(super) fn name_unavailable(response: &mut Map<String, Value>, unavailable: &[Shard]) {
    if !unavailable.is_empty() {
        response.insert("unavailable_shards".to_owned(), json!(unavailable));
    }
}

/// The caller, as all shards know it. `slugs` are the projects of a shard, for a key that is limited to projects on one shard only.
pub(super) fn me(
    answers: Vec<Answer>,
    project: Option<Shard>,
    slugs: impl Fn(Shard) -> Vec<String>,
) -> Map<String, Value> {
    let all_projects = answers.iter().all(|(_, answer)| answer["projects"].is_null());
    let (mut projects, mut templates, mut is_admin) = (Vec::new(), Vec::new(), true);
    let mut of_request = Value::Null;
    for (shard, answer) in &answers {
        match &answer["projects"] {
            Value::Array(own) => projects.extend(own.iter().cloned()),
            _ => projects.extend(slugs(*shard).into_iter().map(Value::from)),
        }
        templates.extend(answer["templates"].as_array().cloned().unwrap_or_default());
        is_admin &= answer["admin"] == Value::Bool(true);
        if project == Some(*shard) {
            of_request = answer["project"].clone();
        }
    }
    projects.sort_by(|one, other| one.as_str().cmp(&other.as_str()));
    let mut merged = answers.into_iter().next().map(|(_, answer)| answer).unwrap_or_default();
    if project.is_none()
        && !all_projects
        && let [only] = projects.as_slice()
    {
        of_request = only.clone();
    }
    merged.insert("project".to_owned(), of_request);
    merged.insert("projects".to_owned(), if all_projects { Value::Null } else { projects.into() });
    merged.insert("admin".to_owned(), is_admin.into());
    merged.insert("templates".to_owned(), templates.into());
    merged
}

/// The projects of all shards, each with its shard.
pub(super) fn projects(answers: Vec<Answer>) -> Map<String, Value> {
    let mut projects: Vec<Value> = Vec::new();
    for (shard, mut answer) in answers {
        let Some(Value::Array(own)) = answer.remove("projects") else { continue };
        projects.extend(own.into_iter().map(|mut project| {
            project["shard"] = json!(shard);
            project
        }));
    }
    projects.sort_by(|one, other| one["slug"].as_str().cmp(&other["slug"].as_str()));
    Map::from_iter([("projects".to_owned(), projects.into())])
}

/// The name of the check of shards.
const CHECK: &str = "shards";

/// The findings of all shards, each with its shard, and those about shards together: no response, what several claim, different
/// versions.
pub(super) fn examination(
    answers: Vec<Answer>,
    unavailable: &[Shard],
    conflicts: &[(String, Vec<Shard>)],
) -> Map<String, Value> {
    let mut merged = Map::new();
    let (mut checks, mut findings): (Vec<Value>, Vec<Value>) = (Vec::new(), Vec::new());
    let mut own = own_findings(unavailable, conflicts);
    own.extend(different_versions(&answers));
    let mut is_healthy = own.iter().all(|finding| finding["severity"] != "error");
    for (shard, answer) in answers {
        is_healthy &= answer["healthy"] == Value::Bool(true);
        for check in answer["checks"].as_array().into_iter().flatten() {
            match checks.iter_mut().find(|known| known["name"] == check["name"]) {
                Some(known) => known["sound"] = worse(&known["sound"], &check["sound"]),
                None => checks.push(check.clone()),
            }
        }
        findings.extend(answer["findings"].as_array().cloned().unwrap_or_default().into_iter().map(
            |mut finding| {
                finding["shard"] = json!(shard);
                finding
            },
        ));
        merged.entry("extension_version").or_insert_with(|| answer["extension_version"].clone());
    }
    checks.push(json!({
        "name": CHECK,
        "description": "every shard responds, and each project is on one shard",
        "sound": own.is_empty(),
    }));
    findings.extend(own);
    merged.insert("healthy".to_owned(), is_healthy.into());
    merged.insert("checks".to_owned(), checks.into());
    merged.insert("findings".to_owned(), findings.into());
    merged
}

/// Whether a check is sound on two shards: not on one, or not checked on one.
fn worse(one: &Value, other: &Value) -> Value {
    let no = Value::Bool(false);
    match (one, other) {
        _ if *one == no || *other == no => no,
        (Value::Null, _) | (_, Value::Null) => Value::Null,
        _ => one.clone(),
    }
}

fn own_findings(unavailable: &[Shard], conflicts: &[(String, Vec<Shard>)]) -> Vec<Value> {
    let finding = |message: String, remedy: &str| json!({"check": CHECK, "severity": "error", "message": message, "remedy": remedy});
    let silent = unavailable.iter().map(|shard| {
        let mut finding = finding(
            format!("shard {shard} does not respond, or cannot be used"),
            "see the log of the proxy for the reason, and correct the database or KEYED_SHARDS",
        );
        finding["shard"] = json!(shard);
        finding
    });
    let conflicts = conflicts.iter().map(|(name, shards)| {
        finding(conflict(name, shards), "rename or remove it on all of these shards but one")
    });
    silent.chain(conflicts).collect()
}

fn different_versions(answers: &[Answer]) -> Option<Value> {
    let versions: Vec<(Shard, &Value)> =
        answers.iter().map(|(shard, answer)| (*shard, &answer["extension_version"])).collect();
    let is_same = versions.windows(2).all(|pair| pair[0].1 == pair[1].1);
    let list = versions
        .iter()
        .map(|(shard, version)| format!("shard {shard} has {}", version.as_str().unwrap_or("none")));
    (!is_same).then(|| {
        json!({
            "check": CHECK,
            "severity": "warning",
            "message": format!("the shards have different versions of the extension: {}", list.collect::<Vec<_>>().join(", ")),
            "remedy": "update the extension on all shards to the same version",
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shard(number: u64) -> Shard {
        Shard::new(number).expect("the number of a shard")
    }

    fn answers<const N: usize>(answers: [(u64, Value); N]) -> Vec<Answer> {
        let members = |value: Value| value.as_object().cloned().expect("an object");
        answers.into_iter().map(|(number, value)| (shard(number), members(value))).collect()
    }

    fn of_a_key(project: Value, projects: Value, admin: bool, template: &str) -> Value {
        json!({
            "key": {"id": 1}, "role": "erp", "admin": admin, "project": project, "projects": projects,
            "templates": [{"id": template}],
        })
    }

    #[test]
    fn caller_has_the_rights_of_all_its_shards() {
        let of_0 = of_a_key(json!("crm"), json!(["crm"]), true, "7");
        let of_3 = of_a_key(json!("art"), json!(["art"]), false, "393217");
        let merged = me(answers([(0, of_0), (3, of_3)]), None, |_| Vec::new());
        assert_eq!((&merged["projects"], &merged["project"]), (&json!(["art", "crm"]), &Value::Null));
        assert_eq!((&merged["admin"], &merged["key"]["id"]), (&json!(false), &json!(1)));
        assert_eq!(merged["templates"], json!([{"id": "7"}, {"id": "393217"}]));
    }

    #[test]
    fn caller_with_one_project_has_it_as_the_project() {
        let of_3 = || of_a_key(json!("art"), json!(["art"]), false, "393217");
        assert_eq!(me(answers([(3, of_3())]), None, |_| Vec::new())["project"], "art");
        let of_0 = of_a_key(Value::Null, Value::Null, true, "7");
        let merged =
            me(answers([(0, of_0.clone()), (3, of_3())]), Some(shard(3)), |_| vec!["crm".to_owned()]);
        assert_eq!((&merged["project"], &merged["projects"]), (&json!("art"), &json!(["art", "crm"])));
        assert_eq!(me(answers([(0, of_0)]), None, |_| vec!["crm".to_owned()])["projects"], Value::Null);
    }

    #[test]
    fn projects_name_their_shards() {
        let of_0 = json!({"projects": [{"slug": "crm"}, {"slug": "shop"}]});
        let of_3 = json!({"projects": [{"slug": "art"}]});
        let mut merged = projects(answers([(0, of_0), (3, of_3)]));
        name_unavailable(&mut merged, &[shard(7)]);
        let wanted = json!({
            "projects": [{"slug": "art", "shard": 3}, {"slug": "crm", "shard": 0}, {"slug": "shop", "shard": 0}],
            "unavailable_shards": [7],
        });
        assert_eq!(Value::Object(merged), wanted);
        let mut nothing = Map::new();
        name_unavailable(&mut nothing, &[]);
        assert!(nothing.is_empty());
    }

    fn examined(version: &str, sound: Value, findings: Value) -> Value {
        json!({
            "healthy": sound != json!(false), "extension_version": version,
            "checks": [{"name": "roles", "sound": sound}], "findings": findings,
        })
    }

    #[test]
    fn examination_lists_findings_by_shard() {
        let finding = json!([{"check": "roles", "severity": "error", "message": "m", "remedy": "r"}]);
        let of_0 = examined("0.2.0", json!(true), json!([]));
        let of_3 = examined("0.2.0", json!(false), finding);
        let merged = examination(answers([(0, of_0), (3, of_3)]), &[], &[]);
        assert_eq!((&merged["healthy"], &merged["extension_version"]), (&json!(false), &json!("0.2.0")));
        assert_eq!(merged["findings"][0]["shard"], 3);
        assert_eq!(
            (&merged["checks"][0]["sound"], &merged["checks"][1]["sound"]),
            (&json!(false), &json!(true))
        );
    }

    #[test]
    fn examination_reports_what_the_shards_have_together() {
        let both = || {
            answers([
                (0, examined("0.2.0", json!(true), json!([]))),
                (3, examined("0.2.1", Value::Null, json!([]))),
            ])
        };
        let conflicts = [("the project crm".to_owned(), vec![shard(0), shard(3)])];
        let merged = examination(both(), &[shard(7)], &conflicts);
        let findings = merged["findings"].as_array().expect("findings");
        let messages: Vec<&str> = findings.iter().filter_map(|finding| finding["message"].as_str()).collect();
        assert_eq!(
            messages,
            [
                "shard 7 does not respond, or cannot be used",
                "the project crm is on shards 0 and 3",
                "the shards have different versions of the extension: shard 0 has 0.2.0, shard 3 has 0.2.1",
            ]
        );
        assert_eq!((&merged["healthy"], &merged["checks"][0]["sound"]), (&json!(false), &Value::Null));
        let merged = examination(both(), &[], &[]);
        assert_eq!(merged["healthy"], true, "a warning");
    }
}
