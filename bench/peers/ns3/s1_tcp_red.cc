// Benchmark s1-tcp-red in ns-3: 30 SACK flows and 30 Mbit/s of Poisson UDP through one RED queue.
//
// Four customers on 139 Mbit/s, 2.5 ms links either side of one 34 Mbit/s, 10 ms link. ns-3's
// point-to-point link adds two bytes of PPP header; every rate is raised by 578/576 so that a
// 576-byte IP packet takes exactly as long as in the benchmark.

#include "common.h"
#include "udp.h"

#include <ns3/applications-module.h>
#include <ns3/internet-module.h>
#include <ns3/traffic-control-module.h>

using namespace ns3;

namespace
{

constexpr uint32_t kSegment = 536;   // data bytes of a TCP segment: 576 with IP and TCP headers
constexpr uint32_t kDatagram = 548;  // data bytes of a UDP datagram: 576 with IP and UDP headers
constexpr uint32_t kPacket = 576;
constexpr uint16_t kPort = 9;

DataRate
IpRate(double mbps)
{
    return DataRate(static_cast<uint64_t>(mbps * 1e6 * (kPacket + 2) / kPacket));
}

// Defaults of ns-3.37 that differ from the benchmark: CUBIC, PRR, ACK for every second segment,
// timestamps (12 bytes a segment), initial window of ten. SACK and the one-second least
// retransmission time-out are already as wanted.
void
SetTcpDefaults()
{
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpNewReno::GetTypeId()));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType",
                       TypeIdValue(TcpClassicRecovery::GetTypeId()));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(Seconds(1)));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(kSegment));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(4));
    // Some 480 segments, where a flow's share needs about a dozen: the window never limits.
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(1 << 18));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(1 << 18));
}

// The dumbbell with its addresses and static routes.
class Dumbbell
{
  public:
    Dumbbell();

    Ptr<Node> Customer(int i) const { return m_left.Get(i); }
    Ptr<Node> Peer(int i) const { return m_right.Get(i); }
    Ipv4Address PeerAddress(int i) const { return m_peer[i]; }
    Ptr<QueueDisc> Bottleneck() const { return m_bottleneck; }
    uint64_t Hops() const;

  private:
    NetDeviceContainer Connect(PointToPointHelper& link, Ptr<Node> a, Ptr<Node> b);
    Ipv4InterfaceContainer Assign(const NetDeviceContainer& devices, Ptr<QueueDisc>* red);
    void Route(Ptr<Node> node, Ipv4Address network, Ipv4Address via, uint32_t interface);

    NodeContainer m_left;
    NodeContainer m_right;
    NodeContainer m_edge;
    std::vector<Ptr<NetDevice>> m_devices;
    Ipv4Address m_peer[4];
    Ptr<QueueDisc> m_bottleneck;
    Ipv4AddressHelper m_addresses{"10.0.0.0", "255.255.255.0"};
};

Dumbbell::Dumbbell()
{
    m_left.Create(4);
    m_right.Create(4);
    m_edge.Create(2);
    // Static routing alone, without the list of protocols that the default asks in turn.
    InternetStackHelper stack;
    stack.SetIpv6StackInstall(false);
    stack.SetRoutingHelper(Ipv4StaticRoutingHelper());
    stack.InstallAll();

    PointToPointHelper access;
    access.SetDeviceAttribute("DataRate", DataRateValue(IpRate(139)));
    access.SetChannelAttribute("Delay", StringValue("2.5ms"));
    access.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("100000p"));
    // One packet in the device, so that the queue is where RED sees it.
    PointToPointHelper middle;
    middle.SetDeviceAttribute("DataRate", DataRateValue(IpRate(34)));
    middle.SetChannelAttribute("Delay", StringValue("10ms"));
    middle.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("1p"));

    auto er1 = m_edge.Get(0);
    auto er2 = m_edge.Get(1);
    auto ends = Assign(Connect(middle, er1, er2), &m_bottleneck);
    for (int i = 0; i < 4; ++i)
    {
        // Interfaces: 0 is the loopback; 1 of er1 and er2 the bottleneck; 2 + i customer i.
        auto left = Assign(Connect(access, er1, m_left.Get(i)), nullptr);
        auto right = Assign(Connect(access, er2, m_right.Get(i)), nullptr);
        m_peer[i] = right.GetAddress(1);
        Route(m_left.Get(i), "0.0.0.0", left.GetAddress(0), 1);
        Route(m_right.Get(i), "0.0.0.0", right.GetAddress(0), 1);
    }
    Route(er1, "0.0.0.0", ends.GetAddress(1), 1);
    Route(er2, "0.0.0.0", ends.GetAddress(0), 1);
}

NetDeviceContainer
Dumbbell::Connect(PointToPointHelper& link, Ptr<Node> a, Ptr<Node> b)
{
    auto devices = link.Install(a, b);
    m_devices.push_back(devices.Get(0));
    m_devices.push_back(devices.Get(1));
    return devices;
}

// Gives a link its addresses. With `red` the first device gets a RED queue, handed back there; on
// all other devices the queue discipline that ns-3 installs unasked (FqCoDel) is taken away again.
Ipv4InterfaceContainer
Dumbbell::Assign(const NetDeviceContainer& devices, Ptr<QueueDisc>* red)
{
    auto interfaces = m_addresses.Assign(devices);
    m_addresses.NewNetwork();
    TrafficControlHelper control;
    control.Uninstall(devices);
    if (red)
    {
        control.SetRootQueueDisc("ns3::RedQueueDisc",
                                 "MinTh", DoubleValue(78),
                                 "MaxTh", DoubleValue(156),
                                 "LInterm", DoubleValue(10),
                                 "QW", DoubleValue(0.002),
                                 "Gentle", BooleanValue(false),
                                 "Wait", BooleanValue(false),
                                 "MeanPktSize", UintegerValue(kPacket),
                                 "MaxSize", StringValue("1736p"),
                                 "LinkBandwidth", DataRateValue(DataRate("34Mbps")),
                                 "LinkDelay", StringValue("10ms"));
        *red = control.Install(devices.Get(0)).Get(0);
    }
    return interfaces;
}

void
Dumbbell::Route(Ptr<Node> node, Ipv4Address network, Ipv4Address via, uint32_t interface)
{
    auto routing = Ipv4StaticRoutingHelper().GetStaticRouting(node->GetObject<Ipv4>());
    routing->AddNetworkRouteTo(network, "0.0.0.0", via, interface);
}

uint64_t
Dumbbell::Hops() const
{
    uint64_t sum = 0;
    for (const auto& device : m_devices)
    {
        sum += peer::LinkTraversals(device);
    }
    return sum;
}

// Ten greedy flows for each of customers 1 to 3, started within the first half second.
void
AddTcpFlows(const Dumbbell& net, Ptr<UniformRandomVariable> uniform)
{
    for (int i = 0; i < 3; ++i)
    {
        for (uint16_t k = 0; k < 10; ++k)
        {
            InetSocketAddress to(net.PeerAddress(i), kPort + k);
            BulkSendHelper sender("ns3::TcpSocketFactory", to);
            sender.SetAttribute("SendSize", UintegerValue(kSegment));
            auto app = sender.Install(net.Customer(i));
            app.Start(Seconds(uniform->GetValue(0, 0.5)));
            InetSocketAddress any(Ipv4Address::GetAny(), kPort + k);
            PacketSinkHelper("ns3::TcpSocketFactory", any).Install(net.Peer(i));
        }
    }
}

// Packets and bytes (of IP) that have left the bottleneck queue, and UDP datagrams received.
struct Counts
{
    uint64_t packets = 0;
    uint64_t bytes = 0;
    uint64_t udp = 0;
};

Counts
CountsOf(const Dumbbell& net, const peer::CountingSink& sink)
{
    const auto& stats = net.Bottleneck()->GetStats();
    return {stats.nTotalSentPackets, stats.nTotalSentBytes, sink.Received()};
}

} // namespace

int
main(int argc, char* argv[])
{
    double seconds = 100;
    double warmup = 10;
    double udpMbps = 30;
    uint32_t seed = 1;
    CommandLine cmd(__FILE__);
    cmd.AddValue("seconds", "simulated time, s", seconds);
    cmd.AddValue("warmup", "throughput is measured from here on, s", warmup);
    cmd.AddValue("udp", "mean rate of the UDP source at IP level, Mbit/s", udpMbps);
    cmd.AddValue("seed", "run number of the random streams", seed);
    cmd.Parse(argc, argv);
    NS_ABORT_MSG_UNLESS(warmup < seconds, "--warmup must be less than --seconds");
    RngSeedManager::SetRun(seed);
    SetTcpDefaults();

    Dumbbell net;
    AddTcpFlows(net, CreateObject<UniformRandomVariable>());

    peer::CountingSink sink(net.Peer(3), kPort);
    auto source = peer::ConnectedSender(net.Customer(3), net.PeerAddress(3), kPort);
    auto gap = CreateObject<ExponentialRandomVariable>();
    gap->SetAttribute("Mean", DoubleValue(kPacket * 8 / (udpMbps * 1e6)));
    uint64_t sent = 0;
    auto send = [&source, &sent] {
        source->Send(Create<Packet>(kDatagram));
        ++sent;
    };
    peer::Ticker poisson([&gap] { return Seconds(gap->GetValue()); }, send);
    poisson.Start(Seconds(gap->GetValue()));

    Counts before;
    Simulator::Schedule(Seconds(warmup), [&] { before = CountsOf(net, sink); });
    double wall = peer::RunFor(Seconds(seconds));

    auto after = CountsOf(net, sink);
    double perSecond = 8.0 / (seconds - warmup);
    double udp = (after.udp - before.udp) * kPacket * perSecond;
    double all = (after.bytes - before.bytes) * perSecond;
    peer::Report("ns3/s1-tcp-red", wall, net.Hops(), after.packets,
                 {{"tcp_bps", all - udp},
                  {"udp_bps", udp},
                  {"udp_sent_packets", static_cast<double>(sent)}});
    Simulator::Destroy();
    return 0;
}
