//! Which shard has a project, a template or an endpoint. Pure.
//!
//! An id says which shard assigned it. A shard also lists what it has from other shards, because a project keeps its ids when it
//! moves.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use serde::Deserialize;

use crate::shard::Shard;

/// What an id identifies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Object {
    Template(u64),
    Project(u64),
    InboundEndpoint(u64),
    WebhookEndpoint(u64),
}

/// The shard of something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Unknown,
    One(Shard),
    /// These shards claim the same.
    Several(Vec<Shard>),
}

/// What a shard says of itself.
pub(super) struct Listing {
    /// Changes with the rest.
    pub(super) version: String,
    projects: Vec<ListedProject>,
    moved: Moved,
}

#[derive(Deserialize)]
struct ListedProject {
    id: u64,
    slug: String,
}

/// The ids that another shard assigned.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Moved {
    templates: Vec<u64>,
    inbound_endpoints: Vec<u64>,
    webhook_endpoints: Vec<u64>,
    /// Valid keys, in ascending order.
    api_keys: Vec<u64>,
}

impl Listing {
    /// A listing of `keyed_http.shard`.
    pub(super) fn parse(version: String, projects: &str, moved: &str) -> serde_json::Result<Listing> {
        Ok(Listing {
            version,
            projects: serde_json::from_str(projects)?,
            moved: serde_json::from_str(moved)?,
        })
    }

    fn objects(&self) -> impl Iterator<Item = Object> {
        let Moved { templates, inbound_endpoints, webhook_endpoints, api_keys: _ } = &self.moved;
        let projects = self.projects.iter().map(|project| Object::Project(project.id));
        projects
            .chain(templates.iter().map(|id| Object::Template(*id)))
            .chain(inbound_endpoints.iter().map(|id| Object::InboundEndpoint(*id)))
            .chain(webhook_endpoints.iter().map(|id| Object::WebhookEndpoint(*id)))
    }
}

/// All shards, and what those say that have responded since the start.
#[derive(Default)]
pub(super) struct Directory {
    listings: BTreeMap<Shard, Option<Arc<Listing>>>,
    slugs: HashMap<String, BTreeSet<Shard>>,
    objects: HashMap<Object, BTreeSet<Shard>>,
}

impl Directory {
    pub(super) fn new(shards: impl Iterator<Item = Shard>) -> Directory {
        Directory { listings: shards.map(|shard| (shard, None)).collect(), ..Directory::default() }
    }

    /// The version of a listing.
    pub(super) fn version(&self, shard: Shard) -> Option<&str> {
        self.listings.get(&shard)?.as_ref().map(|listing| listing.version.as_str())
    }

    /// The directory with another listing of a shard.
    pub(super) fn with(&self, shard: Shard, listing: Listing) -> Directory {
        let mut directory = Directory { listings: self.listings.clone(), ..Directory::default() };
        directory.listings.insert(shard, Some(Arc::new(listing)));
        for (shard, listing) in &directory.listings {
            let Some(listing) = listing else { continue };
            for project in &listing.projects {
                directory.slugs.entry(project.slug.clone()).or_default().insert(*shard);
            }
            for object in listing.objects() {
                directory.objects.entry(object).or_default().insert(*shard);
            }
        }
        directory
    }

    /// The shard of an object: the one that lists it, else the one that assigned its id.
    pub(super) fn of(&self, object: Object) -> Place {
        if let Some(shards) = self.objects.get(&object) {
            return place(shards);
        }
        let assigned = match object {
            Object::Template(id) => Shard::of_template(id),
            Object::Project(id) | Object::InboundEndpoint(id) | Object::WebhookEndpoint(id) => {
                Shard::of_integer(id)
            }
        };
        assigned.filter(|shard| self.listings.contains_key(shard)).map_or(Place::Unknown, Place::One)
    }

    /// The shard of a project, by slug or id.
    pub(super) fn of_project(&self, name: &str) -> Place {
        match name.parse() {
            Ok(id) => self.of(Object::Project(id)),
            Err(_) => self.slugs.get(name).map_or(Place::Unknown, place),
        }
    }

    /// The shards that have not responded since the start.
    pub(super) fn unread(&self) -> Vec<Shard> {
        self.listings.iter().filter(|(_, listing)| listing.is_none()).map(|(shard, _)| *shard).collect()
    }

    /// The shards that can accept an API key: the one that issued it, and those where it is registered.
    pub(super) fn of_key(&self, id: u64) -> Vec<Shard> {
        let issuer = Shard::of_integer(id);
        let has_it = |(shard, listing): (&Shard, &Option<Arc<Listing>>)| {
            let is_registered =
                listing.as_ref().is_some_and(|it| it.moved.api_keys.binary_search(&id).is_ok());
            (Some(*shard) == issuer || is_registered).then_some(*shard)
        };
        self.listings.iter().filter_map(has_it).collect()
    }

    /// The slugs of the projects of a shard.
    pub(super) fn slugs_of(&self, shard: Shard) -> Vec<String> {
        let listing = self.listings.get(&shard).and_then(Option::as_ref);
        listing
            .into_iter()
            .flat_map(|listing| &listing.projects)
            .map(|project| project.slug.clone())
            .collect()
    }

    /// The shard of these with the fewest projects, the first of several.
    pub(super) fn emptiest(&self, shards: &[Shard]) -> Option<Shard> {
        let listed = shards.iter().filter_map(|shard| {
            let listing = self.listings.get(shard)?.as_ref()?;
            Some((listing.projects.len(), *shard))
        });
        listed.min().map(|(_, shard)| shard)
    }

    /// What more than one shard claims, as people name it, and the shards.
    pub(super) fn conflicts(&self) -> Vec<(String, Vec<Shard>)> {
        let slugs = self.slugs.iter().map(|(slug, shards)| (format!("the project {slug}"), shards));
        let objects = self.objects.iter().map(|(object, shards)| (name_of(*object), shards));
        let mut conflicts: Vec<(String, Vec<Shard>)> = slugs
            .chain(objects)
            .filter(|(_, shards)| shards.len() > 1)
            .map(|(name, shards)| (name, shards.iter().copied().collect()))
            .collect();
        conflicts.sort();
        conflicts
    }
}

fn place(shards: &BTreeSet<Shard>) -> Place {
    match shards.len() {
        0 => Place::Unknown,
        1 => shards.first().copied().map_or(Place::Unknown, Place::One),
        _ => Place::Several(shards.iter().copied().collect()),
    }
}

fn name_of(object: Object) -> String {
    match object {
        Object::Template(id) => format!("the template {id}"),
        Object::Project(id) => format!("the project {id}"),
        Object::InboundEndpoint(id) => format!("the inbound endpoint {id}"),
        Object::WebhookEndpoint(id) => format!("the webhook endpoint {id}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shard(number: u64) -> Shard {
        Shard::new(number).expect("the number of a shard")
    }

    fn listing(projects: &[(u64, &str)], moved: &str) -> Listing {
        let projects: Vec<_> =
            projects.iter().map(|(id, slug)| serde_json::json!({"id": id, "slug": slug})).collect();
        let projects = serde_json::Value::from(projects).to_string();
        Listing::parse("v".to_owned(), &projects, moved).expect("JSON")
    }

    const SHOP: u64 = 3 << 24 | 1;

    fn directory() -> Directory {
        let mut directory = Directory::new([0, 3, 7].map(shard).into_iter());
        directory = directory.with(shard(0), listing(&[(1, "crm"), (2, "art")], "{}"));
        directory = directory.with(shard(3), listing(&[(SHOP, "shop")], "{}"));
        directory
    }

    #[test]
    fn project_is_found_by_slug_and_id() {
        let directory = directory();
        for (name, number) in [("crm", 0), ("shop", 3), ("1", 0), ("50331649", 3), ("50331999", 3)] {
            assert_eq!(directory.of_project(name), Place::One(shard(number)), "{name}");
        }
        for name in ["unknown", "", "16777217", "99999999999999999999"] {
            assert_eq!(directory.of_project(name), Place::Unknown, "{name}");
        }
    }

    #[test]
    fn object_is_on_the_shard_that_assigned_its_id_unless_it_moved() {
        let mut directory = directory();
        let moved = Object::Template(3 << 17 | 1);
        assert_eq!(directory.of(moved), Place::One(shard(3)));
        assert_eq!(directory.of(Object::Template(1 << 17)), Place::Unknown, "shard 1 is not configured");
        assert_eq!(directory.of(Object::InboundEndpoint(7 << 24)), Place::One(shard(7)), "not read yet");
        directory = directory.with(shard(3), listing(&[], "{}"));
        let templates = r#"{"templates": [393217], "projects": [50331649], "webhook_endpoints": [50331650]}"#;
        directory = directory.with(shard(0), listing(&[(1, "crm"), (SHOP, "shop")], templates));
        for object in [moved, Object::Project(SHOP), Object::WebhookEndpoint(SHOP + 1)] {
            assert_eq!(directory.of(object), Place::One(shard(0)), "{object:?}");
        }
    }

    #[test]
    fn key_is_on_its_own_shard_and_where_it_is_registered() {
        let mut directory = directory();
        directory = directory.with(shard(7), listing(&[], r#"{"api_keys": [4, 50331650]}"#));
        let key = 3 << 24 | 2;
        assert_eq!(directory.of_key(key), [shard(3), shard(7)]);
        assert_eq!(directory.of_key(key + 1), [shard(3)]);
        assert_eq!(directory.of_key(4), [shard(0), shard(7)]);
        assert_eq!(directory.conflicts(), []);
    }

    #[test]
    fn project_of_two_shards_is_a_conflict() {
        let mut directory = directory();
        assert_eq!(directory.conflicts(), []);
        directory = directory.with(shard(7), listing(&[(7 << 24 | 1, "crm"), (SHOP, "shop_copy")], "{}"));
        let both = Place::Several(vec![shard(0), shard(7)]);
        assert_eq!(directory.of_project("crm"), both);
        assert_eq!(directory.of_project("1"), Place::One(shard(0)), "its id is unique");
        let conflicts = directory.conflicts();
        let names: Vec<&str> = conflicts.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["the project 50331649", "the project crm"]);
    }

    #[test]
    fn new_project_goes_to_the_emptiest_of_the_shards_that_responded() {
        let directory = directory();
        assert_eq!(directory.unread(), [shard(7)]);
        assert_eq!(directory.emptiest(&[shard(0), shard(3), shard(7)]), Some(shard(3)));
        assert_eq!(directory.emptiest(&[shard(0)]), Some(shard(0)));
        assert_eq!(directory.emptiest(&[shard(7)]), None);
    }
}
