# Benchmark s1-af in ns-2: three drop precedences in Assured Forwarding, UDP at 30 Mbit/s.
# Arguments: seconds=100 warmup=10 seed=1 udp=30 (Mbit/s)
#
# The customers' access queues mark (dsRED/edge, trTCM); the bottleneck (dsRED/core) is RIO-C.

source [file join [file dirname [info script]] dumbbell.tcl]
arguments setting {seconds 100 warmup 10 seed 1 udp 30}

# dsRED keeps lengths, averages and thresholds in packets, thresholds in whole ones. All data
# packets here are of 576 bytes, so that bytes and packets differ by that factor alone:
# 45 kB 78.1, 90 kB 156.25, 180 kB 312.5, 360 kB 625 packets.
proc configure_core {queue} {
    $queue set numQueues_ 1
    $queue setNumPrec 3
    $queue setMREDMode RIO-C
    $queue meanPktSize 576
    foreach precedence {0 1 2} {
        $queue addPHBEntry [expr {10 + $precedence}] 0 $precedence
    }
    #              queue precedence minth maxth maxp weight
    $queue configQ 0     0          312   625   0.02 0.002
    $queue configQ 0     1          156   312   0.05 0.002
    $queue configQ 0     2          78    156   0.10 0.002
}

# One two-rate three-colour marker for all that leaves the customer (-1: from any node to any node)
# in front of a plain FIFO. Rates in bit/s, both bursts 10 kB. Code points: 10 green, 11 yellow,
# 12 red.
proc configure_edge {queue cir pir} {
    make_fifo $queue {10 11 12}
    $queue addPolicyEntry -1 -1 trTCM 10 $cir 10000 $pir 10000
    $queue addPolicerEntry trTCM 10 11 12
}

set ns [new_simulator $setting(seed)]
dumbbell $ns net dsRED/edge dsRED/edge dsRED/core
configure_core $net(bottleneck)
foreach i {1 2 3} {
    configure_edge $net(access,$i) 2000000 139000000
}
configure_edge $net(access,4) 2000000 2000000
make_fifo $net(udp_exit) {10 11 12}
add_tcp_flows net
add_poisson_udp net $setting(udp)
run_dumbbell ns2/s1-af net $setting(warmup) $setting(seconds)
