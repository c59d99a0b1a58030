# The ns-2 side of docs/evidence/tcp-witness.md: bulk TCP flows over a link of 10 Mbit/s, a round
# trip of 100 ms, packets of 1000 bytes; the scenario is crates/sim/testdata/witness/trace.toml.
# Writes the arrivals at the link's queue. Arguments: flows, buffer in packets, seconds, agent,
# sink, limited transmit (0 or 1), timestamps (true or false), tick in seconds, output; then perhaps
# a file with the numbers of the arrivals that are dropped.
lassign $argv flows buffer seconds agent sink limited_transmit timestamps tick output drops
# Packets keep their size with timestamps.
Agent/TCP set ts_option_size_ 0
Agent/TCP set singledup_ $limited_transmit
Agent/TCP set timestamps_ $timestamps
Agent/TCP set tcpTick_ $tick
set ns [new Simulator]
set left [$ns node]
set right [$ns node]
$ns duplex-link $left $right 10Mb 38ms DropTail
$ns queue-limit $left $right $buffer
$ns queue-limit $right $left 100000
for {set i 0} {$i < $flows} {incr i} {
    set from [$ns node]
    set to [$ns node]
    $ns duplex-link $from $left 100Mb [expr 6 + 0.0113 * $i]ms DropTail
    $ns duplex-link $right $to 100Mb 6ms DropTail
    $ns queue-limit $from $left 100000
    $ns queue-limit $right $to 100000
    set tcp [new Agent/$agent]
    $tcp set packetSize_ 960
    $tcp set window_ 100000
    $tcp set fid_ $i
    set end [new Agent/$sink]
    $ns attach-agent $from $tcp
    $ns attach-agent $to $end
    $ns connect $tcp $end
    set app [new Application/FTP]
    $app attach-agent $tcp
    $ns at [expr 0.2 * $i] "$app start"
}
if {$drops ne ""} {
    # Before the queue, so that a packet that is dropped takes no time of the link.
    set list [new ErrorModel/List]
    $list unit pkt
    $list droplist [read [open $drops]]
    $list drop-target [new Agent/Null]
    set head [[$ns link $left $right] head]
    $list target [$head target]
    $head target $list
}
$ns trace-queue $left $right [open $output w]
$ns at $seconds "exit 0"
$ns run
