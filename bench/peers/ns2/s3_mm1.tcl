# Benchmark s3-mm1 in ns-2: Poisson arrivals, exponential sizes, one server, load 0.8.
# Arguments: packets=5000000 seed=1 trace=FILE check=0
#
# Mean 400 bytes on a 10 Mbit/s link (0.32 ms), an arrival every 0.4 ms on average. Sizes are whole
# bytes, rounded, at least one, which moves the mean by less than 1e-6 of itself.
#
# ns-2 has no C++ source of random packet sizes. Two ways are offered:
#   trace=FILE      times and sizes come from a file written beforehand (pairs of 32-bit big-endian
#                   integers: microseconds, bytes) and are sent by ns-2's C++ trace source: the
#                   engine alone, spared the drawing of random numbers.
#   without trace=  every packet is drawn, sent and followed up by a Tcl procedure, as ns-2 scripts
#                   of this system commonly do: this measures the Tcl interpreter.
# check=1 adds a queue monitor, which costs time, and reports the mean number of packets in the
# system; theory (M/M/1) says load / (1 - load) = 4.

source [file join [file dirname [info script]] common.tcl]
arguments setting {packets 5000000 seed 1 trace {} check 0}

set mean_gap 0.0004
set mean_size 400

# Draws and sends a packet and schedules the next; the run ends a second after the last.
proc arrive {} {
    global ns udp gaps sizes left
    set size [expr {round([$sizes value])}]
    $udp send [expr {$size < 1 ? 1 : $size}] {}
    if {[incr left -1] > 0} {
        $ns at [expr {[$ns now] + [$gaps value]}] arrive
    } else {
        $ns at [expr {[$ns now] + 1.0}] finish
    }
}

# Reports up to the last delivery.
proc finish {} {
    global sink setting integrator
    set span [$sink set lastPktTime_]
    set delivered [$sink set npkts_]
    set busy [expr {[$sink set bytes_] * 8.0 / (10e6 * $span)}]
    set fields [list utilization $busy]
    if {$setting(check)} {
        # The monitor leaves out the packet in service, there for the share `busy` of the time.
        lappend fields mean_in_system [expr {[$integrator set sum_] / $span + $busy}]
    }
    report ns2/s3-mm1 $span $delivered $delivered $fields
}

set ns [new_simulator $setting(seed)]
Queue set limit_ 10000000
set from [$ns node]
set to [$ns node]
$ns simplex-link $from $to 10Mb 0ms DropTail
set udp [new Agent/UDP]
# Longer than any draw, so that no message is cut into several packets.
$udp set packetSize_ 100000
set sink [new Agent/LossMonitor]
$ns attach-agent $from $udp
$ns attach-agent $to $sink
$ns connect $udp $sink
if {$setting(check)} {
    set monitor [$ns monitor-queue $from $to [open /dev/null w]]
    set integrator [new Integrator]
    $monitor set-pkts-integrator $integrator
}

if {$setting(trace) eq {}} {
    set left $setting(packets)
    set gaps [new RandomVariable/Exponential]
    $gaps set avg_ $mean_gap
    set sizes [new RandomVariable/Exponential]
    $sizes set avg_ $mean_size
    $ns at [$gaps value] arrive
} else {
    Tracefile set debug_ 0
    set file [new Tracefile]
    $file filename $setting(trace)
    set source [new Application/Traffic/Trace]
    $source attach-tracefile $file
    $source attach-agent $udp
    $ns at 0.0 "$source start"
    $ns at [expr {$setting(packets) * $mean_gap}] finish
}
run $ns
