use sojourn_aqm::Span;

use super::super::profile::LINUX;
use super::*;
use crate::packet::Labels;

fn linux(every: u32) -> Receiver {
    Receiver::new(AckRule { every, answers_push: false, ..LINUX.ack }, true)
}

fn data(seq: u32) -> Packet {
    Packet::new(PacketKind::Data, 0, 0, seq, 1500, Time::ZERO)
}

fn receive(receiver: &mut Receiver, packet: &Packet) -> Option<Packet> {
    let answer = receiver.on_data(Time::ZERO, packet);
    (answer == Answer::Now).then(|| receiver.acknowledge(Time::ZERO, 0, 0, 52))
}

#[test]
fn sack_blocks_are_sent_most_recent_first() {
    let mut receiver = linux(2);
    receive(&mut receiver, &data(0));
    let ack = [2, 4, 6, 8].map(|seq| receive(&mut receiver, &data(seq)).unwrap())[3];
    assert_eq!(ack.sack.map(|b| (b.start, b.end)), [(8, 9), (6, 7), (4, 5)]);
    let ack = receive(&mut receiver, &data(5)).unwrap();
    assert_eq!(ack.sack.map(|b| (b.start, b.end)), [(4, 7), (8, 9), (2, 3)]);
}

/// Linux selftests, `tcp_dsack_mult.pkt`.
#[test]
fn a_duplicate_is_reported_once_in_the_first_block() {
    let mut receiver = linux(2);
    receive(&mut receiver, &data(0));
    let _ = [2, 4, 6].map(|seq| receive(&mut receiver, &data(seq)).unwrap());
    let ack = receive(&mut receiver, &data(0)).unwrap();
    assert_eq!(ack.sack.map(|b| (b.start, b.end)), [(0, 1), (6, 7), (4, 5)]);
    let ack = receive(&mut receiver, &data(4)).unwrap();
    assert_eq!(ack.sack.map(|b| (b.start, b.end)), [(4, 5), (4, 5), (6, 7)]);
    let ack = receive(&mut receiver, &data(8)).unwrap();
    assert_eq!(ack.sack.map(|b| (b.start, b.end)), [(8, 9), (4, 5), (6, 7)]);
}

/// Linux `tcp_validate_incoming`: a duplicate that stayed in another queue while later ones passed
/// it.
#[test]
fn a_segment_older_than_the_timestamp_to_echo_is_not_taken_in() {
    let blocks = |timestamps: bool| {
        let mut receiver = linux(1).with_timestamps(timestamps);
        let mut take = |seq: u32, ms: u64| {
            let sent = Time::ZERO + Span::from_millis(ms);
            let ack = receive(&mut receiver, &Packet { sent, ..data(seq) }).unwrap();
            (ack.seq, ack.sack[0].start, ack.sack[0].end, ack.sent.as_nanos() / 1_000_000)
        };
        // Segment 1 was retransmitted. The later segments are one sent at 10 ms, one a tick older
        // than segment 1, a duplicate of segment 0 sent at 600 ms, and one sent 200 ms before that.
        [(0, 10), (1, 500), (3, 10), (2, 499), (0, 600), (5, 400)].map(|(seq, ms)| take(seq, ms))
    };
    let kept = [(1, 0, 0, 10), (2, 0, 0, 500), (2, 3, 4, 500), (4, 0, 0, 500), (4, 0, 1, 600)];
    assert_eq!(blocks(false)[..5], kept);
    assert_eq!(blocks(false)[5], (4, 5, 6, 600));
    let checked = [(1, 0, 0, 10), (2, 0, 0, 500), (2, 0, 0, 500), (3, 0, 0, 500), (3, 0, 1, 600)];
    assert_eq!(blocks(true)[..5], checked);
    assert_eq!(blocks(true)[5], (3, 0, 0, 600), "no block, no duplicate");
}

#[test]
fn acknowledgements_are_delayed_after_sixteen_quick_ones() {
    let mut receiver = linux(2);
    let acks = |receiver: &mut Receiver, segments: std::ops::Range<u32>| {
        segments.filter(|&seq| receive(receiver, &data(seq)).is_some()).count()
    };
    assert_eq!(acks(&mut receiver, 0..16), 16);
    assert_eq!(acks(&mut receiver, 16..26), 5);
    assert_eq!(acks(&mut receiver, 26..37), 5);
    assert_eq!(receiver.delayed_ack(), Time::ZERO + LINUX.ack.delay);
}

#[test]
fn rfc_3168_marks_are_echoed_until_the_sender_answers_with_cwr() {
    let mut receiver = linux(1);
    let mut echoes = Vec::new();
    for seq in 1..=22 {
        let mut packet = data(seq - 1);
        packet.ecn = if matches!(seq, 3 | 5) { Ecn::Ce } else { Ecn::Ect0 };
        packet.signal = seq == 20;
        echoes.push(receive(&mut receiver, &packet).unwrap().signal);
    }
    let expected: Vec<bool> = (1..=22).map(|seq| (3..20).contains(&seq)).collect();
    assert_eq!(echoes, expected);
}

#[test]
fn rfc_8257_runs_of_marks_are_echoed_exactly() {
    let acks = |marks: &[bool]| {
        let ability = EcnAbility { runs: true, ..EcnAbility::NONE };
        let mut receiver = Receiver::new(AckRule { quick: 0, ..LINUX.ack }, true).with_ecn(ability);
        receiver.agree(Mode::Classic);
        let mut acks = Vec::new();
        for (seq, &marked) in marks.iter().enumerate() {
            let mut packet = data(seq as u32);
            packet.ecn = if marked { Ecn::Ce } else { Ecn::Ect0 };
            if receiver.must_answer_before(&packet) {
                let ack = receiver.acknowledge(Time::ZERO, 0, 0, 52);
                acks.push((ack.seq, ack.signal));
            }
            acks.extend(receive(&mut receiver, &packet).map(|ack| (ack.seq, ack.signal)));
        }
        acks
    };
    let (no, yes) = (false, true);
    let expected = [(2, no), (3, yes), (5, yes), (6, no)];
    assert_eq!(acks(&[no, no, yes, yes, yes, no]), expected);
    let expected = [(1, no), (2, yes), (3, yes), (4, no)];
    assert_eq!(acks(&[no, yes, yes, no]), expected);
}

#[test]
fn a_held_back_acknowledgement_is_sent_before_one_of_its_blocks_is_pushed_out() {
    let mut receiver = Receiver::new(AckRule { quick: 0, ..LINUX.ack }, true);
    receive(&mut receiver, &data(0));
    // Three duplicates are sent, the fourth is held back; the segments make two blocks.
    for seq in [5, 6, 7, 10] {
        receive(&mut receiver, &data(seq));
    }
    let before = |seq| receiver.must_answer_before(&data(seq));
    assert_eq!([8, 11, 15].map(before), [false, false, true]);
}

/// Fact tcp-37.
#[test]
fn a_segment_that_lets_an_acknowledgement_go_brings_no_other_and_sets_no_timer() {
    let mut receiver = Receiver::new(AckRule { quick: 0, ..LINUX.ack }, true);
    receiver.on_syn(&data(0));
    receiver.on_syn_ack(Time::ZERO);
    for seq in [0, 5, 7, 9, 10] {
        receive(&mut receiver, &data(seq));
    }
    assert_ne!(receiver.delayed_ack(), Time::NEVER, "one is held back");
    // It joins the third block, and is reported in that block's place before the block becomes the
    // first.
    assert!(receiver.must_answer_before(&data(4)));
    let ack = receiver.acknowledge(Time::ZERO, 0, 0, 52);
    assert_eq!(ack.sack.map(|b| (b.start, b.end)), [(9, 11), (7, 8), (4, 6)]);
    assert!(receive(&mut receiver, &data(4)).is_none());
    assert_eq!(receiver.delayed_ack(), Time::NEVER);
    assert!(receive(&mut receiver, &data(3)).is_none());
    assert_ne!(receiver.delayed_ack(), Time::NEVER, "the next is held back again");
}

/// Fact tcp-37.
#[test]
fn a_copy_of_a_segment_that_waits_is_held_back_as_any_segment_out_of_order() {
    let mut receiver = Receiver::new(AckRule { quick: 0, ..LINUX.ack }, true);
    receiver.on_syn(&data(0));
    receiver.on_syn_ack(Time::ZERO);
    for seq in [0, 5, 6, 7] {
        receive(&mut receiver, &data(seq));
    }
    assert!(receive(&mut receiver, &data(6)).is_none());
    assert_eq!(receiver.acks.quick_left(), 0, "it asks for no quick acknowledgements");
    let first = |ack: Packet| (ack.sack[0].start, ack.sack[0].end);
    let later = |receiver: &mut Receiver| first(receiver.acknowledge(Time::ZERO, 0, 0, 52));
    assert_eq!(later(&mut receiver.clone()), (6, 7), "it is reported");
    assert!(receive(&mut receiver, &data(8)).is_none());
    assert_eq!(later(&mut receiver), (5, 9), "but not after another segment");
}

#[test]
fn a_hole_that_outlasts_a_timeout_restarts_quick_acknowledgements() {
    // Segments beyond the hole keep arriving, but only in-order ones count.
    let acks_after = |hole_ms: u64| {
        let mut receiver = linux(2).with_window(WindowRule::Fixed(1_000));
        receiver.on_syn(&Packet::new(PacketKind::Syn, 0, 0, 0, 52, Time::ZERO));
        receiver.on_syn_ack(Time::ZERO);
        let mut take = |ms: u64, seq: u32| {
            let answer = receiver.on_data(Time::ZERO + Span::from_millis(ms), &data(seq));
            let now = answer == Answer::Now;
            if now {
                receiver.acknowledge(Time::ZERO, 0, 0, 52);
            }
            u32::from(now)
        };
        // The handshake takes 50 ms, so the timeout is 250 ms; 16 quick acknowledgements are used
        // up.
        (0..18).for_each(|seq| assert_eq!(take(50, seq), u32::from(seq != 16)));
        for i in 1..=hole_ms / 50 {
            take(50 + 50 * i, 18 + i as u32);
        }
        assert_eq!(take(51 + hole_ms, 18), 1, "the hole is filled");
        let first = 19 + (hole_ms / 50) as u32;
        (first..first + 31).map(|seq| take(51 + hole_ms, seq)).sum::<u32>()
    };
    // Either every second segment is acknowledged or, after the long gap, the rest of sixteen
    // segments and then every second one.
    assert_eq!([acks_after(100), acks_after(400)], [15, 15 + 8]);
}

#[test]
fn before_linux_4_18_a_gap_restarts_quick_acknowledgements() {
    // One segment arrives out of order, then the one that fills the hole, then thirty in order.
    let acks_after = |quick_at_gaps| {
        let rule = AckRule { quick_at_gaps, answers_push: false, ..LINUX.ack };
        let mut receiver = Receiver::new(rule, true);
        let mut acks = |segments: &[u32]| {
            segments.iter().filter(|&&seq| receive(&mut receiver, &data(seq)).is_some()).count()
        };
        acks(&Vec::from_iter(0..18));
        assert_eq!(acks(&[19, 18]), 2, "the duplicate and the end of the hole are sent at once");
        acks(&Vec::from_iter(20..50))
    };
    // Either every second segment is acknowledged or (Linux 2.6.29, `tcp_data_queue`) the rest of
    // sixteen after these two, and then every second one.
    assert_eq!([false, true].map(acks_after), [15, 14 + 8]);
}

#[test]
fn a_pushed_segment_is_acknowledged_at_once_if_nothing_is_missing() {
    // Linux `tcp_measure_rcv_mss` (ICSK_ACK_PUSHED), `tcp_cleanup_rbuf`.
    let answered = |answers_push| {
        let rule = AckRule { quick: 0, answers_push, ..LINUX.ack };
        let mut receiver = Receiver::new(rule, true);
        [(0, true), (1, false), (2, false), (3, false)].map(|(seq, push)| {
            receive(&mut receiver, &Packet { labels: Labels::new(push), ..data(seq) }).is_some()
        })
    };
    assert_eq!(answered(true), [true, false, true, false]);
    assert_eq!(answered(false), [false, true, false, true]);
}

#[test]
fn while_the_window_grows_each_segment_is_acknowledged_at_once() {
    let mut receiver = Receiver::new(AckRule { quick: 0, every: u32::MAX, ..LINUX.ack }, true);
    receiver.on_syn(&data(0));
    receiver.on_syn_ack(Time::ZERO);
    let rtt = Span::from_millis(100);
    let mut now = Time::ZERO;
    let mut acknowledged = Vec::new();
    for seq in 0..2_000 {
        if seq % 50 == 0 {
            now += rtt;
        }
        let segment = Packet { sent: now, ..data(seq) };
        if receiver.on_data(now, &segment) == Answer::Now {
            receiver.acknowledge(now, 0, 0, 52);
            acknowledged.push(seq);
        }
    }
    // The first segment of the second round trip is the 51st. It makes room for 1,084 segments; the
    // window reaches that size after 520 segments.
    assert_eq!(acknowledged, Vec::from_iter(51..571));
}

/// Linux `tcp_event_data_recv`: `tcp_ecn_check_ce` requests two quick acknowledgements, then
/// `tcp_grow_window` sets the lowest bit of their number (fact tcp-35).
#[test]
fn a_mark_on_a_segment_by_which_the_window_grows_makes_three_acknowledgements_quick() {
    let acknowledged = |grows: bool| {
        let rule = AckRule { quick: 2, every: u32::MAX, ..LINUX.ack };
        let mut receiver = Receiver::new(rule, true);
        receiver.on_syn(&data(0));
        receiver.on_syn_ack(Time::ZERO);
        let take = |receiver: &mut Receiver, ms: u64, seq: u32, ecn: Ecn| {
            let now = Time::ZERO + Span::from_millis(ms);
            let answer = receiver.on_data(now, &Packet { sent: now, ecn, ..data(seq) });
            if answer == Answer::Now {
                receiver.acknowledge(now, 0, 0, 52);
            }
            answer == Answer::Now
        };
        // Fifty segments arrive in the first round trip. The first segment after it finds a larger
        // buffer; the window reaches that size after 520 segments.
        let first = if grows { 60 } else { 1_000 };
        for seq in 0..first {
            take(&mut receiver, 100 + 100 * u64::from(seq / 50), seq, Ecn::Ect0);
        }
        let marked = take(&mut receiver, 100 + 100 * u64::from(first / 50), first, Ecn::Ce);
        (marked, receiver.acks.quick_left())
    };
    assert_eq!(acknowledged(true), (true, 2));
    assert_eq!(acknowledged(false), (true, 1));
}

/// Linux `tcp_recvmsg_locked` calls `tcp_rcv_space_adjust` after each segment that it has copied.
#[test]
fn what_waited_behind_a_hole_counts_for_the_round_trip_after_it_is_filled() {
    let mut receiver = linux(1);
    receiver.on_syn(&data(0));
    receiver.on_syn_ack(Time::ZERO);
    let mut take = |ms: u64, seq: u32| {
        receiver.on_data(Time::ZERO + Span::from_millis(ms), &data(seq));
    };
    (0..20).for_each(|seq| take(100, seq));
    (21..121).for_each(|seq| take(110, seq));
    (20..21).chain(121..221).for_each(|seq| take(250, seq));
    // After a round trip of 10 segments, one of 21 asks for 2 * 21 + 16, and 2 * 58 * 11 / 10 more.
    assert_eq!(receiver.window.offered(), 184);
}

#[test]
fn a_segment_that_fills_one_of_several_holes_counts_as_a_duplicate() {
    // Linux `__tcp_ack_snd_check` with out-of-order data: three ACKs leave at once, then one is
    // held back.
    let mut receiver = Receiver::new(AckRule { quick: 0, ..LINUX.ack }, true);
    receiver.on_syn(&data(0));
    receiver.on_syn_ack(Time::ZERO);
    let mut now = |seq| receive(&mut receiver, &data(seq)).is_some();
    assert!(!now(0) && now(5) && now(7), "holes at 1 to 4 and at 6");
    assert_eq!([1, 9, 10, 11].map(&mut now), [true, true, true, false]);
}

#[test]
fn a_filled_hole_is_acknowledged_at_once_in_one_acknowledgement() {
    let mut receiver = linux(2);
    for seq in 0..20 {
        receive(&mut receiver, &data(seq));
    }
    assert_eq!(receive(&mut receiver, &data(21)).unwrap().seq, 20);
    let ack = receive(&mut receiver, &data(20)).unwrap();
    assert_eq!((ack.seq, ack.sack[0].is_empty()), (22, true));
}

#[test]
fn acknowledgements_are_ect_if_marks_are_counted_or_the_control_needs_ecn() {
    let field = |mode, needs_ecn| {
        let ecn = EcnAbility { ect: Ecn::Ect1, needs_ecn, ..EcnAbility::NONE };
        let mut receiver = linux(2).with_ecn(ecn);
        receiver.agree(mode);
        receiver.acknowledge(Time::ZERO, 0, 0, 52).ecn
    };
    let modes = [Mode::NotEcn, Mode::Classic, Mode::Accurate];
    let (no, yes) = (Ecn::NotEct, Ecn::Ect1);
    assert_eq!(modes.map(|mode| field(mode, false)), [no, no, yes]);
    assert_eq!(modes.map(|mode| field(mode, true)), [no, yes, yes]);
}

#[test]
fn options_count_in_the_size_of_an_acknowledgement() {
    // RFC 2018 §3: SACK takes 2 bytes and 8 per block, padded to 4; RFC 9768 §3.2.3: the option
    // takes 2 and 3 per field.
    let size = |ooo: &[u32], mode, counts_options| {
        let rule = AckRule { quick: 0, counts_options, ..LINUX.ack };
        let mut receiver = Receiver::new(rule, true);
        receiver.agree(mode);
        ooo.iter().for_each(|&seq| {
            receiver.on_data(Time::ZERO, &data(seq));
        });
        let ack = receiver.acknowledge(Time::ZERO, 0, 0, 52);
        assert_eq!(ack.ip_bytes, ack.link_bytes);
        ack.ip_bytes
    };
    assert_eq!(size(&[], Mode::Classic, true), 52);
    assert_eq!([size(&[2], Mode::Classic, true), size(&[2, 4], Mode::Classic, true)], [64, 72]);
    assert_eq!([size(&[], Mode::Accurate, true), size(&[2], Mode::Accurate, true)], [64, 76]);
    assert_eq!(size(&[2, 4], Mode::Accurate, false), 52);
}
