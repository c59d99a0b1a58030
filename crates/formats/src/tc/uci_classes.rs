//! The classes of sqm-scripts 1.6, `simplest.qos` and `simple.qos`, as commands of tc.

/// The classes of a direction.
pub(super) struct ClassesOfSqm<'a> {
    pub(super) device: &'a str,
    pub(super) kbit: i64,
    pub(super) is_egress: bool,
    /// Options of every class for the overhead.
    pub(super) overhead: &'a str,
}

/// Bytes of DSCPs that simple.qos calls urgent, with a mask: EF, CS6, AF42, and the type of service
/// "minimise delay" at any precedence.
const URGENT: [(u8, u8); 4] = [(0xb8, 0xfc), (0xc0, 0xfc), (0x90, 0xfc), (0x10, 0x3c)];
/// CS1, which is background.
const BACKGROUND: (u8, u8) = (0x20, 0xfc);

impl ClassesOfSqm<'_> {
    /// A single leaf; `leaf` makes a discipline with a quantum, or with its default for 0.
    pub(super) fn single(&self, leaf: impl Fn(u64) -> String) -> String {
        let ClassesOfSqm { kbit, .. } = *self;
        let (top, class) = (self.top(), self.class("10", kbit, kbit, ""));
        top + &class + &self.queue("10", &leaf(0))
    }

    /// Priority, best effort and background.
    pub(super) fn three(&self, leaf: impl Fn(u64) -> String) -> String {
        let ClassesOfSqm { device, kbit, is_egress, .. } = *self;
        // The scripts call this "a little slop at the top"; it is no less than tc's lowest rate.
        let most = (kbit - 16).max(1);
        let least = (kbit / 6).max(1);
        let urgent = if is_egress { 128 } else { 32 };
        let quanta = if is_egress { [300; 3] } else { [500, 1500, 300] };
        let mut text = self.top()
            + &self.class("11", urgent, (kbit / 3).max(1), "prio 1")
            + &self.class("12", least, most, "prio 2")
            + &self.class("13", least, most, "prio 3");
        for (minor, quantum) in ["11", "12", "13"].into_iter().zip(quanta) {
            text.push_str(&self.queue(minor, &leaf(quantum)));
        }
        let to_class = URGENT.map(|it| (it, "11")).into_iter().chain([(BACKGROUND, "13")]);
        for ((value, mask), minor) in to_class {
            text.push_str(&format!(
                "tc filter add dev {device} parent 1: protocol ip prio 1 u32 match ip dsfield \
                 {value:#x} {mask:#x} flowid 1:{minor}\n"
            ));
        }
        text
    }

    fn top(&self) -> String {
        let ClassesOfSqm { device, kbit, overhead, .. } = self;
        let buckets = self.buckets();
        format!(
            "tc class add dev {device} parent 1: classid 1:1 htb rate {kbit}kbit ceil {kbit}kbit \
             {buckets} {overhead}\n"
        )
    }

    fn class(&self, minor: &str, rate: i64, ceil: i64, priority: &str) -> String {
        let ClassesOfSqm { device, overhead, .. } = self;
        let buckets = self.buckets();
        format!(
            "tc class add dev {device} parent 1:1 classid 1:{minor} htb rate {rate}kbit ceil \
             {ceil}kbit {buckets} {priority} {overhead}\n"
        )
    }

    fn buckets(&self) -> String {
        let burst = burst(self.kbit);
        format!("burst {burst}b cburst {burst}b quantum {burst}")
    }

    fn queue(&self, minor: &str, discipline: &str) -> String {
        format!("tc qdisc add dev {} parent 1:{minor} handle {minor}0: {discipline}\n", self.device)
    }
}

/// One millisecond at the rate, at least a packet of 1500 B in cells.
pub(super) fn burst(kbit: i64) -> i64 {
    const LEAST_BYTES: i64 = 1749;
    LEAST_BYTES.max(kbit / 8)
}
