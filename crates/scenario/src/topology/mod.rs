//! Generates the links and paths of a `[topology]`.
//!
//! Links are generated in the parsed text, before its types are checked, so that overrides, studies
//! and comparisons apply to generated links as to written ones. A new shape is a table in
//! `document/topology.rs`, a [`Shape`], and an arm of [`shape`].

mod fat_tree;
mod parking_lot;
mod route;
mod star;

use std::collections::BTreeMap;
use std::mem;

use serde_json::{Map, Value, json};

use self::fat_tree::FatTreeShape;
use self::parking_lot::ParkingLotShape;
use self::route::Route;
use self::star::StarShape;
use crate::document::topology::Topology;

/// The network that a topology describes.
trait Shape {
    /// The names of all links.
    fn links(&self) -> Vec<String>;
    /// The number of places where flows may begin and end, which are numbered from 1.
    fn places(&self) -> u32;
    /// The number of shortest paths from one place to another; 0 if links lead only in the other
    /// direction.
    fn path_count(&self, from: u32, to: u32) -> u32;
    /// One of these paths, by its number from 0.
    fn path(&self, from: u32, to: u32, number: u32) -> ShapePath;
    /// The pairs for `route = "each"`.
    fn each(&self) -> Vec<(u32, u32)>;
}

/// Links from sender to receiver, and back; the latter may be empty.
#[derive(Clone, PartialEq, Eq, Debug)]
struct ShapePath {
    path: Vec<String>,
    reverse: Vec<String>,
}

/// Why a topology or a route is not legal: the place without file and line, and the message.
pub(crate) type Refusal = (String, String);

/// The tables that a topology has generated: by the path of each, the path of its origin.
pub(crate) type Origins = BTreeMap<String, String>;

/// The most flows of a group with a route, each of which is hashed.
const MOST_FLOWS: u64 = 1_000_000;

fn shape(topology: &Topology) -> Result<Box<dyn Shape>, Refusal> {
    match topology {
        Topology::ParkingLot(lot) => {
            check_count("hops", lot.hops, 1..=100_000)?;
            Ok(Box::new(ParkingLotShape { hops: lot.hops, is_two_way: lot.two_way }))
        }
        Topology::Star(star) => {
            check_count("hosts", star.hosts, 2..=10_000)?;
            Ok(Box::new(StarShape { hosts: star.hosts }))
        }
        Topology::FatTree(tree) => {
            check_count("ports", tree.ports, 2..=32)?;
            if !tree.ports.is_multiple_of(2) {
                let message = format!("{} is not even; half of the ports lead up", tree.ports);
                return Err(("topology.ports".to_owned(), message));
            }
            Ok(Box::new(FatTreeShape { ports: tree.ports }))
        }
    }
}

fn check_count(key: &str, count: u32, legal: std::ops::RangeInclusive<u32>) -> Result<(), Refusal> {
    if legal.contains(&count) {
        return Ok(());
    }
    let message = format!("{count} is not from {} to {}", legal.start(), legal.end());
    Err((format!("topology.{key}"), message))
}

/// Adds the links of a topology, and replaces each group of flows that has a `route` by groups with
/// a `path`. `root` is the whole scenario, `topology` the same as its table.
///
/// # Errors
/// A number of the topology or a route is not legal.
pub(crate) fn expand(root: &mut Value, topology: &Topology) -> Result<Origins, Refusal> {
    let shape = shape(topology)?;
    let mut origins = Origins::new();
    add_links(root, &shape.links(), &mut origins)?;
    if let Some(Value::Array(flows)) = root.get_mut("flows") {
        for (index, written) in mem::take(flows).into_iter().enumerate() {
            for group in groups(index, written, shape.as_ref())? {
                origins.insert(format!("flows[{}]", flows.len()), format!("flows[{index}]"));
                flows.push(group);
            }
        }
    }
    Ok(origins)
}

/// Adds the links of a topology, each with the keys of `topology.link` and those of its table in
/// `topology.links`.
fn add_links(root: &mut Value, names: &[String], origins: &mut Origins) -> Result<(), Refusal> {
    let written = root["topology"].clone();
    let links = root.as_object_mut().map(|root| root.entry("links").or_insert(json!({})));
    // Anything but a table is refused when types are checked.
    let Some(Value::Object(links)) = links else { return Ok(()) };
    for name in names {
        if links.contains_key(name) {
            let message = format!(
                "the topology generates a link of this name; rename this one, or write what \
                 differs in [topology.links.{name}]"
            );
            return Err((format!("links.{name}"), message));
        }
        origins.insert(format!("links.{name}"), "topology.link".to_owned());
        links.insert(name.clone(), written["link"].clone());
    }
    for (name, keys) in written["links"].as_object().into_iter().flatten() {
        let Some(link) = links.get_mut(name).filter(|_| names.contains(name)) else {
            let (count, first) = (names.len(), &names[0]);
            let message = format!("the topology has no such link; it has {count}, such as {first}");
            return Err((format!("topology.links.{name}"), message));
        };
        for (key, value) in keys.as_object().into_iter().flatten() {
            let place = format!("topology.links.{name}.{key}");
            origins.insert(format!("links.{name}.{key}"), place);
            link[key] = value.clone();
        }
    }
    Ok(())
}

/// The groups that replace a written group; a group without a route is kept.
fn groups(index: usize, written: Value, shape: &dyn Shape) -> Result<Vec<Value>, Refusal> {
    let place = format!("flows[{index}].route");
    let refuse = |message: String| (place.clone(), message);
    let Value::Object(mut table) = written else { return Ok(vec![written]) };
    // Anything but a text is refused when types are checked.
    let Some(Value::String(text)) = table.get("route").cloned() else {
        return Ok(vec![Value::Object(table)]);
    };
    for key in ["path", "reverse"] {
        if table.contains_key(key) {
            return Err(refuse(format!("`{key}` follows from the route; remove one of the two")));
        }
    }
    table.shift_remove("route");
    let pairs = Route::parse(&text).and_then(|route| route.pairs(shape)).map_err(refuse)?;
    let count = table.get("count").and_then(Value::as_u64).unwrap_or(1);
    if count.saturating_mul(pairs.len() as u64) > MOST_FLOWS {
        let message = format!(
            "{count} flows for each of {} pairs are more than {MOST_FLOWS} in all; use fewer",
            pairs.len()
        );
        return Err((format!("flows[{index}].count"), message));
    }
    let mut routed = Vec::new();
    for &(from, to) in &pairs {
        let paths = shape.path_count(from, to);
        for (number, count) in counts(&table, (from, to), paths) {
            let path = shape.path(from, to, number);
            let suffix = match paths {
                1 => format!("-{from}-{to}"),
                _ => format!("-{from}-{to}-{}", number + 1),
            };
            routed.push((suffix, path, count));
        }
    }
    let is_alone = routed.len() == 1;
    let group = |(suffix, path, count): (String, ShapePath, Value)| {
        let suffix = if is_alone { "" } else { &suffix };
        group(&table, suffix, path, count)
    };
    Ok(routed.into_iter().map(group).collect())
}

/// A written group on one path.
fn group(table: &Map<String, Value>, suffix: &str, path: ShapePath, count: Value) -> Value {
    let mut table = table.clone();
    if !suffix.is_empty() {
        let base = base_name(&table);
        table.entry("class").or_insert_with(|| base.clone().into());
        table.insert("name".to_owned(), format!("{base}{suffix}").into());
    }
    table.insert("count".to_owned(), count);
    table.insert("path".to_owned(), path.path.into());
    if !path.reverse.is_empty() {
        table.insert("reverse".to_owned(), path.reverse.into());
    }
    Value::Object(table)
}

/// The name of a written group, or the kind of its application.
fn base_name(table: &Map<String, Value>) -> String {
    let name = table.get("name").or_else(|| table.get("app")?.get("kind"));
    name.and_then(Value::as_str).unwrap_or("flows").to_owned()
}

/// How many flows of a group take each path, by the number of the path. A `count` that is not a
/// number is refused later, when types are checked.
fn counts(table: &Map<String, Value>, pair: (u32, u32), paths: u32) -> Vec<(u32, Value)> {
    let count = table.get("count").cloned().unwrap_or(1.into());
    let Some(flows) = count.as_u64().filter(|&flows| paths > 1 && flows > 0) else {
        return vec![(0, count)];
    };
    let name = base_name(table);
    let mut taken = BTreeMap::new();
    for flow in 0..flows {
        let hash = hash(&format!("{name} {} {} {flow}", pair.0, pair.1));
        *taken.entry((hash % u64::from(paths)) as u32).or_insert(0_u64) += 1;
    }
    taken.into_iter().map(|(number, flows)| (number, flows.into())).collect()
}

/// FNV-1a (draft-eastlake-fnv), followed by the mixing step of SplitMix64 (Steele, Lea and Flood
/// 2014), so that the low bits depend on the whole text.
fn hash(text: &str) -> u64 {
    let fnv = text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let mixed = (fnv ^ (fnv >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests;
