# What the ns-2 programs share: arguments, packet headers, counting queues, the result line.
#
# Every program is called as `ns PROGRAM.tcl key=value ...` and prints one JSON object on stdout.
# Nothing is traced, and only the packet headers in use are kept: ns-2 allocates and clears all of a
# packet's headers each time, so that the 60-odd unused ones would cost it time for nothing.

# Reads key=value arguments over the defaults into the array named `arrayName`.
proc arguments {arrayName defaults} {
    upvar $arrayName setting
    global argv
    array set setting $defaults
    foreach word $argv {
        if {![regexp {^([a-z]+)=(.+)$} $word -> key value] || ![info exists setting($key)]} {
            set allowed [lsort [array names setting]]
            puts stderr "unknown argument '$word'; allowed: $allowed as key=value"
            exit 2
        }
        set setting($key) $value
    }
}

# A simulator with the headers of IP, TCP and UDP (which uses RTP's) alone, and a set seed.
proc new_simulator {seed} {
    global defaultRNG
    remove-all-packet-headers
    add-packet-header Flags IP TCP RTP
    $defaultRNG seed $seed
    return [new Simulator]
}

# Uniform draw in [0, high) from the simulator's default generator.
proc uniform {high} {
    global defaultRNG
    return [$defaultRNG uniform 0 $high]
}

# Makes a dsRED queue a FIFO that never drops: DROP mode (drop-tail for each precedence) with limits
# out of reach. Unlike DropTail it counts, and hands the counts to Tcl; a QueueMonitor or a
# LossMonitor would count as well, but the one adds three objects to the packet's way and the other
# calls the Tcl interpreter at every gap in the sequence.
# `marks` are the code points that may arrive, the first the lowest drop precedence.
proc make_fifo {queue marks} {
    $queue set limit_ 1000000
    $queue set numQueues_ 1
    $queue setNumPrec [llength $marks]
    $queue setMREDMode DROP
    $queue meanPktSize 576
    set precedence 0
    foreach mark $marks {
        $queue addPHBEntry $mark 0 $precedence
        $queue configQ 0 $precedence 1000000 2000000 0.1
        incr precedence
    }
}

# What a dsRED queue has let through so far, the packets waiting in it not counted.
proc passed {queue} {
    set lost [expr {[$queue getStat drops] + [$queue getStat edrops]}]
    return [expr {int([$queue getStat pkts] - $lost - [$queue getCurrent 0])}]
}

# Starts the event loop; `report` counts wall time from here.
proc run {ns} {
    global run_started
    set run_started [clock microseconds]
    $ns run
}

# Prints the result as one JSON object, and leaves. `fields` are further name-value pairs (numbers).
proc report {program simulated hops delivered fields} {
    global run_started
    set wall [expr {([clock microseconds] - $run_started) / 1e6}]
    set parts [list "\"program\": \"$program\"" "\"simulated_s\": $simulated" \
        "\"run_wall_s\": $wall" "\"packet_hops\": $hops" "\"packets_delivered\": $delivered"]
    foreach {name value} $fields {
        lappend parts "\"$name\": $value"
    }
    puts "{[join $parts {, }]}"
    flush stdout
    exit 0
}
