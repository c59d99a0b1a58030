//! Recovery without SACK: which duplicates count, the timer, and the threshold after a timeout.

use super::*;

const PI2_NS3: &str = "pi2-ns3";

fn newreno() -> Script {
    Script::with(NEWRENO, "reno", 20, u32::MAX, 100)
}

/// RFC 5681 §3.2: three duplicates of one number start a fast retransmit (Linux
/// `tcp_reset_reno_sack`).
#[test]
fn duplicates_of_an_earlier_number_do_not_count() {
    let mut script = newreno();
    (0..2).for_each(|_| drop(script.ack(0, &[])));
    script.ack(1, &[]);
    let sent = script.ack(1, &[]);
    assert!(!sent.contains(&2), "{sent:?}");
    assert!(script.sender.state() < State::Recovery);
    script.ack(1, &[]);
    assert!(script.ack(1, &[]).contains(&2), "the third of its own");
}

/// RFC 6582 §3.2 step 3 and §4.
#[test]
fn the_impatient_variant_restarts_the_timer_on_the_first_partial_acknowledgement_only() {
    let patient = Profile { impatient: false, ..NEWRENO };
    let pi2 = profile::profile(PI2_NS3).unwrap();
    for (profile, impatient) in [(NEWRENO, true), (pi2, true), (patient, false)] {
        let mut script = Script::with(profile, "reno", 20, 20, 100);
        (0..16).for_each(|_| drop(script.ack(0, &[]))); // 1, 5, 9 and 13 are lost
        let mut due = Vec::new();
        for una in [4, 8, 12] {
            script.now += Span::from_millis(100);
            assert_eq!(script.ack(una, &[]), [una + 1]);
            due.push(script.sender.next_timer());
        }
        assert_eq!(due[1] == due[0], impatient, "{} {due:?}", profile.name);
        assert_eq!(due[2] == due[0], impatient, "{} {due:?}", profile.name);
    }
}

#[test]
fn many_losses_end_in_a_timeout_that_goes_back_n() {
    let mut script = Script::with(NEWRENO, "reno", 20, 20, 100);
    (0..12).for_each(|_| drop(script.ack(0, &[])));
    script.now += Span::from_millis(100);
    script.ack(2, &[]);
    assert_eq!(script.expire(), (500.0, vec![3]));
    assert_eq!(script.sender.state(), State::Loss);
    // Segments that the receiver already had are skipped.
    assert_eq!(script.ack(10, &[]), [11, 12]);
}

/// RFC 5681 §3.1: the timer has not resent the segment before; only fast retransmit has.
#[test]
fn a_timeout_in_a_recovery_reduces_the_threshold_again_where_the_profile_says_so() {
    for (reduces_again, ssthresh) in [(true, 5), (false, 10)] {
        let profile = Profile { reduces_again, ..NEWRENO };
        let mut script = Script::with(profile, "reno", 20, u32::MAX, 100);
        (0..3).for_each(|_| drop(script.ack(0, &[])));
        assert_eq!(script.sender.window.ssthresh, 10);
        script.expire();
        assert_eq!(script.sender.window.ssthresh, ssthresh);
        script.expire();
        assert_eq!(script.sender.window.ssthresh, ssthresh, "not twice for one segment");
    }
}

/// RFC 3042 §2: limited transmit applies to new data; ns-3 `TcpSocketBase::DupAck`. ns-2 differs
/// (fact tcp-13).
#[test]
fn duplicates_after_a_timeout_send_nothing() {
    let mut script = newreno();
    script.expire();
    assert_eq!(script.ack(1, &[]), [2, 3]);
    assert_eq!(script.ack(20, &[]), [21, 22, 23]);
    assert_eq!(script.sender.state(), State::Loss, "nothing beyond was acknowledged yet");
    let sent: Vec<u32> = (0..5).flat_map(|_| script.ack(20, &[])).collect();
    assert_eq!(sent, NOTHING, "they answer retransmissions that were not needed");
}

/// RFC 6582 §3.2 step 3: the window shrinks by the acknowledged amount and grows by one segment.
#[test]
fn a_partial_acknowledgement_of_more_than_the_duplicates_deflates_the_window() {
    let mut script = newreno();
    (0..3).for_each(|_| drop(script.ack(0, &[])));
    assert_eq!((script.cwnd(), script.sender.board.sacked()), (10, 3));
    script.ack(8, &[]);
    assert_eq!((script.cwnd(), script.sender.board.sacked()), (6, 0));
    let nxt = script.sender.board.nxt();
    script.ack(nxt, &[]);
    assert_eq!(script.cwnd(), 10, "RFC 6582 §3.2 step 3, option 2, as in ns-2 and ns-3");
}

/// ns-3 `TcpSocketBase::BytesInFlight`.
#[test]
fn a_reduction_of_what_is_in_flight_leaves_out_what_duplicates_report() {
    let pi2 = profile::profile(PI2_NS3).unwrap();
    let mut script = Script::with(pi2, "reno", 20, u32::MAX, 100);
    (0..3).for_each(|_| drop(script.ack(0, &[])));
    // 22 segments are outstanding with limited transmit; 3 of them have arrived.
    assert_eq!(script.sender.window.ssthresh, 9);
    (0..15).for_each(|_| drop(script.ack(0, &[])));
    let in_flight = script.sender.board.in_flight();
    assert!(in_flight < script.sender.board.outstanding() / 2);
    script.expire();
    assert_eq!(script.sender.window.ssthresh, in_flight / 2);
}

/// Linux `tcp_schedule_loss_probe`.
#[test]
fn tail_loss_probes_need_sack() {
    for (sack, due) in [(true, 202.0), (false, 300.0)] {
        let mut script = Script::with(Profile { sack, ..LINUX }, "reno", 4, 4, 100);
        assert_eq!(script.expire().0, due);
    }
}

/// RFC 5681 §3.2 step 6: the first acknowledgement of new data sets the window to the threshold.
/// The other loss of the window is below the recovery point, so the timer repairs it.
#[test]
fn reno_repairs_one_loss_per_window_and_leaves_the_next_to_the_timer() {
    let mut script = Script::with(RENO, "reno", 20, u32::MAX, 100);
    let sent: Vec<u32> = (0..3).flat_map(|_| script.ack(0, &[])).collect();
    assert_eq!(sent, [1], "no limited transmit");
    (0..15).for_each(|_| drop(script.ack(0, &[]))); // 1 and 5 are lost
    script.ack(4, &[]);
    assert_eq!(script.sender.state(), State::Open);
    assert_eq!((script.sender.window.cwnd, script.sender.window.ssthresh), (10, 10));
    let sent: Vec<u32> = (0..8).flat_map(|_| script.ack(4, &[])).collect();
    assert!(!sent.contains(&5), "{sent:?}");
    assert!(script.sender.state() < State::Recovery);
    assert_eq!(script.expire().1, [5]);
}

/// Jacobson 1988 §3 and ns-2 `TcpAgent::dupack_action`: everything is retransmitted, in slow
/// start.
#[test]
fn tahoe_goes_back_to_the_loss_in_slow_start() {
    let mut script = Script::with(TAHOE, "reno", 20, u32::MAX, 100);
    let sent: Vec<u32> = (0..16).flat_map(|_| script.ack(0, &[])).collect();
    assert_eq!(sent, [1], "on the third duplicate, and nothing on those after it");
    assert_eq!((script.sender.window.cwnd, script.sender.window.ssthresh), (1, 10));
    assert_eq!(script.ack(4, &[]), [5, 6], "1 and 5 were lost");
    assert_eq!(script.sender.window.cwnd, 2);
    assert_eq!(script.ack(20, &[]), [21, 22, 23]);
}
