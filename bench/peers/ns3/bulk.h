// Greedy TCP flows over one link, for s6-fq and s7-bbr: both hosts are the ends of the link.
//
// ns-3's point-to-point link adds two bytes of PPP header; the rate is raised by 1502/1500 so that
// a 1500-byte IP packet takes exactly as long as in the benchmark.

#pragma once

#include "common.h"

#include <ns3/applications-module.h>
#include <ns3/internet-module.h>
#include <ns3/traffic-control-module.h>

namespace peer
{

constexpr uint32_t kSegment = 1460;  // data bytes of a segment: 1500 with IP and TCP headers
constexpr uint32_t kPacket = 1500;

// What the benchmark asks for where it differs from ns-3's defaults. SACK, PRR, an initial window
// of ten and an ACK for every second segment are its defaults already.
inline void
SetBulkDefaults(const char* control, uint32_t buffer)
{
    using namespace ns3;
    Config::SetDefault("ns3::TcpL4Protocol::SocketType",
                       TypeIdValue(TypeId::LookupByName(control)));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(Seconds(1)));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(kSegment));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(buffer));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(buffer));
}

// One link with a delay of 20 ms each way and the flows over it, started within the first second.
class BulkLink
{
  public:
    // With `queue_disc` the first device gets that queue discipline and holds one packet itself;
    // else its own queue is a tail-drop one with room for `limit`.
    BulkLink(double bps, uint32_t flows, const char* queue_disc, const std::string& limit)
    {
        using namespace ns3;
        NodeContainer nodes;
        nodes.Create(2);
        InternetStackHelper stack;
        stack.SetIpv6StackInstall(false);
        stack.SetRoutingHelper(Ipv4StaticRoutingHelper());
        stack.InstallAll();

        PointToPointHelper link;
        auto rate = static_cast<uint64_t>(bps * (kPacket + 2) / kPacket);
        link.SetDeviceAttribute("DataRate", DataRateValue(DataRate(rate)));
        link.SetChannelAttribute("Delay", StringValue("20ms"));
        link.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue(queue_disc ? "1p" : limit));
        m_devices = link.Install(nodes);
        // The way back never waits in the device.
        auto back = DynamicCast<PointToPointNetDevice>(m_devices.Get(1));
        back->GetQueue()->SetMaxSize(QueueSize("1000000p"));
        Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
        auto interfaces = addresses.Assign(m_devices);
        TrafficControlHelper control;
        control.Uninstall(m_devices);
        if (queue_disc)
        {
            control.SetRootQueueDisc(queue_disc, "MaxSize", StringValue(limit));
            control.Install(m_devices.Get(0));
        }

        auto uniform = CreateObject<UniformRandomVariable>();
        for (uint32_t i = 0; i < flows; ++i)
        {
            auto port = static_cast<uint16_t>(1000 + i);
            BulkSendHelper sender("ns3::TcpSocketFactory",
                                  InetSocketAddress(interfaces.GetAddress(1), port));
            sender.SetAttribute("SendSize", UintegerValue(kSegment));
            sender.Install(nodes.Get(0)).Start(Seconds(uniform->GetValue(0, 1)));
            InetSocketAddress any(Ipv4Address::GetAny(), port);
            PacketSinkHelper("ns3::TcpSocketFactory", any).Install(nodes.Get(1));
        }
    }

    uint64_t Forward() const { return LinkTraversals(m_devices.Get(0)); }
    uint64_t Hops() const { return Forward() + LinkTraversals(m_devices.Get(1)); }

  private:
    ns3::NetDeviceContainer m_devices;
};

// Reads the arguments, runs, and reports what the link carried.
inline int
RunBulk(const char* program, int argc, char* argv[], double seconds, BulkLink (*build)())
{
    using namespace ns3;
    uint32_t seed = 1;
    CommandLine cmd;
    cmd.AddValue("seconds", "simulated time, s", seconds);
    cmd.AddValue("seed", "run number of the random streams", seed);
    cmd.Parse(argc, argv);
    RngSeedManager::SetRun(seed);
    auto link = build();
    uint64_t half = 0;
    Simulator::Schedule(Seconds(seconds / 2), [&] { half = link.Forward(); });
    double wall = RunFor(Seconds(seconds));
    double bps = (link.Forward() - half) * kPacket * 8.0 / (seconds / 2);
    Report(program, wall, link.Hops(), link.Forward(), {{"throughput_bps", bps}});
    Simulator::Destroy();
    return 0;
}

} // namespace peer
