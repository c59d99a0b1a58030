//! Scenarios of many links or many groups of flows, to notice when the cost of a packet grows with
//! their number.

use sojourn_record::rows::{Run, Scope};
use sojourn_scenario::{Resolved, Scenario, Source};

use super::measured::Measured;

/// The objects of which a case has many.
#[derive(Clone, Copy)]
enum Many {
    /// Groups of one flow on a link, each with another RTT.
    Groups,
    /// Links in a chain.
    Links,
}

/// One case.
pub struct Large {
    name: &'static str,
    many: Many,
    count: u32,
}

/// All cases.
pub const CASES: [Large; 6] = [
    Large { name: "groups-1", many: Many::Groups, count: 1 },
    Large { name: "groups-1000", many: Many::Groups, count: 1_000 },
    Large { name: "lot-10", many: Many::Links, count: 10 },
    Large { name: "lot-100", many: Many::Links, count: 100 },
    Large { name: "lot-400", many: Many::Links, count: 400 },
    Large { name: "lot-1000", many: Many::Links, count: 1_000 },
];

/// Flows of the case with many groups.
const FLOWS: u32 = 1_000;

impl Measured for Large {
    fn name(&self) -> &str {
        self.name
    }

    fn describe(&self) -> String {
        let Large { count, .. } = self;
        match self.many {
            Many::Groups => {
                format!("codel, {FLOWS} flows of CUBIC in groups of other RTTs: {count}, 1 Gbit/s")
            }
            Many::Links => format!(
                "parking lot of {count} links, codel, 5 Mbit/s: a flow over all, one over each; \
                 by hop"
            ),
        }
    }

    fn between_ms(&self) -> (u64, u64) {
        match self.many {
            Many::Groups => (400, 700),
            Many::Links => (500, 800),
        }
    }

    fn plan(&self, milliseconds: u64) -> Resolved {
        let head = format!("name = \"large\"\nduration = \"{milliseconds}ms\"\n");
        let head = head + "record = { sample = \"100ms\" }\n";
        let text = match self.many {
            Many::Groups => head + &groups(self.count),
            Many::Links => head + &lot(self.count),
        };
        let no_files = |_: &str| Err(std::io::ErrorKind::NotFound.into());
        let scenario = Scenario::load(&text, &Source::default(), &no_files);
        scenario.unwrap_or_else(|why| panic!("{}: {why}", self.name)).resolved().clone()
    }

    /// Every link of a parking lot counts, because a packet passes many links.
    fn packets_sent(&self, run: &Run) -> u64 {
        let sent = run.summary.iter().filter(|row| row.scope == Scope::Queue);
        sent.filter(|row| row.metric == "sent").map(|row| row.value as u64).sum()
    }
}

fn groups(count: u32) -> String {
    let link = "[links.bottleneck]\nrate = \"1gbit\"\ndelay = \"5ms\"\nbuffer = \"5000p\"\n\
                queue = \"codel\"\n";
    let flows = FLOWS / count;
    let group = |index| {
        // The RTTs are spread evenly between 20 and 60 ms.
        let rtt_us = 20_000 + 40_000 * index / count;
        format!(
            "[[flows]]\nname = \"g{index}\"\nclass = \"all\"\ncount = {flows}\n\
             path = [\"bottleneck\"]\nrtt = \"{rtt_us}us\"\ncc = \"cubic\"\n\
             start = \"0s..100ms\"\napp = {{ kind = \"bulk\" }}\n"
        )
    };
    (0..count).fold(link.to_owned(), |text, index| text + &group(index))
}

fn lot(links: u32) -> String {
    let link = |index| {
        format!(
            "[links.l{index}]\nrate = \"5mbit\"\ndelay = \"300us\"\nbuffer = \"100p\"\n\
             queue = \"codel\"\n"
        )
    };
    let cross = |index| {
        format!(
            "[[flows]]\nname = \"f{index}\"\nclass = \"cross\"\npath = [\"l{index}\"]\n\
             rtt = \"30ms\"\ncc = \"cubic\"\nstart = \"0s..100ms\"\napp = {{ kind = \"bulk\" }}\n"
        )
    };
    let path: Vec<String> = (0..links).map(|index| format!("\"l{index}\"")).collect();
    let long = format!(
        "[[flows]]\nname = \"long\"\npath = [{}]\nrtt = \"2s\"\n\
         app = {{ kind = \"cbr\", rate = \"1mbit\", packet = \"1000B\" }}\n",
        path.join(", ")
    );
    (0..links).map(link).chain([long]).chain((0..links).map(cross)).collect()
}
