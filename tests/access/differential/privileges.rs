//! Random grants, and the privileges that they give.

use crate::model::condition::{Setting, Tree};
use crate::model::time::ZONES;
use crate::model::world::{Row, Template};
use crate::model::{Random, World};
use harness::Session;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Privilege {
    Read,
    Create,
    Update,
    Delete,
}

/// The privileges that a role gets by one grant.
pub(crate) struct Grant {
    /// The template of the grant; `None` for the project.
    template: Option<Template>,
    privileges: Vec<Privilege>,
    scope: Option<Tree>,
}

/// Grants of one role: each privilege at most once on a target.
pub(super) fn random_grants(world: &World, random: &mut Random) -> Vec<Grant> {
    let mut grants = Vec::new();
    for (template, times) in [(Some(Template::Things), 6), (Some(Template::Places), 4), (None, 2)] {
        let mut left = vec![Privilege::Read, Privilege::Create, Privilege::Update, Privilege::Delete];
        // Without a read privilege, there would be little to compare.
        if template == Some(Template::Things) || template == Some(Template::Places) {
            grants.push(Grant {
                template,
                privileges: vec![left.remove(0)],
                scope: random_scope(world, template, random),
            });
        }
        left.retain(|_| random.below(8) < times);
        while !left.is_empty() {
            let count = 1 + random.below(left.len());
            let privileges = left.drain(..count).collect();
            grants.push(Grant { template, privileges, scope: random_scope(world, template, random) });
        }
    }
    grants
}

fn random_scope(world: &World, template: Option<Template>, random: &mut Random) -> Option<Tree> {
    let setting = Setting {
        zone: &ZONES[0],
        by_number: false,
        standard_only: template.is_none(),
        template: template.unwrap_or(Template::Things),
    };
    if random.one_in(8) {
        return None;
    }
    // Most random conditions match all records or none, which is a weaker test.
    let splits = |tree: &Tree| {
        let of_template = world.rows.iter().filter(|row| row.live && row.template == setting.template);
        let passing: Vec<bool> = of_template.map(|row| tree.holds(world, row, setting.zone)).collect();
        passing.contains(&true) && passing.contains(&false)
    };
    let mut tree = Tree::random(world, &setting, 2, random);
    for _ in 0..random.below(8) {
        if splits(&tree) {
            break;
        }
        tree = Tree::random(world, &setting, 2, random);
    }
    Some(tree)
}

impl Grant {
    pub(super) async fn make(&self, administrator: &Session, role: &str) {
        let target =
            self.template.map_or_else(|| "p".to_owned(), |template| format!("p.{}", template.slug()));
        let privileges: Vec<String> =
            self.privileges.iter().map(|privilege| format!("{privilege:?}").to_lowercase()).collect();
        let privileges = format!("{{{}}}", privileges.join(","));
        // As text, so that every digit is kept.
        let scope = self.scope.as_ref().map_or_else(|| "null".to_owned(), Tree::json);
        let grant = "select keyed.grant_access($1, $2, $3::text[], $4::jsonb)";
        administrator.rows(grant, &[role, &target, &privileges, &scope]).await;
    }

    pub(super) fn formatted(&self) -> String {
        let scope = self.scope.as_ref().map_or_else(|| "all".to_owned(), Tree::json);
        format!("{:?} on {:?} within {scope}", self.privileges, self.template)
    }

    fn allows(&self, world: &World, privilege: Privilege, row: &Row) -> bool {
        self.is_about(privilege, row.template)
            && self.scope.as_ref().is_none_or(|scope| scope.holds(world, row, &ZONES[0]))
    }

    fn is_about(&self, privilege: Privilege, template: Template) -> bool {
        self.template.is_none_or(|of| of == template) && self.privileges.contains(&privilege)
    }
}

/// The privileges of a role with all of these grants.
pub(crate) struct Privileges<'a> {
    world: &'a World,
    grants: &'a [&'a Grant],
}

impl<'a> Privileges<'a> {
    pub(super) fn new(world: &'a World, grants: &'a [&'a Grant]) -> Self {
        Self { world, grants }
    }

    pub(super) fn may(&self, privilege: Privilege, row: &Row) -> bool {
        self.grants.iter().any(|grant| grant.allows(self.world, privilege, row))
    }

    pub(super) fn has(&self, privilege: Privilege, template: Template) -> bool {
        self.grants.iter().any(|grant| grant.is_about(privilege, template))
    }
}

impl World {
    /// The model for a caller with a scope: hidden records count as deleted.
    pub(super) fn seen_by(&self, may_see: impl Fn(&Row) -> bool) -> World {
        let mut seen = self.clone();
        for row in &mut seen.rows {
            row.live = row.live && may_see(row);
        }
        seen
    }

    pub(super) fn live_things(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| row.live && row.template == Template::Things)
    }
}
