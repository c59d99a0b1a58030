//! A transport library in C behind a bottleneck: the template of `sojourn new endpoint --c`.

use std::path::{Path, PathBuf};
use std::process::Command;

use sojourn_endpoint::ConfiguredStack;
use sojourn_endpoint_c::host;
use sojourn_testing::{Bottleneck, Report};

const SOURCE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../python/sojourn/authoring/endpoint_template/endpoint.c"
);
const HEADER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../endpoint-c/include");

/// Compiles the library once for all tests.
fn library() -> &'static Path {
    static BUILT: std::sync::OnceLock<PathBuf> = std::sync::OnceLock::new();
    BUILT.get_or_init(|| {
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("libtemplate.so");
        let flags = ["-std=c11", "-O2", "-fPIC", "-shared", "-I", HEADER, SOURCE, "-o"];
        let done = Command::new("cc").args(flags).arg(&file).status();
        assert!(done.expect("a C compiler, cc, is installed").success());
        file
    })
}

fn configured(settings: &[(&str, &str)]) -> Result<ConfiguredStack, String> {
    let settings: Vec<_> =
        settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    host::load(library(), "libtemplate.so", "template", &settings)
}

fn download(queue: &str) -> Report {
    let home = Bottleneck::new("10mbit").delay("20ms").buffer("200p").warmup("1s");
    home.queue(queue).download(configured(&[]).unwrap().stack, "6s").unwrap()
}

#[test]
fn codel_keeps_its_queue_short_where_tail_drop_fills_the_buffer() {
    download("codel").assert_below("delay_p50", "15ms");
    download("taildrop").assert_above("delay_p95", "60ms");
}

#[test]
fn a_setting_that_it_does_not_know_is_refused_in_its_words() {
    let error = configured(&[("cc", "bbr")]).unwrap_err();
    assert_eq!(error, "libtemplate.so: its only setting is `window`");
}
