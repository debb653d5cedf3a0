# The dumbbell of the s1 benchmarks: four customers on 139 Mbit/s, 2.5 ms links either side of one
# 34 Mbit/s, 10 ms link; ten greedy SACK flows for each of customers 1 to 3, Poisson UDP for the
# fourth. The state is in one array, `net`, passed by name.

source [file join [file dirname [info script]] common.tcl]

# Builds nodes and links. The queue types are those of the forward access links of customers 1 to
# 3, of customer 4, and of the forward bottleneck; net(access,1..4) and net(bottleneck) name the
# queues. That towards UDP's sink, net(udp_exit), counts; all others are drop-tail, never dropping.
proc dumbbell {ns arrayName tcp_access udp_access bottleneck} {
    upvar $arrayName net
    Queue set limit_ 1000000
    set net(ns) $ns
    set net(er1) [$ns node]
    set net(er2) [$ns node]
    $ns simplex-link $net(er1) $net(er2) 34Mb 10ms $bottleneck
    $ns simplex-link $net(er2) $net(er1) 34Mb 10ms DropTail
    set net(bottleneck) [[$ns link $net(er1) $net(er2)] queue]
    # 1 MB in packets of 576 bytes: beyond the highest threshold in use.
    $net(bottleneck) set limit_ 1736
    foreach i {1 2 3 4} {
        set net(c,$i) [$ns node]
        set net(d,$i) [$ns node]
        set up [expr {$i == 4 ? $udp_access : $tcp_access}]
        set down [expr {$i == 4 ? "dsRED/core" : "DropTail"}]
        $ns simplex-link $net(c,$i) $net(er1) 139Mb 2.5ms $up
        $ns simplex-link $net(er1) $net(c,$i) 139Mb 2.5ms DropTail
        $ns simplex-link $net(er2) $net(d,$i) 139Mb 2.5ms $down
        $ns simplex-link $net(d,$i) $net(er2) 139Mb 2.5ms DropTail
        set net(access,$i) [[$ns link $net(c,$i) $net(er1)] queue]
    }
    set net(udp_exit) [[$ns link $net(er2) $net(d,4)] queue]
}

# Ten greedy SACK flows for each of customers 1 to 3, started within the first half second.
# 536 bytes of data and a 40-byte header make 576 bytes on the wire. An ACK for every segment, a
# window that never limits, the initial window of RFC 3390 (four segments at this size), and the one
# second least retransmission time-out of RFC 6298 (ns-2's own default is 0.2 s).
proc add_tcp_flows {arrayName} {
    upvar $arrayName net
    Agent/TCP set packetSize_ 536
    Agent/TCP set tcpip_base_hdr_size_ 40
    Agent/TCP set window_ 10000
    Agent/TCP set windowInitOption_ 2
    Agent/TCP set minrto_ 1.0
    set net(senders) {}
    foreach i {1 2 3} {
        for {set k 0} {$k < 10} {incr k} {
            set sender [new Agent/TCP/Sack1]
            set sink [new Agent/TCPSink/Sack1]
            $net(ns) attach-agent $net(c,$i) $sender
            $net(ns) attach-agent $net(d,$i) $sink
            $net(ns) connect $sender $sink
            set ftp [new Application/FTP]
            $ftp attach-agent $sender
            $net(ns) at [uniform 0.5] "$ftp start"
            lappend net(senders) $sender
        }
    }
}

# Poisson source of 576-byte packets from customer 4, `mbps` in Mbit/s on average.
# ns-2 has no Poisson source by name; an exponential on-off source is one when its bursts are a
# single packet (burst time 0) at a rate so high that only the idle time counts.
proc add_poisson_udp {arrayName mbps} {
    upvar $arrayName net
    set udp [new Agent/UDP]
    $udp set packetSize_ 576
    set sink [new Agent/Null]
    $net(ns) attach-agent $net(c,4) $udp
    $net(ns) attach-agent $net(d,4) $sink
    $net(ns) connect $udp $sink
    set source [new Application/Traffic/Exponential]
    $source set packetSize_ 576
    $source set burst_time_ 0
    $source set rate_ 1e15
    $source set idle_time_ [expr {576 * 8 / ($mbps * 1e6)}]
    $source attach-agent $udp
    $net(ns) at 0.0 "$source start"
}

# Counts so far as name-value pairs: TCP data packets sent, ACKs received (one for each data packet
# delivered, since no ACK is ever lost), UDP packets sent and delivered.
proc packet_counts {arrayName} {
    upvar $arrayName net
    set n(tcp_sent) 0
    set n(acks) 0
    foreach sender $net(senders) {
        incr n(tcp_sent) [$sender set ndatapack_]
        incr n(acks) [$sender set nackpack_]
    }
    set n(udp_sent) [passed $net(access,4)]
    set n(udp) [passed $net(udp_exit)]
    return [array get n]
}

# Runs to `seconds` and reports throughput at IP level behind the bottleneck from `warmup` on.
# Hops are derived, not counted on the way: a sent packet crosses one access link, a delivered one
# two links more, and its ACK three. Packets in flight at the end (a few hundred) are left out.
proc run_dumbbell {program arrayName warmup seconds} {
    upvar #0 $arrayName net
    if {$warmup >= $seconds} {
        puts stderr "warmup=$warmup must be less than seconds=$seconds"
        exit 2
    }
    $net(ns) at $warmup "set net(before) \[packet_counts $arrayName\]"
    $net(ns) at $seconds "report_dumbbell $program $arrayName $warmup $seconds"
    run $net(ns)
}

proc report_dumbbell {program arrayName warmup seconds} {
    upvar #0 $arrayName net
    array set first $net(before)
    array set last [packet_counts net]
    set scale [expr {576 * 8.0 / ($seconds - $warmup)}]
    set delivered [expr {$last(acks) + $last(udp)}]
    set hops [expr {$last(tcp_sent) + $last(udp_sent) + 2 * $delivered + 3 * $last(acks)}]
    report $program $seconds $hops $delivered [list \
        tcp_bps [expr {($last(acks) - $first(acks)) * $scale}] \
        udp_bps [expr {($last(udp) - $first(udp)) * $scale}] \
        tcp_sent_packets $last(tcp_sent) udp_sent_packets $last(udp_sent)]
}
