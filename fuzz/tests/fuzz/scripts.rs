//! TCP scripts and libraries of laws: untrusted files.

use sojourn_fuzz::words::Edited;
use sojourn_law::elf;
use sojourn_scripts::{ScriptOutcome, run};

use crate::target;

const SCRIPTS: &[&str] = &[
    include_str!("../../../crates/scripts/testdata/rfc2883-duplicates-reported.pkt"),
    include_str!("../../../crates/scripts/testdata/rfc3042-limited-transmit.pkt"),
    include_str!("../../../crates/scripts/testdata/rfc3168-marks-echoed-and-answered.pkt"),
    include_str!("../../../crates/scripts/testdata/rfc5681-slow-start-and-fast-retransmit.pkt"),
    include_str!("../../../crates/scripts/testdata/rfc6298-timeout-doubles.pkt"),
    include_str!("../../../crates/scripts/testdata/rfc6582-partial-acknowledgement.pkt"),
    include_str!("../../../crates/scripts/testdata/rfc6675-holes-lowest-first.pkt"),
    OTHER_FORMS,
];

/// Forms that our own scripts lack.
const OTHER_FORMS: &str = "--tolerance_usecs=10000\n`./defaults.sh
sysctl -q net.ipv4.tcp_ecn=3 net.ipv4.tcp_congestion_control=cubic`
0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3 // a comment
+0 setsockopt(3, SOL_SOCKET, SO_RCVBUF, [5000], 4) = 0
+0...0.2 connect(3, ..., ...) = 0
+0 > [noecn] SEWA 0:0(0) <mss 1460,sackOK,TS val 100 ecr 0,nop,wscale 8>
+.1 < [ect0] S. 0:0(0) ack 1 win 5792 <mss 1000,sackOK,TS val 700 ecr 100,nop,wscale 7>
+0 > . 1:1(0) ack 1 <...>
+0 write(3, ..., 4000) = 4000
* > P. 1:1001(1000) ack 1 <...>
+.1~+.2 < . 1:501(500) ack 1001 win 257 <nop,nop,sack 2001:3001,ECN e1b 1 ceb 0 e0b 1>
+0 read(3, ..., 2000) = 500
+0 %{ assert tcpi_snd_cwnd >= 1 and not (tcpi_unacked == -1), tcpi_snd_cwnd }%
+.1 close(3) = 0
";

target! {
    /// A script is refused with its line and a message, or has one of the three outcomes.
    fn scripts(text: (Edited, Edited)) {
        let files = |_: &str| Some(format!("sysctl -q {}", text.1.of(SYSCTLS)));
        match run(&text.0.of(SCRIPTS), &files) {
            Err(error) => assert!(error.line > 0 && !error.message.is_empty(), "{error}"),
            Ok(ScriptOutcome::Passed) => {}
            Ok(ScriptOutcome::NotApplicable { reason, .. }) => assert!(!reason.is_empty()),
            Ok(ScriptOutcome::Failed { expected, got, .. }) => {
                assert!(!expected.is_empty() && !got.is_empty());
            }
        }
    }

    /// A file is refused as a library, or its dependencies are found.
    fn libraries(edits: Vec<(u16, u8)>) {
        let mut file = library();
        for &(at, byte) in edits.iter().take(8) {
            let at = usize::from(at) % file.len();
            file[at] = byte;
        }
        let length = edits.last().map_or(file.len(), |&(at, _)| usize::from(at) % file.len());
        for part in [&file[..], &file[..length]] {
            if let Some(found) = elf::dependencies(part) {
                assert!(found.needed.iter().all(|name| !name.contains('\0')));
            }
        }
    }
}

const SYSCTLS: &[&str] =
    &["net.ipv4.tcp_sack=0", "net.ipv4.tcp_ecn=1", "net/ipv4/tcp_rmem=\"1 2\""];

/// A library that needs `libx.so`: a header, two segments, four entries, texts.
fn library() -> Vec<u8> {
    let mut file = vec![0_u8; 64 + 2 * 56 + 4 * 16];
    file[..6].copy_from_slice(b"\x7fELF\x02\x01");
    let texts = file.len() as u64;
    file.extend(b"\0libx.so\0$ORIGIN\0");
    let whole = file.len() as u64;
    let mut put = |at: usize, value: u64, size: usize| {
        file[at..at + size].copy_from_slice(&value.to_le_bytes()[..size]);
    };
    for (at, value, size) in [(32, 64, 8), (54, 56, 2), (56, 2, 2)] {
        put(at, value, size);
    }
    for (at, kind, offset, length) in [(64, 1, 0, whole), (120, 2, 176, 64)] {
        put(at, kind, 4);
        for (at, value) in [(at + 8, offset), (at + 16, offset), (at + 32, length)] {
            put(at, value, 8);
        }
    }
    for (index, (tag, value)) in [(5, texts), (1, 1), (29, 9), (0, 0)].into_iter().enumerate() {
        put(176 + index * 16, tag, 8);
        put(184 + index * 16, value, 8);
    }
    file
}

#[test]
fn the_files_to_be_edited_are_legal() {
    for text in SCRIPTS {
        let files = |_: &str| Some(String::new());
        run(text, &files).expect("a script");
    }
    let found = elf::dependencies(&library()).expect("a library");
    assert_eq!((found.needed.join(","), found.folders.as_str()), ("libx.so".to_owned(), "$ORIGIN"));
}
