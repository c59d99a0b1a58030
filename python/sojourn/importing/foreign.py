"""Files of other programs without a measurement over time: what they are, and the remedy."""

from __future__ import annotations

import re
from typing import Any

from sojourn.importing.speedtests import keys_of

_HEAD_LINES = 40
_COMMENT = re.compile(r"\s*(# |#*$)")
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
        (r"(MIGRATED )?[A-Z]+ (STREAM|REQUEST/RESPONSE|RR|MAERTS)\b|THROUGHPUT=",
         "is netperf's text without interim results; run it with -D 0.2"),
        (r"iperf3: ", "begins with a message of iperf3; keep its JSON only, from the first { on"),
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
        (r" *[\d.]+ [KMG]?B / +[\d.]+ sec = +[\d.]+ [KMG]?bps|megabytes=[\d.]+ real_seconds=",
         f"is nuttcp's text; {_TABLE}, or run iperf3 with --json"),
        (r"\s*Speedtest by Ookla|Retrieving speedtest\.net|Ping: [\d.]+ ms$|[\d.]+ [KMG]bps\b",
         "is a speed test's text for people; run it again for JSON"),
        (r"\s+(eth|en|wlan|wl|ppp|tun)\S+( +|$)|\s*[KMG]?B/s in +[KMG]?B/s out|\"Dstat ",
         f"is the text of ifstat or dstat; {_TABLE}"),
        (r"\| IO Statistics ", _PACKETS),
        (r"version \d$", f"is a result of OMNeT++; {_TABLE}"),
        (r"time_\w+: +[\d.]+$|--\d{4}-\d\d-\d\d \d\d:\d\d:\d\d--  \w+://",
         f"is the text of curl or wget; {_TABLE}"),
        (r"\w[\w=,.\-]* \w+=[\d.]+i?(,\w+=[\d.]+i?)* \d{19}$",
         f"is InfluxDB's line protocol; {_TABLE}"),
        (r"#separator \\x09", "is a log of Zeek, without rates over time; import the capture "
         "itself, pcap or pcapng"),
        (r"PsPing |Starting Nping |ARPING |Probing \S+/tcp|Target: .* transfer speed|\S+ is alive",
         "is the text of another program than ping; run ping, fping -C or irtt client -o FILE"),
        (r"\[\[?[A-Za-z_][\w.\-]*\]\]?\s*$", "is TOML; a scenario is run with `sojourn run`"),
        (r"\[ *\d+\.\d+\] [\d.]+:\d+ [\d.]+:\d+ ",
         "is the log of tcp_probe; import a capture of its connections, pcap or pcapng"),
        (r"sep=.$", "begins with a line for spreadsheets (sep=); remove that line"),
    )
)  # fmt: skip

_OBJECTS: tuple[tuple[set[str], str], ...] = (
    ({"qlog_version"}, "is a qlog, the events of one QUIC endpoint; import a capture of its "
     "packets, pcap or pcapng"),
    ({"qlog_format"}, "is a qlog, the events of one QUIC endpoint; import a capture of its "
     "packets, pcap or pcapng"),
    ({"kind", "handle"}, "is the output of tc -j, without times; `sojourn tc` reads set-ups"),
    ({"file_schema"}, "is a qlog, the events of one QUIC endpoint; import a capture of its "
     "packets, pcap or pcapng"),
    ({"_source"}, _PACKETS),
    ({"popPingDropRate", "current"}, "is the history of a Starlink dish as a ring; write it as CSV "
     "with dish_grpc_text.py bulk_history"),
    ({"summary", "intervals", "succeeded"}, f"is a result of perfSONAR; {_TABLE}"),
    ({"resp"}, "is fping's JSON; run fping without -J"),
    ({"Key", "Value"}, "is the log of ndt7-client without its summary; keep its last line too"),
    ({"ServerMeasurements"}, "is a result of an NDT server; run ndt7-client with -format=json"),
    ({"vnstatversion"}, f"is vnStat's JSON; {_TABLE}"),
    ({"about", "meta", "data"}, f"is RRDtool's JSON; {_TABLE}"),
    ({"report", "hubs"}, _ROUTE),
    ({"data", "resultType"}, f"is an answer of Prometheus; {_TABLE}"),
    ({"msm_id", "prb_id"}, "is a result of RIPE Atlas; write its times and round trips as CSV, "
     "such as `time_s,rtt_ms`"),
    ({"log", "entries"}, "is a recording of a browser (HAR); import a capture of its packets"),
)  # fmt: skip


def text(lines: list[str]) -> str | None:
    """What a text is and what to do with it; None if it is not known here."""
    said = [line for line in lines[: 10 * _HEAD_LINES] if not _COMMENT.match(line)]
    for line in said[:_HEAD_LINES]:
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
