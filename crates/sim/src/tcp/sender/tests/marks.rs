//! Classic ECN (RFC 3168 §6.1.2, §6.1.5).

use sojourn_aqm::Ecn;

use super::*;

/// packetdrill `cwnd_moderation/cwnd-moderation-ecn-enter-cwr-no-moderation-700`.
#[test]
fn a_mark_reduces_the_window_once_per_window_of_data() {
    let mut script = Script::start("cubic", 10, 4, 100);
    assert_eq!(script.ack_with_echo(1, &[], true), NOTHING);
    assert_eq!((script.sender.state(), script.sender.window.ssthresh), (State::Cwr, 7));
    // Three packets are in flight, one was delivered, and one more may leave because the
    // acknowledgement advanced (RFC 9937). The script expects 4, because its kernels lack the last
    // rule (fact tcp-2).
    assert_eq!(script.cwnd(), 5);
    script.ack_with_echo(2, &[], true);
    assert_eq!(script.sender.window.ssthresh, 7);
}

#[test]
fn new_data_is_ect_and_retransmissions_are_not() {
    let mut script = Script::start("reno", 4, u32::MAX, 100);
    let mut codepoints = Vec::new();
    let mut packet = Packet::new(PacketKind::Ack, 0, 1, 0, 52, Time::ZERO);
    packet.sack[0] = Block { start: 1, end: 4 };
    script.sender.on_ack(script.now, &packet, &mut |p: Packet| codepoints.push((p.seq, p.ecn)));
    assert_eq!(codepoints[0], (0, Ecn::NotEct));
    packet.seq = 4;
    packet.sack[0] = Block::default();
    script.sender.on_ack(script.now, &packet, &mut |p: Packet| codepoints.push((p.seq, p.ecn)));
    assert_eq!(codepoints[1], (4, Ecn::Ect0));
}

/// Linux `tcp_enter_recovery` in CWR begins no reduction, but reports the state to DCTCP
/// (`dctcp_react_to_loss`).
#[test]
fn dctcp_halves_what_is_left_of_its_window_if_a_loss_follows_a_mark() {
    for (cc, halves) in [("dctcp", true), ("cubic", false)] {
        let mut script = Script::start(cc, 20, 100, 100);
        script.ack_with_echo(2, &[], true);
        let (left, ssthresh) = (script.cwnd(), script.sender.window.ssthresh);
        assert!(script.sender.state() == State::Cwr && left > ssthresh);
        script.ack(2, &[(4, 8)]);
        assert_eq!(script.sender.state(), State::Recovery);
        assert_eq!(script.sender.window.ssthresh, if halves { left / 2 } else { ssthresh });
    }
}
