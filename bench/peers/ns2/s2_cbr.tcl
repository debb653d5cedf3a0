# Benchmark s2-cbr in ns-2: 2000 constant-rate flows, one token-bucket meter, one FIFO link.
# Arguments: seconds=60 flows=2000 seed=1
#
# 200 bytes every 20 ms each, at a random phase: 160 Mbit/s in all on a 400 Mbit/s, 1 ms link whose
# queue meters the aggregate (150 Mbit/s, 50 kB) and is otherwise a FIFO.

source [file join [file dirname [info script]] common.tcl]
arguments setting {seconds 60 flows 2000 seed 1}

set ns [new_simulator $setting(seed)]
set from [$ns node]
set to [$ns node]
$ns simplex-link $from $to 400Mb 1ms dsRED/edge
set queue [[$ns link $from $to] queue]
make_fifo $queue {10 11}
$queue addPolicyEntry -1 -1 TokenBucket 10 150000000 50000
$queue addPolicerEntry TokenBucket 10 11

# One sink for all, ns-2's cheapest: it only frees the packet. The queue has counted it.
set sink [new Agent/Null]
$ns attach-agent $to $sink
Application/Traffic/CBR set packetSize_ 200
Application/Traffic/CBR set rate_ 80000
for {set k 0} {$k < $setting(flows)} {incr k} {
    set udp [new Agent/UDP]
    $udp set packetSize_ 200
    $ns attach-agent $from $udp
    $ns connect $udp $sink
    set source [new Application/Traffic/CBR]
    $source attach-agent $udp
    $ns at [uniform 0.02] "$source start"
}

$ns at $setting(seconds) {
    set delivered [passed $queue]
    report ns2/s2-cbr $setting(seconds) $delivered $delivered [list \
        udp_bps [expr {$delivered * 1600.0 / $setting(seconds)}] \
        green_share [expr {[$queue getStat pkts 10] / [$queue getStat pkts]}]]
}
run $ns
