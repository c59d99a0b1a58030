# A reference case (benches/src/reference.rs) in ns-2: bulk Reno flows with SACK and delayed
# acknowledgements through one queue, with a queue on the reverse path. Prints the packets that
# arrived at the bottleneck and those dropped there.
#
#   ns dumbbell.tcl FLOWS MBIT PACKET_BYTES RTT_MS LIMIT_PACKETS SECONDS

lassign $argv flows mbit bytes rtt limit seconds
set ns [new Simulator]
# Only the packets' common, IP and TCP headers: the others would cost memory and time.
remove-all-packet-headers
add-packet-header IP TCP

# In each direction 38 % of the round trip is on the bottleneck and 6 % on each access link, which
# is ten times as fast.
set near [$ns node]
set far [$ns node]
set fast [expr {10 * $mbit}]Mb
set share [expr {$rtt * 0.06}]ms
$ns simplex-link $near $far ${mbit}Mb [expr {$rtt * 0.38}]ms DropTail
$ns simplex-link $far $near ${mbit}Mb [expr {$rtt * 0.38}]ms DropTail
$ns queue-limit $near $far $limit
$ns queue-limit $far $near 1000

# ns-2 adds 40 bytes of headers to packetSize_; an acknowledgement has 40 bytes.
Agent/TCP set packetSize_ [expr {$bytes - 40}]
Agent/TCP set window_ 1000000
Agent/TCP set maxcwnd_ 0
Agent/TCP set windowInit_ 10
Agent/TCP set windowInitOption_ 1
Agent/TCP set timestamps_ false
set random [new RNG]
$random seed 1
for {set flow 0} {$flow < $flows} {incr flow} {
    set sender [$ns node]
    set receiver [$ns node]
    $ns duplex-link $sender $near $fast $share DropTail
    $ns duplex-link $far $receiver $fast $share DropTail
    $ns queue-limit $sender $near 100000
    $ns queue-limit $far $receiver 100000
    set tcp [new Agent/TCP/Sack1]
    set sink [new Agent/TCPSink/Sack1/DelAck]
    $ns attach-agent $sender $tcp
    $ns attach-agent $receiver $sink
    $ns connect $tcp $sink
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp
    $ns at [$random uniform 0 1] "$ftp start"
}

set monitor [$ns monitor-queue $near $far {}]
$ns at $seconds {
    puts "packets [$monitor set pdepartures_]"
    puts "drops [$monitor set pdrops_]"
    exit 0
}
$ns run
