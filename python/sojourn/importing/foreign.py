"""Files of other programs without a measurement over time: what they are, and the remedy."""

from __future__ import annotations

import re
from typing import Any

from sojourn.importing.speedtests import keys_of

_HEAD_LINES = 40
_LONGEST_LINE = 500

_TABLE = "write its times and rates as CSV, such as `time_s,rate_mbps`"
_PACKETS = "is a list of packets as text; import the capture itself, pcap or pcapng"
_ROUTE = "is a report on a route, without round trips over time; import the text of ping"

_TEXTS = tuple(
    (re.compile(pattern), words)
    for pattern, words in (
        (r"(?i)\s*<(\?xml|!doctype|html|flowmonitor)", "is XML or a web page, not a measurement "
         "over time; of ns-3, import its pcap traces"),
        (r"[-+rdeh] [\d.]+ (/NodeList/|\d+ \d+ \w+ \d+ -)",
         "is a trace of ns-2 or ns-3 as text; import the pcap traces of ns-3"),
        (r"(MIGRATED )?[A-Z]+ (STREAM|REQUEST/RESPONSE|RR|MAERTS)\b|Interim result:|NETPERF_INTERIM"
         r"|THROUGHPUT=", "is netperf's text; run it through Flent, or run iperf3 with --json"),
        (r"iperf3: ", "begins with a message of iperf3; keep its JSON only, from the first { on"),
        (r"[-+]?\d{14}(\.\d+)?,[^,]*,\d+,[^,]*,\d+,-?\d+,[\d.]+-[\d.]+,",
         f"is iperf 2's CSV; {_TABLE}, or run iperf3 with --json"),
        (r"traceroute to |\s*Tracing route |HOST: .*Loss%|Mtr_Version,|[xh] \d+ \S+$", _ROUTE),
        (r"--- (ow|tw)ping statistics", "is a summary of owping or twping, without values over "
         "time; run irtt client with -o FILE.json"),
        (r"\d\d:\d\d:\d\d\.\d+ (IP6?|ARP)\b|\s*\d+ +\d+\.\d+ +\S+ (\u2192|->) \S+ "
         r'|"?No\."?,"?Time"?,"?Source', _PACKETS),
        (r"(Netid +)?State +Recv-Q|\s+(\w+ )?wscale:|\s.*\brtt:[\d.]+/[\d.]+ .*\bcwnd:\d",
         "is the output of ss; import a capture of its connections, pcap or pcapng"),
        (r"==== SUMMARY ====", "is networkQuality's text for people; run it with -c"),
        (r"#group,|#datatype,", f"is annotated CSV of InfluxDB; {_TABLE}"),
        (r"Linux \d.*\(\d+ CPU\)", f"is sar's text; {_TABLE}"),
        (r"(tc )?(qdisc|class|filter) \w+ ", "is a set-up of tc, which `sojourn tc` reads"),
        (r"sep=.$", "begins with a line for spreadsheets (sep=); remove that line"),
    )
)  # fmt: skip

_OBJECTS: tuple[tuple[set[str], str], ...] = (
    ({"qlog_version"}, "is a qlog, the events of one QUIC endpoint; import a capture of its "
     "packets, pcap or pcapng"),
    ({"qlog_format"}, "is a qlog, the events of one QUIC endpoint; import a capture of its "
     "packets, pcap or pcapng"),
    ({"kind", "handle"}, "is the output of tc -j, without times; `sojourn tc` reads set-ups"),
    ({"_source"}, _PACKETS),
    ({"report", "hubs"}, _ROUTE),
    ({"data", "resultType"}, f"is an answer of Prometheus; {_TABLE}"),
    ({"msm_id", "prb_id"}, "is a result of RIPE Atlas; write its times and round trips as CSV, "
     "such as `time_s,rtt_ms`"),
    ({"log", "entries"}, "is a recording of a browser (HAR); import a capture of its packets"),
)  # fmt: skip


def text(lines: list[str]) -> str | None:
    """What a text is and what to do with it; None if it is not known here."""
    for line in lines[:_HEAD_LINES]:
        for pattern, words in _TEXTS:
            if pattern.match(line[:_LONGEST_LINE]):
                return words
    return None


def document(found: Any) -> str | None:
    """`text` for a JSON document."""
    while isinstance(found, list) and found:
        found = found[0]
    if isinstance(found, dict):
        known = keys_of(found)
        return next((words for keys, words in _OBJECTS if keys <= known), None)
    return None
