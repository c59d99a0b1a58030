//! The scoreboard, one rule at a time. Segments count from 0.

use super::*;
use crate::packet::Block;

fn ms(millis: u64) -> Time {
    Time::ZERO + Span::from_millis(millis)
}

fn at(millis: u64) -> Arrival {
    Arrival { now: ms(millis), point: 0, min_rtt: None, echo: None }
}

fn block(start: u32, end: u32) -> Block {
    Block { start, end }
}

/// `count` segments, sent one per millisecond.
fn sent(sack: bool, count: u32) -> Scoreboard {
    let mut board = Scoreboard::new(sack);
    for n in 0..count {
        assert_eq!(board.send_new(ms(u64::from(n))), n);
    }
    board
}

fn acknowledge(board: &mut Scoreboard, ack: u32, sack: &[Block], arrival: &Arrival) -> Delivery {
    let mut delivery = Delivery::default();
    board.acknowledge(ack, sack, *arrival, &mut delivery);
    delivery
}

#[test]
fn packets_in_flight_follow_sacks_losses_and_retransmissions() {
    let mut board = sent(true, 10);
    let delivery = acknowledge(&mut board, 0, &[block(3, 5)], &at(100));
    assert_eq!((delivery.packets, delivery.sacked, delivery.advanced), (2, 2, false));
    assert_eq!((board.sacked(), board.in_flight(), board.highest()), (2, 8, 5));
    assert_eq!(board.mark_below(3), 3);
    assert_eq!((board.lost(), board.in_flight(), board.next_lost()), (3, 5, Some(0)));
    board.retransmit(ms(101), 0);
    assert_eq!((board.retransmitted(), board.in_flight(), board.next_lost()), (1, 6, Some(1)));
    let delivery = acknowledge(&mut board, 1, &[block(3, 5)], &at(200));
    assert_eq!((delivery.packets, delivery.sacked, delivery.advanced), (1, 0, true));
    assert_eq!((board.retransmitted(), board.lost(), board.in_flight()), (0, 2, 5));
    // The segments of the last two holes arrive, and everything below 5 is acknowledged.
    let delivery = acknowledge(&mut board, 5, &[], &at(201));
    assert_eq!((delivery.packets, board.sacked(), board.lost()), (2, 0, 0));
    assert_eq!((board.outstanding(), board.in_flight()), (5, 5));
}

#[test]
fn lost_segments_that_left_at_one_time_are_sent_again_together() {
    let mut board = Scoreboard::new(true);
    for now in [0, 0, 0, 0, 1, 1, 1, 1] {
        board.send_new(ms(now));
    }
    acknowledge(&mut board, 0, &[block(6, 8)], &at(100));
    board.mark_below(6);
    assert_eq!([0, 2, 4].map(|seq| board.lost_together(seq, 10)), [4, 2, 2]);
    assert_eq!(board.lost_together(0, 3), 3);
    board.retransmit(ms(101), 2);
    assert_eq!(board.lost_together(0, 10), 2);
    assert_eq!(board.sacked_rows(), (2, 1));
}

#[test]
fn sacks_count_once_and_only_for_outstanding_segments() {
    let mut board = sent(true, 10);
    acknowledge(&mut board, 2, &[block(8, 20)], &at(100));
    assert_eq!((board.sacked(), board.highest()), (2, 10));
    let again = acknowledge(&mut board, 2, &[block(0, 2), block(8, 10), block(7, 9)], &at(101));
    assert_eq!((again.packets, again.sacked, board.sacked()), (1, 1, 3));
    assert!(board.is_sacked(7) && !board.is_sacked(6));
    assert_eq!([1, 3, 4].map(|n| board.sacked_from_top(n)), [Some(9), Some(7), None]);
}

#[test]
fn samples_come_from_the_oldest_acknowledged_and_the_newest_sacked_segment() {
    let mut board = sent(true, 10);
    let delivery = acknowledge(&mut board, 3, &[], &at(100));
    assert_eq!((delivery.oldest_sent, delivery.newest_sent), (Some(ms(0)), Some(ms(2))));
    assert_eq!(delivery.newest, Some(Transmission { sent: ms(2), seq: 2 }));
    let delivery = acknowledge(&mut board, 5, &[block(7, 9)], &at(101));
    assert_eq!((delivery.oldest_sent, delivery.newest_sent), (Some(ms(3)), Some(ms(8))));
    assert_eq!(delivery.newest, Some(Transmission { sent: ms(8), seq: 8 }));
    let delivery = acknowledge(&mut board, 5, &[block(6, 9)], &at(102));
    assert_eq!((delivery.oldest_sent, delivery.newest_sent), (Some(ms(6)), Some(ms(6))));
}

#[test]
fn a_retransmitted_segment_gives_no_sample_and_spoils_those_acknowledged_with_it() {
    let mut board = sent(true, 10);
    board.mark_below(1);
    board.retransmit(ms(50), 0);
    let delivery = acknowledge(&mut board, 3, &[], &at(100));
    assert_eq!((delivery.oldest_sent, delivery.newest_sent), (None, None));
    assert_eq!(delivery.packets, 3);
}

#[test]
fn the_reordering_distance_is_counted_from_the_highest_sack() {
    let mut board = sent(true, 10);
    assert_eq!(acknowledge(&mut board, 0, &[block(7, 8)], &at(100)).reordered, None);
    assert_eq!(
        acknowledge(&mut board, 0, &[block(3, 4), block(7, 8)], &at(101)).reordered,
        Some(5)
    );
    // A retransmitted segment is not reordered.
    board.mark_below(1);
    board.retransmit(ms(102), 0);
    assert_eq!(acknowledge(&mut board, 1, &[], &at(200)).reordered, None);
}

#[test]
fn originals_are_segments_below_the_point_that_were_never_retransmitted() {
    let original = |retransmitted: bool, point| {
        let mut board = sent(true, 3);
        if retransmitted {
            board.mark_below(1);
            board.retransmit(ms(50), 0);
        }
        acknowledge(&mut board, 1, &[], &Arrival { point, ..at(100) }).original
    };
    assert_eq!([original(false, 0), original(false, 1), original(true, 1)], [false, true, false]);
}

#[test]
fn an_arrival_too_early_for_the_retransmission_is_the_original() {
    // RFC 8985 §6.2 step 2: less than a minimum round trip after the retransmission, or an echo of
    // an earlier tick.
    let newest = |now, min_rtt: Option<u64>, echo: Option<u64>| {
        let mut board = sent(true, 3);
        board.mark_below(1);
        board.retransmit(ms(50), 0);
        let (min_rtt, echo) = (min_rtt.map(Span::from_millis), echo.map(ms));
        acknowledge(&mut board, 1, &[], &Arrival { min_rtt, echo, ..at(now) });
        board.newest.sent
    };
    assert_eq!(newest(89, Some(40), None), Time::ZERO);
    assert_eq!(newest(90, Some(40), None), ms(50));
    assert_eq!(newest(120, Some(40), Some(49)), Time::ZERO);
    assert_eq!(newest(120, Some(40), Some(50)), ms(50));
}

#[test]
fn rack_marks_what_was_sent_before_the_newest_arrival_once_it_is_overdue() {
    let mut board = sent(true, 10);
    acknowledge(&mut board, 0, &[block(5, 6)], &at(105)); // a round trip of 100 ms
    let window = Span::from_millis(25);
    let (marked, due) = board.detect_lost(ms(124), window);
    assert_eq!((marked.segments, marked.waits, due), (0, true, Some(ms(129))));
    let (marked, due) = board.detect_lost(ms(125), window);
    assert_eq!((marked.segments, marked.again, due), (1, 0, Some(ms(129))), "0 was sent first");
    let (marked, due) = board.detect_lost(ms(129), window);
    assert_eq!((marked.segments, marked.waits, due), (4, false, None), "6 was sent later than 5");
    assert_eq!(board.lost(), 5);
}

#[test]
fn rack_marks_a_retransmission_again_if_later_data_arrives() {
    let mut board = sent(true, 10);
    acknowledge(&mut board, 0, &[block(1, 4)], &at(103));
    board.detect_lost(ms(103), Span::ZERO);
    board.retransmit(ms(104), 0);
    acknowledge(&mut board, 0, &[block(1, 10)], &at(110));
    assert_eq!(board.detect_lost(ms(110), Span::ZERO).0.segments, 0, "9 was sent before it");
    let seq = board.send_new(ms(105));
    acknowledge(&mut board, 0, &[block(1, seq + 1)], &at(205));
    let (marked, due) = board.detect_lost(ms(205), Span::from_millis(10));
    assert_eq!((marked.segments, due), (0, Some(ms(214))));
    let (marked, due) = board.detect_lost(ms(214), Span::from_millis(10));
    assert_eq!((marked.segments, marked.again, due), (1, 1, None));
    assert_eq!((board.retransmitted(), board.next_lost()), (0, Some(0)));
}

#[test]
fn segments_below_a_limit_are_marked_once_unless_they_have_arrived() {
    let mut board = sent(true, 10);
    acknowledge(&mut board, 0, &[block(2, 3)], &at(100));
    assert_eq!([board.mark_below(4), board.mark_below(4), board.mark_below(5)], [3, 0, 1]);
    assert_eq!(board.mark_below(50), 5, "only what was sent");
    assert_eq!(board.in_flight(), 0);
}

#[test]
fn fack_marks_a_retransmission_if_a_segment_sent_after_it_is_sacked() {
    let mut board = sent(true, 10);
    board.mark_below(1);
    board.retransmit(ms(100), 0);
    board.send_new(ms(101));
    acknowledge(&mut board, 0, &[block(9, 10)], &at(150));
    assert_eq!(board.mark_overtaken(), 0);
    acknowledge(&mut board, 0, &[block(10, 11)], &at(201));
    assert_eq!([board.mark_overtaken(), board.mark_overtaken()], [1, 0]);
}

#[test]
fn a_timeout_marks_the_head_and_with_rack_only_what_is_old_enough() {
    let marked = |rack, now| {
        let mut board = sent(true, 10);
        acknowledge(&mut board, 1, &[block(9, 10)], &at(100)); // 0 arrived: a round trip of 100 ms
        board.mark_all_lost(ms(now), rack);
        (board.lost(), board.sacked())
    };
    assert_eq!(marked(false, 103), (8, 1));
    assert_eq!(marked(true, 50), (1, 1), "the head alone");
    assert_eq!(marked(true, 103), (3, 1), "sent at 1, 2 and 3 ms");
}

#[test]
fn a_timeout_with_the_head_sacked_clears_all_sacks() {
    let mut board = sent(true, 5);
    acknowledge(&mut board, 0, &[block(0, 2)], &at(100));
    board.mark_all_lost(ms(400), true);
    assert_eq!((board.sacked(), board.lost(), board.highest()), (0, 5, 0));
}

#[test]
fn forgotten_losses_are_judged_again_and_retransmissions_stay_in_flight() {
    let mut board = sent(true, 5);
    board.mark_below(3);
    board.retransmit(ms(100), 0);
    board.forget_losses();
    assert_eq!((board.lost(), board.retransmitted(), board.next_lost()), (0, 1, None));
    assert_eq!(board.mark_below(3), 2, "a retransmission is not marked by its number");
}

#[test]
fn a_probe_is_not_in_flight_twice_and_counts_as_sent_again() {
    let mut board = sent(true, 2);
    assert!(!board.has_sent_again());
    board.send_probe(ms(200), 1);
    assert_eq!((board.in_flight(), board.has_sent_again()), (2, false), "not the head");
    acknowledge(&mut board, 1, &[], &at(201));
    assert!(board.has_sent_again());
    let delivery = acknowledge(&mut board, 2, &[], &at(202));
    assert_eq!((delivery.packets, delivery.oldest_sent), (1, None));
    assert!(!board.has_sent_again(), "nothing is outstanding");
}

#[test]
fn without_sack_an_acknowledgement_accounts_for_one_duplicate_less_than_it_advances() {
    let mut board = sent(false, 6);
    assert!((0..4).all(|_| board.count_duplicate()));
    let delivery = acknowledge(&mut board, 3, &[], &at(100));
    assert_eq!((delivery.packets, board.sacked()), (1, 2), "the others were counted before");
    // Duplicates count at most as many segments as are outstanding behind the head.
    let delivery = acknowledge(&mut board, 4, &[], &at(101));
    assert_eq!((delivery.packets, board.sacked(), board.in_flight()), (1, 1, 1));
    assert!(!board.count_duplicate());
    board.mark_all_lost(ms(400), false);
    assert_eq!((board.sacked(), board.lost(), board.in_flight()), (0, 2, 0));
}

#[test]
fn more_is_delivered_than_there_were_duplicates() {
    let mut board = sent(false, 6);
    assert!(board.count_duplicate());
    let delivery = acknowledge(&mut board, 4, &[], &at(100));
    assert_eq!((delivery.packets, board.sacked()), (3, 0));
}

#[test]
fn the_ring_grows_with_what_is_outstanding() {
    let mut board = sent(true, 14);
    acknowledge(&mut board, 10, &[block(12, 13)], &at(100));
    for n in 14..40 {
        board.send_new(ms(n));
    }
    assert!(board.is_sacked(12) && !board.is_sacked(11) && !board.is_sacked(28));
    assert_eq!((board.head_sent(), board.sacked(), board.outstanding()), (ms(10), 1, 30));
    assert_eq!(acknowledge(&mut board, 40, &[], &at(200)).newest.unwrap().sent, ms(39));
}

#[test]
fn newly_marked_segments_are_reported_once() {
    let mut board = sent(true, 5);
    board.mark_below(1);
    assert!(board.take_fresh_losses().is_empty(), "nobody has asked");
    board.keep_fresh_losses();
    board.mark_below(3);
    assert_eq!((board.take_fresh_losses(), board.take_fresh_losses()), (vec![1, 2], vec![]));
}

#[test]
fn duplicates_never_outnumber_the_segments_that_may_have_arrived() {
    let mut board = Scoreboard::new(false);
    for _ in 0..10 {
        board.send_new(Time::ZERO);
    }
    for _ in 0..9 {
        assert!(board.count_duplicate());
    }
    assert!(!board.count_duplicate(), "the head is missing");
    assert_eq!(board.mark_below(1), 1);
    assert_eq!((board.sacked(), board.in_flight()), (9, 0));
    // A partial acknowledgement accounts for one duplicate less than it advances, because a hole
    // follows.
    let _ = acknowledge(&mut board, 1, &[], &at(0));
    assert_eq!(board.mark_below(2), 1);
    assert_eq!((board.sacked(), board.lost(), board.in_flight()), (8, 1, 0));
}

#[test]
fn partial_acknowledgements_leave_no_more_duplicates_than_segments() {
    // Found by a random scenario: without SACK, duplicates, then one segment after the other.
    let mut board = Scoreboard::new(false);
    (0..6).for_each(|_| {
        board.send_new(Time::ZERO);
    });
    assert!((0..4).all(|_| board.count_duplicate()));
    board.mark_below(1);
    board.retransmit(Time::ZERO, 0);
    for una in 1..=5 {
        acknowledge(&mut board, una, &[], &at(1));
        board.mark_below(una + 1);
        assert!(board.in_flight() <= board.outstanding(), "{board:?}");
        if let Some(seq) = board.next_lost() {
            board.retransmit(Time::ZERO, seq);
        }
    }
}

#[test]
fn an_old_record_at_the_place_of_the_next_segment_is_not_a_retransmission() {
    let mut board = sent(true, 16);
    board.send_probe(ms(200), 0);
    acknowledge(&mut board, 16, &[], &at(300));
    assert!(!board.has_sent_again(), "16 has the place of 0 in the ring");
}

#[test]
fn rack_skips_retransmitted_segments_among_first_transmissions() {
    let mut board = sent(true, 10);
    board.send_probe(ms(200), 9);
    acknowledge(&mut board, 0, &[block(5, 6)], &at(201));
    let (marked, _) = board.detect_lost(ms(201), Span::ZERO);
    assert_eq!(marked.segments, 5, "0 to 4, sent before 5");
    // The probe arrives: everything sent before it is now overdue.
    acknowledge(&mut board, 0, &[block(5, 6), block(9, 10)], &at(300));
    let (marked, _) = board.detect_lost(ms(300), Span::ZERO);
    assert_eq!(marked.segments, 3, "6 to 8");
}
