//! Checks that every law and scheme is in the registry; otherwise it is dead code.

use super::{Complaints, Source};

const FOLDERS: [&str; 2] = ["crates/aqm/src/laws/", "crates/aqm/src/qdiscs/"];
const REGISTRY: &str = "crates/aqm/src/registry/mod.rs";
const ALLOW: &str = "tidy: allow(unregistered)";

/// Complaints about laws that are not registered.
pub fn check(sources: &[Source]) -> Complaints {
    let registry = sources.iter().find(|source| source.path == REGISTRY);
    let registry = registry.map_or("", |source| source.text.as_str());
    let in_folders = |source: &&Source| {
        FOLDERS.iter().any(|f| source.path.starts_with(f)) && !source.path.ends_with("tests.rs")
    };
    let of_file = |source: &Source| {
        let missing = laws(&source.text).filter(|(_, law)| !is_registered(registry, law));
        let complaint = |(line, law)| {
            format!("{}:{line}: `{law}` is not registered; add a line to {REGISTRY}", source.path)
        };
        missing.map(complaint).collect::<Complaints>()
    };
    sources.iter().filter(in_folders).flat_map(of_file).collect()
}

/// (line, type) of every `impl Law for Type` and `impl Scheme for Type`.
fn laws(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let numbered = text.lines().enumerate().filter(|(_, line)| !line.contains(ALLOW));
    numbered.filter_map(|(index, line)| {
        let line = line.strip_prefix("impl")?;
        let (_, rest) = line.split_once("Law for ").or_else(|| line.split_once("Scheme for "))?;
        Some((index + 1, rest.split(|c: char| !is_word(c)).next()?))
    })
}

/// Whether the registry names the type as a whole word.
fn is_registered(registry: &str, law: &str) -> bool {
    registry.match_indices(law).any(|(start, _)| {
        let before = registry[..start].chars().next_back();
        let after = registry[start + law.len()..].chars().next();
        before == Some(':') && after.is_some_and(|c| !is_word(c))
    })
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: &str, text: &str) -> Source {
        Source { path: path.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn an_unregistered_law_is_found() {
        let registry = source(REGISTRY, "registry! {\n    laws::pie::Pie;\n}\n");
        let pie = source("crates/aqm/src/laws/pie.rs", "impl Law for Pie {\n");
        let pi = source("crates/aqm/src/laws/pi.rs", "\nimpl<C: Clock> Law for Pi<C> {\n");
        let sfq = source("crates/aqm/src/qdiscs/sfq.rs", "impl Scheme for Sfq {\n");
        let complaints = check(&[registry, pie, pi, sfq]);
        assert_eq!(complaints.len(), 2);
        assert!(complaints[0].starts_with("crates/aqm/src/laws/pi.rs:2: `Pi`"));
        assert!(complaints[1].starts_with("crates/aqm/src/qdiscs/sfq.rs:1: `Sfq`"));
    }
}
