//! Other tools' formats: input and output of `tc`, captures of packets.

use pyo3::prelude::*;
use sojourn_aqm::params::Quantity as _;
use sojourn_aqm::{Cells, Framing, Packing};
use sojourn_formats::capture::{self, Lines, ReplayedPackets};
use sojourn_formats::{FormatError, tc};

use crate::errors::Refusal;

impl From<FormatError> for Refusal {
    fn from(error: FormatError) -> Refusal {
        Refusal::new(error.place, error.message)
    }
}

/// The scenario of a set-up of tc: TOML, what was read, and what had to be assumed.
#[pyfunction]
pub fn tc_import(
    text: &str,
    name: String,
    rate: Option<String>,
    rtt: Option<String>,
    device: Option<String>,
) -> Result<(String, Vec<String>, Vec<String>), Refusal> {
    let setup = tc::read(text)?;
    let wish = tc::TcWish { name, rate, rtt, device };
    let import = tc::scenario(&setup, &wish)?;
    Ok((import.toml, import.read, import.unknown))
}

/// Our AQM for a discipline in tc's syntax, the options without a counterpart, and cake's overhead
/// relative to the IP packet.
#[pyfunction]
pub fn tc_aqm(text: &str) -> Result<(String, Vec<String>, Option<i64>), Refusal> {
    let found = tc::aqm_of_text(text)?;
    Ok((found.text, found.missing, found.overhead.map(|it| it.bytes)))
}

/// Whether a text is in tc's syntax rather than the text form of an AQM.
#[pyfunction]
pub fn tc_looks_like(text: &str) -> bool {
    tc::looks_like_tc(text)
}

/// A finding: code, severity, line, title, reason, evidence, remedy, and the trial's scenarios
/// before and after with a description of what they model.
type Row = (
    &'static str,
    &'static str,
    usize,
    String,
    String,
    String,
    String,
    Option<(String, String, String)>,
);

/// What is wrong or doubtful in a set-up, and the parts that were not understood.
///
/// `framing` of the line: bytes added to a packet, least size, cells.
#[pyfunction]
#[pyo3(signature = (text, line_bps, framing, rtt_ns, load))]
pub fn tc_check(
    text: &str,
    line_bps: Option<u64>,
    framing: Option<(i64, u64, String)>,
    rtt_ns: u64,
    load: u64,
) -> Result<(Vec<Row>, Vec<String>), Refusal> {
    let setup = tc::read(text)?;
    let framing = framing.map(|(overhead, mpu, cells)| {
        let cells = Cells::parse(&cells).map_err(FormatError::whole)?;
        Ok::<_, FormatError>(Framing { overhead, packing: Packing { mpu, cells } })
    });
    let framing = framing.transpose()?;
    let findings = tc::check(&setup, tc::TcCircumstances { line_bps, framing, rtt_ns, load });
    let rows = findings.into_iter().map(|it| {
        let trial = it.trial.map(|trial| (trial.before, trial.after, trial.model));
        let severity = it.severity.name();
        (it.code, severity, it.line, it.title, it.reason, it.evidence, it.remedy, trial)
    });
    Ok((rows.collect(), tc::not_understood(&setup).collect()))
}

/// The link of a scenario: device, whether it is the ingress, bit/s, depth of its bucket and
/// whether that may be in debt, framing (bytes added, least size, cells), AQM, scheduler in JSON,
/// rate and burst of the policer.
type Link = (
    String,
    bool,
    u64,
    Option<(u64, bool)>,
    (u64, u64, String),
    String,
    Option<String>,
    Option<(u64, u64)>,
);

/// Commands, or lines of UCI, for links, and warnings about differences of the kernel.
#[pyfunction]
pub fn tc_export(
    links: Vec<Link>,
    kernel: Option<(u32, u32)>,
    uci: bool,
) -> Result<(Vec<String>, Vec<String>), Refusal> {
    let link = |(device, is_arrivals, bps, bucket, framing, aqm, scheduler, policer): Link| {
        let (framing_bytes, mpu, cells) = framing;
        let bucket = bucket.map(|(bytes, is_overdraft)| tc::TcBucket { bytes, is_overdraft });
        let cells = Cells::parse(&cells).map_err(FormatError::whole)?;
        let packing = Packing { mpu, cells };
        Ok(tc::TcLink {
            device,
            is_arrivals,
            bps,
            bucket,
            framing_bytes,
            packing,
            policer,
            aqm,
            scheduler,
        })
    };
    let links = links.into_iter().map(link).collect::<Result<Vec<_>, FormatError>>()?;
    if uci {
        let found = tc::uci_of(&links, kernel)?;
        return Ok((found.words, found.warnings));
    }
    let (mut words, mut warnings) = (Vec::new(), Vec::new());
    for link in &links {
        let found = tc::commands_of(link, kernel)?;
        words.extend(found.words);
        warnings.extend(found.warnings);
    }
    Ok((words, warnings))
}

/// A reader of a capture of packets, pcap or pcapng. Releases the GIL while it reads.
#[pyclass]
pub struct CaptureReader(capture::CaptureReader);

#[pymethods]
impl CaptureReader {
    #[new]
    fn new(all: bool, range_ns: Option<(u64, u64)>) -> CaptureReader {
        let replayed = if all { ReplayedPackets::All } else { ReplayedPackets::Datagrams };
        let reader = capture::CaptureReader::new(replayed);
        CaptureReader(match range_ns {
            Some((from, until)) => reader.within(from, until),
            None => reader,
        })
    }

    fn feed(&mut self, py: Python<'_>, bytes: &[u8]) -> (Vec<Lines>, bool) {
        py.detach(|| self.0.feed(bytes))
    }

    fn finish(&mut self, py: Python<'_>) -> Result<(Vec<Lines>, String), Refusal> {
        py.detach(|| self.0.finish()).map_err(Refusal::from)
    }
}
