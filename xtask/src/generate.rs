//! The generated files: their content, writing them, and finding those that are out of date.

use std::fs;
use std::path::{Path, PathBuf};

use sojourn_scenario::schema_json;

use crate::{header, metrics, ns3, pages, parameters, python, scenario_page, templates};

/// The command that updates generated files.
const REPAIR: &str = "cargo xtask gen";

/// The C header for laws, which the package contains for `sojourn build`.
const LAW_HEADER: &str = include_str!("../../crates/law/include/sojourn_law.h");

/// The C header for transport libraries, which the package contains too.
const ENDPOINT_HEADER: &str = include_str!("../../crates/endpoint-c/include/sojourn_endpoint.h");

/// A generated file: path from the root, and content.
pub struct Generated {
    /// Path from the root of the repository.
    pub path: String,
    /// The content.
    pub content: String,
}

/// All generated files.
pub fn all(root: &Path) -> Vec<Generated> {
    let schema = schema_json();
    let parsed = serde_json::from_str(&schema).expect("the schema is JSON");
    let (typed, reference) = (python::module(&parsed), scenario_page::page(&parsed));
    let pages = pages::all()
        .into_iter()
        .chain([pages::of_tcp()])
        .map(|(name, content)| Generated { path: format!("{name}.md"), content });
    let mut files = vec![
        Generated { path: "schema/scenario.schema.json".to_owned(), content: schema },
        Generated { path: "python/sojourn/scenario.py".to_owned(), content: typed },
        Generated { path: format!("{}.md", scenario_page::PAGE), content: reference },
        Generated { path: format!("{}.md", parameters::PAGE), content: parameters::page() },
        Generated { path: "crates/capi/include/sojourn_aqm.h".to_owned(), content: header::text() },
        Generated {
            path: "python/sojourn/authoring/sojourn_law.h".to_owned(),
            content: LAW_HEADER.to_owned(),
        },
        Generated {
            path: "python/sojourn/authoring/sojourn_endpoint.h".to_owned(),
            content: ENDPOINT_HEADER.to_owned(),
        },
        Generated { path: format!("{}.md", templates::PAGE), content: templates::page() },
        Generated { path: format!("{}.h", ns3::PATH), content: ns3::header() },
        Generated { path: format!("{}.cc", ns3::PATH), content: ns3::source() },
    ];
    files.extend(pages);
    let figures = templates::figures().into_iter();
    files.extend(figures.map(|(path, content)| Generated { path: path.to_owned(), content }));
    let of_metrics = metrics::files(root).into_iter();
    files.extend(of_metrics.map(|(path, content)| Generated { path: path.to_owned(), content }));
    files
}

/// Writes changed files and removes obsolete pages.
pub fn write(root: &Path) -> Result<String, String> {
    let files = all(root);
    let mut report = Vec::new();
    for file in files.iter().filter(|file| has_drifted(root, file)) {
        let path = root.join(&file.path);
        let folder = path.parent().expect("a file lies in a folder");
        let written = fs::create_dir_all(folder).and_then(|()| fs::write(&path, &file.content));
        written.map_err(|error| format!("{}: {error}", file.path))?;
        report.push(format!("wrote {}", file.path));
    }
    for page in stale_pages(root, &files) {
        fs::remove_file(root.join(&page)).map_err(|error| format!("{page}: {error}"))?;
        report.push(format!("removed {page}"));
    }
    report.push(format!("{} generated files are up to date", files.len()));
    Ok(report.join("\n"))
}

/// Compares the files with the generated content.
pub fn check(root: &Path) -> Result<String, String> {
    let files = all(root);
    let drifted = files.iter().filter(|file| has_drifted(root, file)).map(|f| f.path.clone());
    let mut complaints: Vec<String> =
        drifted.map(|path| format!("{path} differs from what the declarations say")).collect();
    let stale = stale_pages(root, &files);
    complaints
        .extend(stale.into_iter().map(|page| format!("{page} is of nothing that is registered")));
    if complaints.is_empty() {
        return Ok(format!("{} generated files are up to date", files.len()));
    }
    Err(format!("{}\nto repair: {REPAIR}", complaints.join("\n")))
}

fn has_drifted(root: &Path, file: &Generated) -> bool {
    fs::read_to_string(root.join(&file.path)).ok().as_deref() != Some(file.content.as_str())
}

/// Obsolete pages in the folders of generated pages.
fn stale_pages(root: &Path, files: &[Generated]) -> Vec<String> {
    let in_folder = |folder: &'static str| {
        let entries = fs::read_dir(root.join(folder)).into_iter().flatten();
        let found = entries.filter_map(|entry| Some(PathBuf::from(entry.ok()?.file_name())));
        found.map(move |name| format!("{folder}/{}", name.display()))
    };
    let paths = pages::FOLDERS.into_iter().flat_map(in_folder);
    let mut stale: Vec<String> =
        paths.filter(|path| files.iter().all(|file| file.path != *path)).collect();
    stale.sort();
    stale
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_files_are_up_to_date() {
        if let Err(complaints) = check(&crate::root()) {
            panic!("{complaints}");
        }
    }

    #[test]
    fn drift_is_reported_with_the_command_that_repairs_it() {
        let nowhere = Path::new("no-such-folder");
        let complaints = check(nowhere).unwrap_err();
        assert!(complaints.contains("schema/scenario.schema.json differs"), "{complaints}");
        assert!(complaints.ends_with("to repair: cargo xtask gen"), "{complaints}");
    }
}
