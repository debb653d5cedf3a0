// Benchmark s3-mm1 in ns-3: Poisson arrivals, exponential sizes, one server, load 0.8.
//
// Mean 400 bytes on a 10 Mbit/s link (0.32 ms), an arrival every 0.4 ms on average; whole bytes,
// rounded, at least three. Packets go straight to a point-to-point device and its FIFO, with no IP
// in between; the two bytes of PPP header that it adds are taken off the size first.
// The mean number in the system is found by Little's law from the time of each packet in it; theory
// (M/M/1) says load / (1 - load) = 4.

#include "common.h"

#include <cmath>
#include <deque>

using namespace ns3;

namespace
{

constexpr uint16_t kIpv4 = 0x0800;
constexpr uint32_t kHeader = 2;

// One random draw of a size in whole bytes, PPP header included.
uint32_t
DrawSize(const Ptr<ExponentialRandomVariable>& sizes)
{
    return std::max<uint32_t>(kHeader + 1, std::lround(sizes->GetValue()));
}

Ptr<ExponentialRandomVariable>
Exponential(double mean)
{
    auto variable = CreateObject<ExponentialRandomVariable>();
    variable->SetAttribute("Mean", DoubleValue(mean));
    return variable;
}

// Where packets arrive: counts, and sums their time in the system.
struct Departures
{
    std::deque<Time> sent; // in the order of service, which is that of arrival
    uint64_t packets = 0;
    double bytes = 0;
    double sojourn = 0; // s

    void Count(uint32_t size)
    {
        sojourn += (Simulator::Now() - sent.front()).GetSeconds();
        sent.pop_front();
        bytes += size + kHeader;
        ++packets;
    }
};

} // namespace

int
main(int argc, char* argv[])
{
    double packets = 5e6;
    uint32_t seed = 1;
    CommandLine cmd(__FILE__);
    cmd.AddValue("packets", "packets to serve, on average", packets);
    cmd.AddValue("seed", "run number of the random streams", seed);
    cmd.Parse(argc, argv);
    RngSeedManager::SetRun(seed);

    NodeContainer nodes(2);
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", StringValue("10Mbps"));
    link.SetChannelAttribute("Delay", StringValue("0ms"));
    link.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("1000000p"));
    auto devices = link.Install(nodes);
    auto sender = devices.Get(0);
    auto to = devices.Get(1)->GetAddress();

    Departures out;
    devices.Get(1)->SetReceiveCallback(
        [&out](Ptr<NetDevice>, Ptr<const Packet> packet, uint16_t, const Address&) {
            out.Count(packet->GetSize());
            return true;
        });
    auto gaps = Exponential(0.4e-3);
    auto sizes = Exponential(400);
    auto send = [&] {
        out.sent.push_back(Simulator::Now());
        sender->Send(Create<Packet>(DrawSize(sizes) - kHeader), to, kIpv4);
    };
    peer::Ticker source([&gaps] { return Seconds(gaps->GetValue()); }, send);
    source.Start(Seconds(gaps->GetValue()));

    double seconds = packets * 0.4e-3;
    double wall = peer::RunFor(Seconds(seconds));
    peer::Report("ns3/s3-mm1", wall, peer::LinkTraversals(sender), out.packets,
                 {{"utilization", out.bytes * 8 / (10e6 * seconds)},
                  {"mean_in_system", out.sojourn / seconds}});
    Simulator::Destroy();
    return 0;
}
