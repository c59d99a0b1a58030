//! Negotiation of ECN feedback when a connection opens (RFC 9768 §3.1, RFC 3168 §6.1.1).
//!
//! The sender of a flow is the client of its connection and sends all the data. The third packet of
//! the handshake carries no feedback: in RFC 9768 the client's own counter (§3.2.2.1: 6 after a
//! SYN-ACK with CE) and the encoding of its first acknowledgement report marks on packets towards
//! the client, none of which carries data here. SYN-ACKs of broken and nonce servers (RFC 9768
//! Table 2) are understood, but never sent.

use sojourn_aqm::Ecn;

/// AE, CWR and ECE of the TCP header as one number; after the handshake this field is ACE.
pub type Flags = u8;

/// A feedback mode.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Mode {
    /// No ECN: no packet is ECN-capable.
    #[default]
    NotEcn,
    /// ECE until the sender answers with CWR (RFC 3168).
    Classic,
    /// Counters of marks (RFC 9768).
    Accurate,
}

/// The SYN-ACK of a classic ECN server.
const CLASSIC_ANSWER: Flags = 0b001;
/// Reserved: accurate feedback, without the ECN field of the SYN (RFC 9768 §3.1.3).
const RESERVED_ANSWER: Flags = 0b101;

impl Mode {
    /// The flags of a SYN that requests this mode.
    pub const fn request(self) -> Flags {
        match self {
            Mode::NotEcn => 0b000,
            Mode::Classic => 0b011,
            Mode::Accurate => 0b111,
        }
    }

    /// The mode that a server supporting up to `self` enters after a SYN. Reserved flags request
    /// accurate feedback (RFC 9768 §3.1.3).
    pub const fn granted(self, syn: Flags) -> Mode {
        match (syn, self) {
            (0b000, _) | (_, Mode::NotEcn) => Mode::NotEcn,
            (0b011, _) | (_, Mode::Classic) => Mode::Classic,
            (_, Mode::Accurate) => Mode::Accurate,
        }
    }

    /// The flags of the SYN-ACK in this mode; in accurate mode they report the ECN field of the
    /// received SYN (RFC 9768 Table 2).
    pub const fn answer(self, syn_arrived: Ecn) -> Flags {
        match (self, syn_arrived) {
            (Mode::NotEcn, _) => 0b000,
            (Mode::Classic, _) => CLASSIC_ANSWER,
            (Mode::Accurate, Ecn::NotEct) => 0b010,
            (Mode::Accurate, Ecn::Ect1) => 0b011,
            (Mode::Accurate, Ecn::Ect0) => 0b100,
            (Mode::Accurate, Ecn::Ce) => 0b110,
        }
    }

    /// The mode of a client that requested `self` and received this SYN-ACK. A server that reflects
    /// the flags is broken and gets no ECN (RFC 9768 Table 2).
    pub const fn settled(self, answer: Flags) -> Mode {
        match (self, answer) {
            (Mode::Classic | Mode::Accurate, CLASSIC_ANSWER) => Mode::Classic,
            (Mode::Accurate, 0b010..=0b110) => Mode::Accurate,
            _ => Mode::NotEcn,
        }
    }
}

/// The ECN field with which the SYN arrived, according to a SYN-ACK in accurate mode.
pub const fn syn_arrived(answer: Flags, sent: Ecn) -> Ecn {
    match answer {
        RESERVED_ANSWER => sent,
        0b011 => Ecn::Ect1,
        0b100 => Ecn::Ect0,
        0b110 => Ecn::Ce,
        _ => Ecn::NotEct,
    }
}

/// Whether the path changed the field in an invalid way: only ECT may change, and only to the other
/// ECT or to CE (RFC 9768 §3.2.2.3, RFC 3168 §18).
pub fn is_mangled(sent: Ecn, arrived: Ecn) -> bool {
    sent != arrived && (sent == Ecn::NotEct || sent == Ecn::Ce || arrived == Ecn::NotEct)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODES: [Mode; 3] = [Mode::NotEcn, Mode::Classic, Mode::Accurate];
    const FIELDS: [Ecn; 4] = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce];

    #[test]
    fn both_ends_agree_on_the_lower_of_their_modes() {
        for (asked, speaks) in MODES.iter().flat_map(|a| MODES.map(|b| (*a, b))) {
            let granted = speaks.granted(asked.request());
            assert_eq!(granted, asked.min(speaks), "{asked:?} to {speaks:?}");
            for field in FIELDS {
                assert_eq!(asked.settled(granted.answer(field)), granted);
            }
        }
    }

    #[test]
    fn rfc_9768_table_2_an_accurate_answer_reports_the_field_of_the_syn() {
        let answers = FIELDS.map(|field| Mode::Accurate.answer(field));
        assert_eq!(answers, [0b010, 0b011, 0b100, 0b110]);
        assert_eq!(answers.map(|flags| syn_arrived(flags, Ecn::NotEct)), FIELDS);
    }

    #[test]
    fn rfc_9768_table_2_a_server_that_reflects_the_flags_gets_no_ecn() {
        assert_eq!(Mode::Accurate.settled(0b111), Mode::NotEcn);
        assert_eq!(Mode::Classic.settled(0b011), Mode::NotEcn);
    }

    #[test]
    fn rfc_9768_section_3_1_3_reserved_flags_mean_accurate_feedback() {
        for syn in [0b001, 0b010, 0b100, 0b101, 0b110] {
            assert_eq!(Mode::Accurate.granted(syn), Mode::Accurate, "{syn:03b}");
        }
        assert_eq!(Mode::Accurate.settled(0b101), Mode::Accurate);
        assert!(!is_mangled(Ecn::Ect1, syn_arrived(0b101, Ecn::Ect1)));
    }

    #[test]
    fn rfc_9768_section_3_2_2_3_invalid_transitions_are_recognised() {
        let mangled = |sent| FIELDS.map(|arrived| is_mangled(sent, arrived));
        assert_eq!(mangled(Ecn::NotEct), [false, true, true, true]);
        assert_eq!(mangled(Ecn::Ect1), [true, false, false, false]);
        assert_eq!(mangled(Ecn::Ect0), [true, false, false, false]);
    }
}
