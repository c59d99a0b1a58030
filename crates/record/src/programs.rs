//! The tables of the user's programs.

use std::ops::Range;

use crate::columns::{Column, names, some_i32s, some_strings, some_u64s, strings, u32s, u64s};
use crate::rows::Run;

pub(crate) fn programs(run: &Run, range: Range<usize>) -> Vec<Column> {
    let rows = &run.programs[range];
    vec![
        ("host", strings(rows.iter().map(|r| r.host.as_str())), false),
        ("command", strings(rows.iter().map(|r| r.command.as_str())), false),
        ("start_ns", some_u64s(rows.iter().map(|r| r.start.map(|t| t.as_nanos()))), true),
        ("end_ns", some_u64s(rows.iter().map(|r| r.end.map(|t| t.as_nanos()))), true),
        ("exit_code", some_i32s(rows.iter().map(|r| r.exit_code)), true),
        ("signal", some_i32s(rows.iter().map(|r| r.signal)), true),
        ("stdout", strings(rows.iter().map(|r| r.stdout.as_str())), false),
        ("stderr", strings(rows.iter().map(|r| r.stderr.as_str())), false),
    ]
}

pub(crate) fn program_flows(run: &Run, range: Range<usize>) -> Vec<Column> {
    let rows = &run.program_flows[range];
    vec![
        ("flow", names(rows.iter().map(|r| r.flow as usize), &run.flows), false),
        ("class", names(rows.iter().map(|r| r.flow as usize), &run.classes), false),
        ("protocol", u32s(rows.iter().map(|r| u32::from(r.protocol))), false),
        ("server", strings(rows.iter().map(|r| r.server.0.as_str())), false),
        ("server_port", u32s(rows.iter().map(|r| u32::from(r.server.1))), false),
        ("client", strings(rows.iter().map(|r| r.client.0.as_str())), false),
        ("client_port", u32s(rows.iter().map(|r| u32::from(r.client.1))), false),
        ("first_ns", some_u64s(rows.iter().map(|r| r.times.map(|t| t.0.as_nanos()))), true),
        ("last_ns", some_u64s(rows.iter().map(|r| r.times.map(|t| t.1.as_nanos()))), true),
        ("to_client_bytes", u64s(rows.iter().map(|r| r.delivered[0])), false),
        ("to_server_bytes", u64s(rows.iter().map(|r| r.delivered[1])), false),
        ("cc", some_strings(rows.iter().map(|r| r.cc.as_deref())), true),
    ]
}
