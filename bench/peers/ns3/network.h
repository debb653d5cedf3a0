// Networks of point-to-point links with queue disciplines, for s9-access and s10-mix.
//
// ns-3's point-to-point link adds two bytes of PPP header, so that rates of links are raised by
// 1502/1500; token buckets see IP packets and are not.

#pragma once

#include "common.h"

#include <ns3/applications-module.h>
#include <ns3/internet-module.h>
#include <ns3/traffic-control-module.h>

#include <map>
#include <unordered_map>
#include <unordered_set>

namespace peer
{

constexpr uint32_t kSegment = 1448; // data bytes of a segment: 1500 with headers and timestamps
constexpr uint32_t kPacket = 1500;

// Settings of forebay's profile "linux" where it differs from ns-3's defaults. SACK, PRR,
// timestamps, HyStart, an initial window of ten and an ACK for every second segment are its
// defaults already; RACK and tail loss probes it has not.
inline void
SetLinuxDefaults()
{
    using namespace ns3;
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpCubic::GetTypeId()));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(kSegment));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(4 << 20));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(6 << 20));
}

// One direction of a link: its rate, and the queue discipline in front of it. Without one its FIFO
// has no limit. With `shaped_bps` the discipline is the child of a token bucket of 15 kB.
struct Direction
{
    double bps;
    const char* disc = nullptr;
    double shaped_bps = 0;
};

// Routes of a node in a hash table. ns-3's static routing goes through all routes of a node for
// each packet, and its nix-vectors through all devices: here some hundreds.
class Routes : public ns3::Ipv4RoutingProtocol
{
  public:
    void AddLocal(ns3::Ipv4Address address) { m_local.insert(address.Get()); }

    void Add(ns3::Ptr<ns3::Ipv4Route> route) { m_routes[route->GetDestination().Get()] = route; }

    ns3::Ptr<ns3::Ipv4Route> RouteOutput(ns3::Ptr<ns3::Packet>,
                                         const ns3::Ipv4Header& header,
                                         ns3::Ptr<ns3::NetDevice>,
                                         ns3::Socket::SocketErrno& error) override
    {
        auto found = m_routes.find(header.GetDestination().Get());
        bool none = found == m_routes.end();
        error = none ? ns3::Socket::ERROR_NOROUTETOHOST : ns3::Socket::ERROR_NOTERROR;
        return none ? nullptr : found->second;
    }

    bool RouteInput(ns3::Ptr<const ns3::Packet> packet,
                    const ns3::Ipv4Header& header,
                    ns3::Ptr<const ns3::NetDevice> device,
                    UnicastForwardCallback forward,
                    MulticastForwardCallback,
                    LocalDeliverCallback deliver,
                    ErrorCallback) override
    {
        auto to = header.GetDestination().Get();
        if (m_local.count(to))
        {
            deliver(packet, header, m_ipv4->GetInterfaceForDevice(device));
            return true;
        }
        auto found = m_routes.find(to);
        if (found == m_routes.end())
        {
            return false;
        }
        forward(found->second, packet, header);
        return true;
    }

    void SetIpv4(ns3::Ptr<ns3::Ipv4> ipv4) override { m_ipv4 = ipv4; }
    void NotifyInterfaceUp(uint32_t) override {}
    void NotifyInterfaceDown(uint32_t) override {}
    void NotifyAddAddress(uint32_t, ns3::Ipv4InterfaceAddress) override {}
    void NotifyRemoveAddress(uint32_t, ns3::Ipv4InterfaceAddress) override {}
    void PrintRoutingTable(ns3::Ptr<ns3::OutputStreamWrapper>, ns3::Time::Unit) const override {}

  private:
    ns3::Ptr<ns3::Ipv4> m_ipv4;
    std::unordered_set<uint32_t> m_local;
    std::unordered_map<uint32_t, ns3::Ptr<ns3::Ipv4Route>> m_routes;
};

// Ends of a flow, and the addresses that its route leads to.
struct Way
{
    ns3::Ptr<ns3::Node> from;
    ns3::Ptr<ns3::Node> to;
    ns3::Ipv4Address from_address;
    ns3::Ipv4Address to_address;

    Way Back() const { return {to, from, to_address, from_address}; }
};

// Hosts, links between them, routes over these, and what they have carried.
class Network
{
  public:
    Network() { m_stack.SetIpv6StackInstall(false); }

    ns3::Ptr<ns3::Node> Host()
    {
        auto node = ns3::CreateObject<ns3::Node>();
        m_stack.Install(node);
        node->GetObject<ns3::Ipv4>()->SetRoutingProtocol(ns3::CreateObject<Routes>());
        return node;
    }

    // A link each way.
    ns3::NetDeviceContainer Link(ns3::Ptr<ns3::Node> from,
                                 ns3::Ptr<ns3::Node> to,
                                 ns3::Time delay,
                                 const Direction& there,
                                 const Direction& back)
    {
        using namespace ns3;
        PointToPointHelper link;
        link.SetChannelAttribute("Delay", TimeValue(delay));
        auto devices = link.Install(from, to);
        auto interfaces = m_addresses.Assign(devices);
        m_addresses.NewNetwork();
        TrafficControlHelper().Uninstall(devices);
        Equip(devices.Get(0), there);
        Equip(devices.Get(1), back);
        m_devices.Add(devices);
        RoutesOf(from)->AddLocal(interfaces.GetAddress(0));
        RoutesOf(to)->AddLocal(interfaces.GetAddress(1));
        auto first = Hop{devices.Get(0), interfaces.GetAddress(0), interfaces.GetAddress(1)};
        auto second = Hop{devices.Get(1), interfaces.GetAddress(1), interfaces.GetAddress(0)};
        m_hops[{from, to}] = first;
        m_hops[{to, from}] = second;
        return devices;
    }

    // The way over these nodes, with its routes there and back.
    Way Route(const std::vector<ns3::Ptr<ns3::Node>>& nodes)
    {
        auto last = nodes.size() - 1;
        auto from = m_hops.at({nodes[0], nodes[1]}).own;
        auto to = m_hops.at({nodes[last], nodes[last - 1]}).own;
        for (std::size_t i = 0; i < last; ++i)
        {
            AddRoute(nodes[i], nodes[i + 1], to);
            AddRoute(nodes[i + 1], nodes[i], from);
        }
        return {nodes[0], nodes[last], from, to};
    }

    // Links crossed by packets so far, all together.
    uint64_t Hops() const
    {
        uint64_t sum = 0;
        for (auto device = m_devices.Begin(); device != m_devices.End(); ++device)
        {
            sum += LinkTraversals(*device);
        }
        return sum;
    }

  private:
    // One end of a link.
    struct Hop
    {
        ns3::Ptr<ns3::NetDevice> device;
        ns3::Ipv4Address own;
        ns3::Ipv4Address other;
    };

    static ns3::Ptr<Routes> RoutesOf(ns3::Ptr<ns3::Node> node)
    {
        auto routing = node->GetObject<ns3::Ipv4>()->GetRoutingProtocol();
        return ns3::DynamicCast<Routes>(routing);
    }

    void AddRoute(ns3::Ptr<ns3::Node> node, ns3::Ptr<ns3::Node> next, ns3::Ipv4Address destination)
    {
        const auto& hop = m_hops.at({node, next});
        auto route = ns3::Create<ns3::Ipv4Route>();
        route->SetDestination(destination);
        route->SetSource(hop.own);
        route->SetGateway(hop.other);
        route->SetOutputDevice(hop.device);
        RoutesOf(node)->Add(route);
    }

    static void Equip(ns3::Ptr<ns3::NetDevice> device, const Direction& direction)
    {
        using namespace ns3;
        auto link = DynamicCast<PointToPointNetDevice>(device);
        link->SetDataRate(DataRate(static_cast<uint64_t>(direction.bps * (kPacket + 2) / kPacket)));
        link->GetQueue()->SetMaxSize(QueueSize(direction.disc ? "1p" : "1000000p"));
        if (!direction.disc)
        {
            return;
        }
        TrafficControlHelper control;
        if (direction.shaped_bps == 0)
        {
            control.SetRootQueueDisc(direction.disc);
            control.Install(device);
            return;
        }
        auto rate = DataRate(static_cast<uint64_t>(direction.shaped_bps));
        auto handle = control.SetRootQueueDisc("ns3::TbfQueueDisc",
                                               "Rate",
                                               DataRateValue(rate),
                                               "Burst",
                                               UintegerValue(15'000));
        auto classes = control.AddQueueDiscClasses(handle, 1, "ns3::QueueDiscClass");
        control.AddChildQueueDisc(handle, classes[0], direction.disc);
        auto child = control.Install(device).Get(0)->GetQueueDiscClass(0)->GetQueueDisc();
        // A child does not know the device, from which it would have this.
        if (auto codel = DynamicCast<FqCoDelQueueDisc>(child))
        {
            codel->SetQuantum(1514);
        }
        if (auto cobalt = DynamicCast<FqCobaltQueueDisc>(child))
        {
            cobalt->SetQuantum(1514);
        }
    }

    ns3::InternetStackHelper m_stack;
    ns3::Ipv4AddressHelper m_addresses{"10.0.0.0", "255.255.255.252"};
    ns3::NetDeviceContainer m_devices;
    std::map<std::pair<ns3::Ptr<ns3::Node>, ns3::Ptr<ns3::Node>>, Hop> m_hops;
};

// A greedy flow.
inline ns3::Ptr<ns3::PacketSink>
Greedy(const Way& way, uint16_t port, ns3::Time start)
{
    using namespace ns3;
    BulkSendHelper sender("ns3::TcpSocketFactory", InetSocketAddress(way.to_address, port));
    sender.SetAttribute("SendSize", UintegerValue(kSegment));
    sender.Install(way.from).Start(start);
    InetSocketAddress any(Ipv4Address::GetAny(), port);
    auto sink = PacketSinkHelper("ns3::TcpSocketFactory", any).Install(way.to);
    return DynamicCast<PacketSink>(sink.Get(0));
}

} // namespace peer
