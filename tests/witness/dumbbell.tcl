# The ns-2 side of dumbbell.txt: bulk TCP flows over a dumbbell of 10 Mbit/s and 100 ms. Packets
# have 1000 bytes. Arguments: flows, buffer in packets, seconds, agent such as TCP/Newreno, sink,
# limited transmit (0 or 1), seed.
lassign $argv flows buffer seconds agent sink limited_transmit seed
Agent/TCP set singledup_ $limited_transmit
set ns [new Simulator]
set left [$ns node]
set right [$ns node]
$ns duplex-link $left $right 10Mb 38ms DropTail
$ns queue-limit $left $right $buffer
$ns queue-limit $right $left 1000
set rng [new RNG]
$rng seed $seed
for {set i 0} {$i < $flows} {incr i} {
    set from [$ns node]
    set to [$ns node]
    $ns duplex-link $from $left 100Mb 6ms DropTail
    $ns duplex-link $right $to 100Mb 6ms DropTail
    $ns queue-limit $from $left 100000
    $ns queue-limit $right $to 100000
    set tcp($i) [new Agent/$agent]
    $tcp($i) set packetSize_ 960
    $tcp($i) set window_ 100000
    set end [new Agent/$sink]
    $ns attach-agent $from $tcp($i)
    $ns attach-agent $to $end
    $ns connect $tcp($i) $end
    set app [new Application/FTP]
    $app attach-agent $tcp($i)
    $ns at [$rng uniform 0 1] "$app start"
}
set monitor [$ns monitor-queue $left $right [open /dev/null w]]
proc finish {} {
    global monitor seconds tcp flows
    set acked 0
    for {set i 0} {$i < $flows} {incr i} {
        set acked [expr $acked + [$tcp($i) set ack_] + 1]
    }
    set sent [expr [$monitor set pdepartures_] + [$monitor set pdrops_]]
    set utilisation [expr [$monitor set bdepartures_] * 8.0 / $seconds / 1e7]
    puts "drops [$monitor set pdrops_] of $sent utilisation $utilisation\
        goodput [expr $acked * 960 * 8.0 / $seconds / 1e6]"
    flush stdout
    exit 0
}
$ns at $seconds finish
$ns run
