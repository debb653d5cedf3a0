// Traffic beside greedy flows: clients at the far end of TCP connections ask for objects, web pages
// and video in chunks; and datagrams of a constant rate.

#pragma once

#include "network.h"
#include "udp.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>

namespace peer
{

// A connection over which a client gets one object at a time: a request of 400 B on the wire, and
// an answer of the size that the client has drawn, sent under the control given. It is opened at
// `start` and stays open.
class Connection
{
  public:
    Connection(const Way& way,
               uint16_t port,
               ns3::Time start,
               ns3::TypeId control = ns3::TcpCubic::GetTypeId())
        : m_server_address(way.from_address, port)
    {
        using namespace ns3;
        m_listener = way.from->GetObject<TcpL4Protocol>()->CreateSocket(control);
        m_listener->Bind(InetSocketAddress(Ipv4Address::GetAny(), port));
        m_listener->Listen();
        m_listener->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(),
                                      MakeCallback(&Connection::Accepted, this));
        m_client = Socket::CreateSocket(way.to, TcpSocketFactory::GetTypeId());
        m_client->SetRecvCallback(MakeCallback(&Connection::Arrived, this));
        Simulator::Schedule(start, [this] { m_client->Connect(m_server_address); });
    }

    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    // Gets an object of so many bytes and calls `done` when all of it has arrived.
    void Get(uint64_t bytes, std::function<void()> done)
    {
        m_wanted = m_missing = bytes;
        m_done = std::move(done);
        m_client->Send(ns3::Create<ns3::Packet>(kRequest));
    }

    uint64_t Received() const { return m_received; }

  private:
    static constexpr uint32_t kRequest = 400 - 52; // less IP, TCP and timestamps

    void Accepted(ns3::Ptr<ns3::Socket> socket, const ns3::Address&)
    {
        m_server = socket;
        m_server->SetRecvCallback(ns3::MakeCallback(&Connection::Asked, this));
        m_server->SetSendCallback(ns3::MakeCallback(&Connection::Room, this));
        // A host finds the socket of a packet by going through all that it has.
        m_listener->Close();
    }

    void Asked(ns3::Ptr<ns3::Socket> socket)
    {
        while (auto packet = socket->Recv())
        {
            m_asked += packet->GetSize();
        }
        if (m_asked >= kRequest)
        {
            m_asked -= kRequest;
            m_left = m_wanted;
            Write();
        }
    }

    void Room(ns3::Ptr<ns3::Socket>, uint32_t) { Write(); }

    void Write()
    {
        while (m_left > 0)
        {
            uint64_t room = m_server->GetTxAvailable();
            auto size = static_cast<uint32_t>(std::min<uint64_t>({m_left, room, 1 << 20}));
            if (size == 0 || m_server->Send(ns3::Create<ns3::Packet>(size)) <= 0)
            {
                return;
            }
            m_left -= size;
        }
    }

    void Arrived(ns3::Ptr<ns3::Socket> socket)
    {
        while (auto packet = socket->Recv())
        {
            m_received += packet->GetSize();
            m_missing -= packet->GetSize();
        }
        if (m_missing == 0 && m_done)
        {
            std::exchange(m_done, nullptr)();
        }
    }

    ns3::InetSocketAddress m_server_address;
    ns3::Ptr<ns3::Socket> m_listener;
    ns3::Ptr<ns3::Socket> m_server;
    ns3::Ptr<ns3::Socket> m_client;
    std::function<void()> m_done;
    uint64_t m_wanted = 0;
    uint64_t m_left = 0;    // not yet written by the server
    uint64_t m_missing = 0; // not yet arrived at the client
    uint64_t m_received = 0;
    uint32_t m_asked = 0;
};

// One random draw of a size: bounded Pareto, 5 kB to 1 GB, shape 1.1.
inline uint64_t
ObjectSize(ns3::Ptr<ns3::UniformRandomVariable> uniform)
{
    constexpr double kLeast = 5e3;
    constexpr double kMost = 1e9;
    constexpr double kShape = 1.1;
    double below = uniform->GetValue(0, 1) * (1 - std::pow(kLeast / kMost, kShape));
    return static_cast<uint64_t>(kLeast * std::pow(1 - below, -1 / kShape));
}

// A web client: thinks, asks for the thirty objects of a page over six connections, and has it when
// all have arrived.
class WebClient
{
  public:
    WebClient(const Way& way,
              uint16_t port,
              double think_s,
              ns3::TypeId control = ns3::TcpCubic::GetTypeId())
    {
        m_think->SetAttribute("Mean", ns3::DoubleValue(think_s));
        for (uint16_t k = 0; k < kConnections; ++k)
        {
            m_connections.emplace_back(way, port + k, ns3::Seconds(0), control);
        }
        Think();
    }

    static constexpr uint16_t kConnections = 6;

    uint64_t Received() const
    {
        uint64_t sum = 0;
        for (const auto& connection : m_connections)
        {
            sum += connection.Received();
        }
        return sum;
    }

    uint64_t Pages() const { return m_pages; }

  private:
    static constexpr uint32_t kObjects = 30;

    void Think()
    {
        ns3::Simulator::Schedule(ns3::Seconds(m_think->GetValue()), &WebClient::Ask, this);
    }

    void Ask()
    {
        m_unasked = m_missing = kObjects;
        for (auto& connection : m_connections)
        {
            Next(connection);
        }
    }

    void Next(Connection& connection)
    {
        if (m_unasked == 0)
        {
            return;
        }
        --m_unasked;
        connection.Get(ObjectSize(m_uniform), [this, &connection] {
            --m_missing;
            Next(connection);
            if (m_missing == 0)
            {
                ++m_pages;
                Think();
            }
        });
    }

    ns3::Ptr<ns3::ExponentialRandomVariable> m_think =
        ns3::CreateObject<ns3::ExponentialRandomVariable>();
    ns3::Ptr<ns3::UniformRandomVariable> m_uniform =
        ns3::CreateObject<ns3::UniformRandomVariable>();
    std::deque<Connection> m_connections;
    uint32_t m_unasked = 0;
    uint32_t m_missing = 0;
    uint64_t m_pages = 0;
};

// A client that plays video: chunks of 4 s, the first at the lowest bit rate, each other at the
// highest that the harmonic mean of the throughput of the last five covers. A chunk is asked for
// when there is room for it among 20 s.
class VideoClient
{
  public:
    VideoClient(const Way& way, uint16_t port, ns3::Time start)
        : m_connection(way, port, start)
    {
        ns3::Simulator::Schedule(start, &VideoClient::Ask, this);
    }

    uint64_t Received() const { return m_connection.Received(); }

  private:
    static constexpr double kChunk = 4; // s
    static constexpr double kBuffer = 20;
    static constexpr std::size_t kSamples = 5;

    static double Now() { return ns3::Simulator::Now().GetSeconds(); }

    void Ask()
    {
        m_asked = Now();
        auto bytes = static_cast<uint64_t>(Rate() * kChunk / 8);
        m_connection.Get(bytes, [this, bytes] { Arrived(bytes); });
    }

    double Rate() const
    {
        constexpr double kRates[] = {1e6, 2.5e6, 5e6, 8e6, 16e6};
        double inverse = 0;
        for (double sample : m_samples)
        {
            inverse += 1 / sample;
        }
        double rate = kRates[0];
        for (double higher : kRates)
        {
            if (!m_samples.empty() && higher * inverse <= static_cast<double>(m_samples.size()))
            {
                rate = higher;
            }
        }
        return rate;
    }

    void Arrived(uint64_t bytes)
    {
        m_samples.push_back(static_cast<double>(bytes) * 8 / (Now() - m_asked));
        if (m_samples.size() > kSamples)
        {
            m_samples.pop_front();
        }
        m_played_until = std::max(m_played_until, Now()) + kChunk;
        double wait = std::max(0.0, m_played_until - Now() - (kBuffer - kChunk));
        ns3::Simulator::Schedule(ns3::Seconds(wait), &VideoClient::Ask, this);
    }

    Connection m_connection;
    std::deque<double> m_samples; // bit/s
    double m_asked = 0;
    double m_played_until = 0; // s, by what has arrived
};

// Datagrams of a constant size, with the headers of IP and UDP, at a constant rate from `start` on.
class ConstantRate
{
  public:
    ConstantRate(const Way& way, uint16_t port, uint32_t size, double bps, ns3::Time start)
        : m_sink(way.to, port),
          m_socket(ConnectedSender(way.from, way.to_address, port)),
          m_ticker([gap = ns3::Seconds(size * 8 / bps)] { return gap; },
                   [this, size] { m_socket->Send(ns3::Create<ns3::Packet>(size - 28)); })
    {
        m_ticker.Start(start);
    }

    uint64_t Received() const { return m_sink.Received(); }

  private:
    CountingSink m_sink;
    ns3::Ptr<ns3::Socket> m_socket;
    Ticker m_ticker;
};

} // namespace peer
