//! Which flows share a host, as seen by CAKE: a PC downloads over four connections and plays a
//! video over one, from two servers (dtaht/sch_cake issue 133).

use sojourn_record::rows::Scope;

use crate::common::*;

/// One CUBIC connection does not use all of its half, because COBALT's drops make it pause.
const CLOSE: f64 = 0.05;

/// The share of the link that the one connection of the video gets. Hosts are the numbers of the
/// sending and receiving host, by default one pair per group.
fn share_of_video(isolation: &str, hosts: [Option<[u8; 2]>; 2]) -> f64 {
    let aqm = format!("cake:bandwidth=9mbit,isolation={isolation}");
    let flows = [("video", 1), ("download", 4)].into_iter().zip(hosts);
    let flows = flows.map(|((name, count), hosts)| {
        let mut flows = bulk(count, "cubic");
        (flows.name, flows.class, flows.hosts) = (name.into(), name.into(), hosts);
        (flows.return_delay, flows.rtt) = (ms(13), ms(20));
        flows
    });
    let mut bottleneck = link("b", &aqm, 1_000_000);
    bottleneck.delay = ms(5);
    let mut plan = scenario(20, vec![bottleneck], flows.collect());
    read_at(&mut plan, 5_000, None, None);
    let found = run(&plan);
    let goodput = |class| metric(&found, Scope::Class, class, "goodput");
    goodput("video") / (goodput("video") + goodput("download"))
}

/// One PC and two servers: isolation by source gives each server half of the link, isolation by
/// destination sees one host with five flows.
#[test]
fn the_flows_of_a_pc_share_it_by_source_or_by_destination() {
    let one_pc = [Some([0, 1]), Some([2, 1])];
    for (isolation, share) in [
        ("flows", 0.2),
        ("dst", 0.2),
        ("triple", 0.2),
        ("src", 0.5),
        ("srchost", 0.5),
        ("hosts", 0.5),
    ] {
        let found = share_of_video(isolation, one_pc);
        assert!((found - share).abs() < CLOSE, "{isolation}: {found:.3} in place of {share}");
    }
}

#[test]
fn groups_without_named_hosts_have_a_pair_each() {
    for isolation in ["src", "dst", "triple", "dsthost"] {
        let found = share_of_video(isolation, [None, None]);
        assert!((found - 0.5).abs() < CLOSE, "{isolation}: {found:.3}");
    }
}
