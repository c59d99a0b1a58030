//! A discipline of the kernel that we create by netlink, because the installed tc may not support
//! it (iproute2 6.1 does not support dualpi2). The options are read back one by one.

use std::io;

use super::bottleneck_qdisc::{BELOW_SHAPER, dump, make, of_kind, open};
use crate::linux::Failure;
use crate::linux::hosts::Hosts;
use crate::linux::netlink::{Netlink, attribute, find};
use crate::plan::{KernelQdisc, QdiscOption, Width};

/// Creates the discipline at the router's interface `out`, and compares it with what the kernel
/// reports.
pub(super) fn install(qdisc: &KernelQdisc, hosts: &Hosts) -> Result<(), Failure> {
    let (mut route, device) = open(hosts).map_err(|error| format!("netlink: {error}"))?;
    create(qdisc, &mut route, device, BELOW_SHAPER)?;
    check(qdisc, &mut route)
}

/// Creates the discipline at a place: its handle and its parent.
pub(super) fn create(
    qdisc: &KernelQdisc,
    route: &mut Netlink,
    device: u32,
    place: (u32, u32),
) -> Result<(), Failure> {
    let options: Vec<u8> = qdisc.options.iter().flat_map(written).collect();
    let asked = route.ask(make(&qdisc.kind, &options, device, place));
    asked.map(drop).map_err(|error| refused(qdisc, &error))
}

/// Compares the kernel's discipline at the router's interface `out` with the one requested of tc.
pub(super) fn verify(qdisc: &KernelQdisc, hosts: &Hosts) -> Result<(), Failure> {
    let (mut route, _) = open(hosts).map_err(|error| format!("netlink: {error}"))?;
    check(qdisc, &mut route)
}

fn check(qdisc: &KernelQdisc, route: &mut Netlink) -> Result<(), Failure> {
    let messages = dump(route).map_err(|error| format!("qdisc {}: {error}", qdisc.kind))?;
    let found = messages.iter().find_map(|message| of_kind(message, &qdisc.kind));
    let options = found.and_then(|rest| find(rest, libc::TCA_OPTIONS));
    compare(qdisc, options.ok_or_else(|| format!("qdisc {}: it is missing", qdisc.kind))?)
}

fn refused(qdisc: &KernelQdisc, error: &io::Error) -> Failure {
    let KernelQdisc { kind, options } = qdisc;
    if error.kind() == io::ErrorKind::NotFound {
        return format!(
            "this kernel has no qdisc `{kind}`: give one that has with --kernel, such as 7.2, or \
             run ours with engine.linux.bottleneck = \"sojourn\""
        );
    }
    let asked: Vec<String> =
        options.iter().map(|it| format!("{} {:?}", it.name, it.values)).collect();
    format!(
        "the kernel refuses qdisc {kind} with {}: {error}; change the parameter, or run our AQM \
         with engine.linux.bottleneck = \"sojourn\"",
        asked.join(", ")
    )
}

/// An option in the kernel's format.
fn written(option: &QdiscOption) -> Vec<u8> {
    let bytes = option.values.iter().flat_map(|value| match option.width {
        Width::U8 => vec![*value as u8],
        Width::U32 => value.to_ne_bytes().to_vec(),
    });
    let bytes = bytes.collect::<Vec<u8>>();
    match option.attribute {
        Some(number) => attribute(number, &bytes),
        None => bytes,
    }
}

/// Text after the numbers of an option is not compared.
pub(super) fn compare(qdisc: &KernelQdisc, shown: &[u8]) -> Result<(), Failure> {
    for option in &qdisc.options {
        let value = option.attribute.map_or(Some(shown), |number| find(shown, number));
        let value = value.and_then(|value| value.get(usize::from(option.offset)..));
        let found = value.map(|value| numbers(value, option.width));
        if !found.as_ref().is_some_and(|found| found.starts_with(&option.shown)) {
            return Err(format!(
                "qdisc {} at out: {}: asked for {:?}, of which the kernel shows {:?}, found {:?}",
                qdisc.kind,
                option.name,
                option.values,
                option.shown,
                found.unwrap_or_default()
            ));
        }
    }
    Ok(())
}

fn numbers(value: &[u8], width: Width) -> Vec<u32> {
    match width {
        Width::U8 => value.iter().map(|byte| u32::from(*byte)).collect(),
        Width::U32 => {
            let (words, _) = value.as_chunks::<4>();
            words.iter().map(|word| u32::from_ne_bytes(*word)).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn option(attribute: u16, width: Width, values: &[u32]) -> QdiscOption {
        let (values, shown) = (values.to_vec(), values.to_vec());
        let name = format!("option {attribute}");
        QdiscOption { name, attribute: Some(attribute), offset: 0, width, values, shown }
    }

    fn qdisc() -> KernelQdisc {
        let options = vec![option(1, Width::U32, &[10_000, 7]), option(10, Width::U8, &[2])];
        KernelQdisc { kind: "dualpi2".to_owned(), options }
    }

    fn shown(limit: u32, k: u8) -> Vec<u8> {
        let limit = [limit.to_ne_bytes(), 7u32.to_ne_bytes()].concat();
        [attribute(1, &limit), attribute(10, &[k])].concat()
    }

    #[test]
    fn what_the_kernel_shows_is_compared_option_by_option() {
        assert_eq!(compare(&qdisc(), &shown(10_000, 2)), Ok(()));
        let other = compare(&qdisc(), &shown(10_000, 3)).unwrap_err();
        assert!(other.contains("option 10: asked for [2]") && other.ends_with("[3]"), "{other}");
        let limit = compare(&qdisc(), &shown(9, 2)).unwrap_err();
        assert!(limit.contains("option 1") && limit.ends_with("found [9, 7]"), "{limit}");
        let absent = compare(&qdisc(), &shown(10_000, 2)[..12]).unwrap_err();
        assert!(absent.contains("option 10") && absent.ends_with("found []"), "{absent}");
    }

    #[test]
    fn options_have_their_width() {
        let read: Vec<u8> = qdisc().options.iter().flat_map(written).collect();
        assert_eq!(read, shown(10_000, 2));
    }

    #[test]
    fn a_structure_may_be_all_the_options() {
        let whole = QdiscOption { attribute: None, ..option(0, Width::U32, &[1514, 0, 127]) };
        let bytes = [1514u32, 0, 127].map(u32::to_ne_bytes).concat();
        assert_eq!(written(&whole), bytes);
        let sfq = KernelQdisc { kind: "sfq".to_owned(), options: vec![whole] };
        assert_eq!(compare(&sfq, &bytes), Ok(()));
        assert!(compare(&sfq, &bytes[..8]).unwrap_err().ends_with("found [1514, 0]"));
    }

    #[test]
    fn a_byte_within_a_structure_is_compared_alone() {
        let weight = QdiscOption { offset: 12, ..option(1, Width::U8, &[6]) };
        let red = KernelQdisc { kind: "red".to_owned(), options: vec![weight] };
        let mut parms = [9u8; 16];
        parms[12] = 6;
        assert_eq!(compare(&red, &attribute(1, &parms)), Ok(()));
        assert!(compare(&red, &attribute(1, &[9; 16])).unwrap_err().contains("asked for [6]"));
        assert!(compare(&red, &attribute(1, &[6; 8])).unwrap_err().ends_with("found []"));
    }

    #[test]
    fn a_kernel_without_the_discipline_has_another_remedy_than_a_wrong_value() {
        let absent = refused(&qdisc(), &io::Error::from_raw_os_error(libc::ENOENT));
        assert!(absent.contains("has no qdisc `dualpi2`: give one that has"), "{absent}");
        let wrong = refused(&qdisc(), &io::Error::from_raw_os_error(libc::EINVAL));
        assert!(
            wrong.contains("option 10 [2]") && wrong.contains("change the parameter"),
            "{wrong}"
        );
    }
}
