// UDP for the ns-3 programs: a connected sender, and a sink that counts.

#pragma once

#include <ns3/internet-module.h>
#include <ns3/network-module.h>

#include <cstdint>

namespace peer
{

// Receives datagrams on a port and counts them.
class CountingSink
{
  public:
    CountingSink(ns3::Ptr<ns3::Node> node, uint16_t port)
        : m_socket(ns3::Socket::CreateSocket(node, ns3::UdpSocketFactory::GetTypeId()))
    {
        m_socket->Bind(ns3::InetSocketAddress(ns3::Ipv4Address::GetAny(), port));
        m_socket->SetRecvCallback(ns3::MakeCallback(&CountingSink::Receive, this));
    }

    CountingSink(const CountingSink&) = delete;
    CountingSink& operator=(const CountingSink&) = delete;

    uint64_t Received() const { return m_received; }

  private:
    void Receive(ns3::Ptr<ns3::Socket> socket)
    {
        while (socket->Recv())
        {
            ++m_received;
        }
    }

    ns3::Ptr<ns3::Socket> m_socket;
    uint64_t m_received = 0;
};

inline ns3::Ptr<ns3::Socket>
ConnectedSender(ns3::Ptr<ns3::Node> node, ns3::Ipv4Address to, uint16_t port)
{
    auto socket = ns3::Socket::CreateSocket(node, ns3::UdpSocketFactory::GetTypeId());
    socket->Connect(ns3::InetSocketAddress(to, port));
    return socket;
}

} // namespace peer
