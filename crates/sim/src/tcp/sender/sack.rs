//! Reads an acknowledgement: delivered segments, duplicates, and a round-trip sample.

use sojourn_aqm::{Span, Time};

use super::{Before, Sender, State};
use crate::cc::Ack;
use crate::packet::{Block, Packet};
use crate::tcp::rtt::stamped_rtt;
use crate::tcp::scoreboard::{Arrival, Delivery};

/// Whether the first SACK block reports a segment that arrived twice: it lies below the
/// acknowledgement number or within the second block (RFC 2883 §4).
pub(super) fn is_dsack(ack: &Packet) -> bool {
    let [first, second, _] = ack.sack;
    let within = !second.is_empty() && second.start <= first.start && first.end <= second.end;
    first.end <= ack.seq || within
}

impl Sender {
    /// Updates the scoreboard (RFC 6675 §4, `Update()`) and records the delivered segments. Returns
    /// the D-SACK block if there is one. `echo` is the echoed timestamp.
    #[inline]
    pub(super) fn process_sack(
        &mut self,
        now: Time,
        ack: &Packet,
        echo: Option<Time>,
        delivery: &mut Delivery,
    ) -> Option<Block> {
        let sack = self.sack_blocks(ack);
        let point = self.point_of_last_timeout();
        let arrival = Arrival { now, point, min_rtt: self.rtt.min(), echo };
        self.board.acknowledge(ack.seq, sack, arrival, delivery);
        self.note_reordering(delivery);
        let dsack =
            sack.first().copied().filter(|_| is_dsack(ack) && self.answers_retransmission());
        delivery.packets += u32::from(dsack.is_some()); // as in Linux `tcp_dsack_seen`
        if delivery.advanced {
            self.timeouts.count = 0;
            if !self.profile.sack && !self.is_partially_acknowledged() {
                self.board.reset_duplicates();
            }
        }
        dsack
    }

    /// Whether a D-SACK can report a retransmission. If there are more of them, the network made
    /// copies (Linux 5.10 `tcp_dsack_seen`; fact tcp-59).
    fn answers_retransmission(&mut self) -> bool {
        self.sent.duplicates += 1;
        !self.profile.skips_copies || self.sent.duplicates <= self.sent.retransmissions
    }

    #[inline]
    pub(super) fn note_reordering(&mut self, delivery: &Delivery) {
        if let Some(distance) = delivery.reordered {
            self.reordering.observe(distance);
        }
    }

    /// Whether a recovery is in progress that the acknowledgement number has not completed. Only
    /// during such a recovery do duplicates of an earlier number still count, minus the segments
    /// acknowledged since (RFC 6582 §3.2 step 3). RFC 5681 §3.2 counts duplicates of one number.
    fn is_partially_acknowledged(&self) -> bool {
        self.episode.state == State::Recovery && self.board.una() < self.episode.recovery_point
    }

    /// The SACK blocks of an acknowledgement, up to the first empty one, if SACK was negotiated
    /// (RFC 2018 §2).
    #[inline]
    fn sack_blocks<'a>(&self, ack: &'a Packet) -> &'a [Block] {
        if self.profile.sack && !ack.sack[0].is_empty() { &ack.sack } else { &[] }
    }

    /// Takes a round-trip sample by Karn's rule (RFC 6298 §3): a segment sent more than once gives
    /// none, unless the echoed timestamp identifies the acknowledged transmission. Inlined into
    /// both callers, because a call costs 0.3 % of a run with many losses.
    #[inline(always)]
    pub(super) fn sample_rtt(&mut self, now: Time, delivery: &Delivery, echo: Option<Time>) -> Ack {
        let since = |sent: Time| now.since(sent);
        let echoed = echo
            .filter(|_| delivery.advanced && delivery.oldest_sent.is_none())
            .map(|echo| stamped_rtt(now, echo));
        let acked = Ack {
            now,
            delivered: delivery.packets,
            rtt: delivery.newest_sent.map(since).or(echoed),
            srtt: self.rtt.smoothed(),
            una: self.board.una(),
            nxt: self.board.nxt(),
            paced: self.pacer.is_some(),
        };
        self.take_samples(&acked, delivery.oldest_sent.map(since).or(echoed));
        acked
    }

    /// Processes the round trips measured by an acknowledgement; `rtt` is that of the oldest
    /// segment.
    #[inline]
    pub(super) fn take_samples(&mut self, acked: &Ack, rtt: Option<Span>) {
        if let Some(newest) = acked.rtt {
            self.rtt.observe_min(newest);
        }
        if let Some(rtt) = rtt {
            self.rtt.sample(rtt, acked.una, acked.nxt);
            self.tell_rtt(acked);
        }
    }

    /// Without SACK, a duplicate acknowledgement means that some segment has arrived (Linux
    /// `tcp_add_reno_sack`). More duplicates than segments that can have arrived mean reordering.
    /// After a timeout, duplicates may be caused by unnecessary retransmissions and do not count
    /// (RFC 6582 §4; ns-2 `NewRenoTcpAgent::recv`; ns-3 `TcpSocketBase::DupAck`), except in F-RTO
    /// if they are caused by new data (Linux `tcp_process_loss`).
    pub(super) fn count_duplicate_ack(&mut self, delivery: &mut Delivery) {
        let answers_new = self.profile.undo && self.board.nxt() > self.episode.recovery_point;
        let in_repair = self.episode.state == State::Loss && !answers_new;
        if in_repair || self.board.outstanding() == 0 {
            return;
        }
        if self.board.count_duplicate() {
            delivery.packets += 1;
            delivery.sacked += 1;
        } else {
            self.reordering.observe(self.board.outstanding());
        }
    }

    /// Whether losses must be looked for (Linux `tcp_ack_is_dubious`). This uses the state before
    /// the acknowledgement, which may both end an episode and reveal the loss that starts the next.
    #[inline]
    pub(super) fn is_dubious(&self, before: &Before, delivery: &Delivery, dsack: bool) -> bool {
        before.state != State::Open
            || self.episode.state != State::Open
            || delivery.sacked > 0
            || self.board.sacked() > 0
            || dsack
    }

    /// Whether SACKs report data sent before the head was last sent. Then the head may still be in
    /// flight, and the timer restarts. If later data restarted it too, it would never expire in a
    /// long recovery (Linux `tcp_clean_rtx_queue`).
    #[inline]
    pub(super) fn confirms_head(&mut self, delivery: &Delivery) -> bool {
        delivery.sacked > 0
            && delivery.oldest_sent.is_some_and(|sent| sent < self.board.head_sent())
    }
}
