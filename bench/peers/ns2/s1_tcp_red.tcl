# Benchmark s1-tcp-red in ns-2: 30 SACK flows and 30 Mbit/s of Poisson UDP through one RED queue.
# Arguments: seconds=100 warmup=10 seed=1 udp=30 (Mbit/s)

source [file join [file dirname [info script]] dumbbell.tcl]
arguments setting {seconds 100 warmup 10 seed 1 udp 30}

# Floyd and Jacobson's RED in packets: thresholds 78 and 156, maximum probability 1/10, weight
# 0.002, drops spread uniformly, every packet above the upper threshold dropped. All of it has to
# be said, since ns-2.35 by default counts bytes, is gentle, uses `wait` spacing and picks its own
# values.
Queue/RED set thresh_ 78
Queue/RED set maxthresh_ 156
Queue/RED set linterm_ 10
Queue/RED set q_weight_ 0.002
Queue/RED set bytes_ false
Queue/RED set queue_in_bytes_ false
Queue/RED set mean_pktsize_ 576
Queue/RED set gentle_ false
Queue/RED set wait_ false
Queue/RED set adaptive_ 0

set ns [new_simulator $setting(seed)]
dumbbell $ns net DropTail dsRED/core RED
make_fifo $net(access,4) 0
make_fifo $net(udp_exit) 0
add_tcp_flows net
add_poisson_udp net $setting(udp)
run_dumbbell ns2/s1-tcp-red net $setting(warmup) $setting(seconds)
