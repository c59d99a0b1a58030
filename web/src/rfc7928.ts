// The scenarios of RFC 7928, in its order.

import aggressive from "../../python/sojourn/scenarios/rfc7928/aggressive.toml";
import bursts from "../../python/sojourn/scenarios/rfc7928/bursts.toml";
import fastCapacity from "../../python/sojourn/scenarios/rfc7928/fast-capacity.toml";
import friendlySame from "../../python/sojourn/scenarios/rfc7928/friendly-same.toml";
import friendlyWindows from "../../python/sojourn/scenarios/rfc7928/friendly-windows.toml";
import heavyCongestion from "../../python/sojourn/scenarios/rfc7928/heavy-congestion.toml";
import initialWindow from "../../python/sojourn/scenarios/rfc7928/initial-window.toml";
import mediumCongestion from "../../python/sojourn/scenarios/rfc7928/medium-congestion.toml";
import mildCongestion from "../../python/sojourn/scenarios/rfc7928/mild-congestion.toml";
import rttFairness from "../../python/sojourn/scenarios/rfc7928/rtt-fairness.toml";
import unresponsive from "../../python/sojourn/scenarios/rfc7928/unresponsive.toml";
import unresponsiveAlone from "../../python/sojourn/scenarios/rfc7928/unresponsive-alone.toml";
import varyingCapacity from "../../python/sojourn/scenarios/rfc7928/varying-capacity.toml";
import varyingLoad from "../../python/sojourn/scenarios/rfc7928/varying-load.toml";

/** Name, title and text of each. */
export const RFC_7928: [string, string, string][] = [
  ["rfc7928/mild-congestion", "Mild congestion", mildCongestion],
  ["rfc7928/medium-congestion", "Medium congestion", mediumCongestion],
  ["rfc7928/heavy-congestion", "Heavy congestion", heavyCongestion],
  ["rfc7928/varying-load", "Load that varies", varyingLoad],
  ["rfc7928/bursts", "Bursts of every kind", bursts],
  ["rfc7928/friendly-same", "One Reno flow", friendlySame],
  ["rfc7928/friendly-windows", "Short transfers join a long flow", friendlyWindows],
  ["rfc7928/aggressive", "One CUBIC flow", aggressive],
  ["rfc7928/unresponsive", "Datagrams against Reno", unresponsive],
  ["rfc7928/unresponsive-alone", "Datagrams alone", unresponsiveAlone],
  ["rfc7928/initial-window", "First windows of ten packets", initialWindow],
  ["rfc7928/rtt-fairness", "Near and far", rttFairness],
  ["rfc7928/varying-capacity", "Capacity that changes", varyingCapacity],
  ["rfc7928/fast-capacity", "Capacity that swings", fastCapacity],
];
