//! Our AQMs in the kernel: loads the module `sch_sojourn`, installs its discipline below the
//! shaper, and reads it back. Its options are sent by netlink, because tc does not support them.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use nix::kmod::{ModuleInitFlags, finit_module};
use sojourn_aqm::Cause;

use super::bottleneck_qdisc::{BELOW_SHAPER, dump, make, of_kind, open};
use crate::linux::Failure;
use crate::linux::hosts::Hosts;
use crate::linux::netlink::{Netlink, attribute, attributes, find};
use crate::plan::ModuleAqm;
use crate::planning::release_of;
use crate::run_files::{MODULE, ModuleReport};
use crate::tc::MODULE_KIND;

/// Attributes of `kmod/sojourn_netlink.h`.
const TCA_SOJOURN_AQM: u16 = 1;
const TCA_SOJOURN_SEED: u16 = 2;
const TCA_SOJOURN_RATE: u16 = 3;
const TCA_SOJOURN_VARS: u16 = 5;
const TCA_SOJOURN_VAR_NAME: u16 = 1;
const TCA_SOJOURN_VAR_VALUE: u16 = 2;
/// linux/rtnetlink.h and linux/gen_stats.h.
const TCA_STATS2: u16 = 7;
const TCA_STATS_APP: u16 = 4;
/// Lines of the kernel's log quoted in an error.
const QUOTED: usize = 3;

/// Installs the discipline at the interface `out`; the module must be loaded.
pub(super) fn install(module: &ModuleAqm, hosts: &Hosts) -> Result<(), Failure> {
    let (mut route, device) = open(hosts).map_err(|error| format!("netlink: {error}"))?;
    let refused = |error: io::Error| {
        format!("the kernel refuses our discipline with `{}`: {error}; {}", module.aqm, log())
    };
    route.ask(make(MODULE_KIND, &options(module), device, BELOW_SHAPER)).map_err(refused)?;
    // A second socket would draw a random number for its address.
    let found = ask(&mut route)?.aqm;
    if found == module.aqm {
        Ok(())
    } else {
        Err(format!("our discipline in the kernel: asked for {}, found {found}", module.aqm))
    }
}

/// Loads the module from the folder of the run.
pub(super) fn load(folder: &Path) -> Result<(), Failure> {
    let path = folder.join(MODULE);
    let file = File::open(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    finit_module(&file, c"", ModuleInitFlags::empty()).map_err(|error| {
        format!(
            "the kernel refuses the module sch_sojourn: {error}; {}; `sojourn kernel module{}` \
             makes it for this kernel",
            log(),
            release_option()
        )
    })
}

/// The command-line option that names the release of this kernel.
fn release_option() -> String {
    let version = fs::read_to_string("/proc/sys/kernel/osrelease");
    let release = version.ok().and_then(|version| release_of(&version));
    release.map_or_else(String::new, |(major, minor)| format!(" --release {major}.{minor}"))
}

/// The options of the discipline.
fn options(module: &ModuleAqm) -> Vec<u8> {
    let text = [module.aqm.as_bytes(), b"\0"].concat();
    let options = [
        attribute(TCA_SOJOURN_AQM, &text),
        attribute(TCA_SOJOURN_SEED, &module.seed.to_ne_bytes()),
        attribute(TCA_SOJOURN_RATE, &module.rate_bps.to_ne_bytes()),
    ];
    options.concat()
}

/// The discipline's report about itself.
pub(super) fn report(hosts: &Hosts) -> Result<ModuleReport, Failure> {
    ask(&mut open(hosts).map_err(unread)?.0)
}

fn unread(error: io::Error) -> Failure {
    format!("report of our discipline: {error}")
}

fn ask(route: &mut Netlink) -> Result<ModuleReport, Failure> {
    let messages = dump(route).map_err(unread)?;
    let found = messages.iter().find_map(|message| read(message));
    found.ok_or_else(|| "our discipline is not at the router".to_owned())
}

/// The report in a message, if the message is about our discipline.
fn read(message: &[u8]) -> Option<ModuleReport> {
    let rest = of_kind(message, MODULE_KIND)?;
    let options = find(rest, libc::TCA_OPTIONS)?;
    let counts = find(find(rest, TCA_STATS2)?, TCA_STATS_APP)?;
    let (drops, marks) = counts.split_at_checked(Cause::ALL.len() * 8)?;
    Some(ModuleReport {
        aqm: text(find(options, TCA_SOJOURN_AQM)?),
        drops: by_cause(drops),
        marks: by_cause(marks),
        vars: find(options, TCA_SOJOURN_VARS).map(vars).unwrap_or_default(),
    })
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes.strip_suffix(b"\0").unwrap_or(bytes)).into_owned()
}

fn by_cause(counts: &[u8]) -> BTreeMap<String, u64> {
    let counts = counts.as_chunks::<8>().0.iter().map(|bytes| u64::from_ne_bytes(*bytes));
    let named = Cause::ALL.iter().map(|cause| format!("{cause:?}")).zip(counts);
    named.filter(|(_, count)| *count > 0).collect()
}

fn vars(nests: &[u8]) -> BTreeMap<String, String> {
    let one = |(_, nest): (u16, &[u8])| {
        let value = find(nest, TCA_SOJOURN_VAR_VALUE)?.first_chunk()?;
        let value = f64::from_bits(u64::from_ne_bytes(*value));
        Some((text(find(nest, TCA_SOJOURN_VAR_NAME)?), value.to_string()))
    };
    attributes(nests).filter_map(one).collect()
}

/// The last lines of the kernel's log.
fn log() -> String {
    let lines = log_lines().unwrap_or_default();
    let last: Vec<&str> = lines.iter().rev().take(QUOTED).rev().map(String::as_str).collect();
    format!("its log says: {}", last.join(" | "))
}

/// Each read returns one record: numbers, a semicolon, the text (Linux
/// Documentation/ABI/testing/dev-kmsg).
fn log_lines() -> io::Result<Vec<String>> {
    let mut log = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open("/dev/kmsg")?;
    let (mut lines, mut record) = (Vec::new(), [0; 8192]);
    while let Ok(bytes) = log.read(&mut record) {
        let record = String::from_utf8_lossy(&record[..bytes]).into_owned();
        let said = record.split_once(';').map_or("", |(_, said)| said);
        lines.extend(said.lines().next().map(str::to_owned));
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::bottleneck_qdisc::TCMSG_BYTES;

    #[test]
    fn the_module_counts_every_cause() {
        let header = include_str!("../../../../kmod/sojourn_netlink.h");
        assert!(header.contains(&format!("#define SOJOURN_CAUSES {}\n", Cause::ALL.len())));
    }

    fn message(kind: &[u8]) -> Vec<u8> {
        let mut counts = vec![0; 16 * Cause::ALL.len()];
        counts[8 * Cause::Target as usize] = 7;
        counts[8 * (Cause::ALL.len() + Cause::CeThreshold as usize)] = 5;
        let var = [
            attribute(TCA_SOJOURN_VAR_NAME, b"count\0"),
            attribute(TCA_SOJOURN_VAR_VALUE, &3.5f64.to_bits().to_ne_bytes()),
        ];
        let options = [
            attribute(TCA_SOJOURN_AQM, b"codel@linux\0"),
            attribute(TCA_SOJOURN_VARS, &attribute(1, &var.concat())),
        ];
        let parts = [
            vec![0; TCMSG_BYTES],
            attribute(libc::TCA_KIND, kind),
            attribute(libc::TCA_OPTIONS, &options.concat()),
            attribute(TCA_STATS2, &attribute(TCA_STATS_APP, &counts)),
        ];
        parts.concat()
    }

    #[test]
    fn a_report_has_text_causes_and_state_variables() {
        let report = read(&message(b"sojourn\0")).unwrap();
        assert_eq!(report.aqm, "codel@linux");
        assert_eq!(report.drops, BTreeMap::from([("Target".to_owned(), 7)]));
        assert_eq!(report.marks, BTreeMap::from([("CeThreshold".to_owned(), 5)]));
        assert_eq!(report.vars, BTreeMap::from([("count".to_owned(), "3.5".to_owned())]));
    }

    #[test]
    fn the_report_of_another_discipline_or_a_truncated_one_is_not_read() {
        assert_eq!(read(&message(b"codel\0")), None);
        assert_eq!(read(&message(b"sojourn\0")[..60]), None);
    }
}
