// The peer: the same flood in ns-3's lr-wpan (3.37). Prints CPU seconds, peak MB, nodes reached.
// A grid, Friis at 2.4 GHz, 0 dBm, some 28 neighbours within range; every node sends on once.
#include <ns3/core-module.h>
#include <ns3/lr-wpan-module.h>
#include <ns3/mobility-module.h>
#include <ns3/network-module.h>
#include <ns3/propagation-module.h>
#include <ns3/spectrum-module.h>
#include <sys/resource.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <vector>

namespace {

std::map<ns3::Ptr<ns3::NetDevice>, bool> has_sent;
unsigned long long reached = 0;

void broadcast(ns3::Ptr<ns3::NetDevice> device) {
  if (has_sent[device]) return;
  has_sent[device] = true;
  ++reached;
  device->Send(ns3::Create<ns3::Packet>(53), ns3::Mac16Address("ff:ff"), 0);
}

bool received(ns3::Ptr<ns3::NetDevice> device, ns3::Ptr<const ns3::Packet>, std::uint16_t, const ns3::Address&) {
  broadcast(device);
  return true;
}

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

}  // namespace

int main(int count, char** arguments) {
  const int nodes = count > 1 ? std::atoi(arguments[1]) : 400;
  const int side = static_cast<int>(std::ceil(std::sqrt(nodes)));
  const double spacing = 695;  // m: 3.05 of them to the sensitivity of -106.58 dBm
  const double start = cpu_seconds();

  auto channel = ns3::CreateObject<ns3::SingleModelSpectrumChannel>();
  channel->SetAttribute("MaxLossDb", ns3::DoubleValue(110));  // its only limit of range
  auto loss = ns3::CreateObject<ns3::FriisPropagationLossModel>();
  loss->SetFrequency(2.4e9);
  channel->AddPropagationLossModel(loss);
  channel->SetPropagationDelayModel(ns3::CreateObject<ns3::ConstantSpeedPropagationDelayModel>());

  // The devices are made by hand: LrWpanHelper::SetChannel leaves the channel without them.
  std::vector<ns3::Ptr<ns3::LrWpanNetDevice>> devices;
  for (int i = 0; i < nodes; ++i) {
    auto node = ns3::CreateObject<ns3::Node>();
    auto place = ns3::CreateObject<ns3::ConstantPositionMobilityModel>();
    place->SetPosition(ns3::Vector(spacing * (i % side), spacing * (i / side), 0));
    node->AggregateObject(place);
    auto device = ns3::CreateObject<ns3::LrWpanNetDevice>();
    device->SetAddress(ns3::Mac16Address::Allocate());
    device->SetChannel(channel);
    node->AddDevice(device);
    device->GetPhy()->SetMobility(place);
    device->SetReceiveCallback(ns3::MakeCallback(&received));
    devices.push_back(device);
  }
  ns3::Simulator::Schedule(ns3::Seconds(0), &broadcast, devices[static_cast<std::size_t>(side / 2 * side + side / 2)]);
  ns3::Simulator::Stop(ns3::Seconds(60));
  ns3::Simulator::Run();
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf("%.6f %.1f %llu\n", cpu_seconds() - start, static_cast<double>(usage.ru_maxrss) / 1024, reached);
  ns3::Simulator::Destroy();
  return 0;
}
