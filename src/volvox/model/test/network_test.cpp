// Interfaces to the network and further behaviours, as declared in SDF.
#include "volvox/model/test/test_files.h"

namespace volvox::model::test {
namespace {

// One link on line 3, two docks on line 4; what is given follows on line 5.
std::string with_docks(const std::string& content) {
  return model(std::string("<link name=\"a\">") + inertial +
               "</link>\n<volvox:dock name=\"n\" link=\"a\"/><volvox:dock name=\"s\" link=\"a\"/>\n" + content);
}

class NetworkReader : public ReaderTest {
 protected:
  void expect_bad(const std::string& element, const std::string& what, const std::string& fix = {}) {
    expect_error(read_model(with_docks(element)), 5, what, fix);
  }
};

TEST_F(NetworkReader, WiresRadiosAndBuses) {
  const auto read =
      read_model(with_docks("<volvox:wire dock=\"s\" bit_rate=\"6000\" delay=\"1e-6\" queue=\"8\" overhead=\"3\"/>\n"
                            "<volvox:wire dock=\"n\" timing=\"delayed\" capacity=\"64\"/>\n"
                            "<volvox:radio name=\"r\" power=\"0.002\" bit_rate=\"6000\" slot=\"0.004\" window=\"30\" "
                            "receive_threshold=\"1e-9\" channel=\"ism\"/>\n"
                            "<volvox:bus name=\"can\" bit_rate=\"1e6\" stuffing=\"exact\"/><volvox:bus name=\"i2c\" "
                            "kind=\"serial\" scope=\"world\" master=\"true\"/>"));
  ASSERT_TRUE(read.ok()) << read.error().text();
  const ModuleModel& m = **read;
  ASSERT_EQ(m.wires.size(), 2u);
  EXPECT_EQ(m.wires[0].dock, 0);
  EXPECT_EQ(m.wires[0].timing, WireTiming::delayed);
  EXPECT_EQ(m.wires[0].capacity, 64u);
  EXPECT_EQ(m.wires[1].bit_rate, 6000);
  EXPECT_EQ(m.wires[1].queue, 8u);
  EXPECT_EQ(m.radios[0].power, 0.002);
  EXPECT_EQ(m.radios[0].bandwidth, 6000) << "as wide as the bit rate, if not told";
  EXPECT_EQ(m.radios[0].carrier_threshold, 1e-9) << "the receive threshold, if not told";
  EXPECT_EQ(m.radios[0].channel, "ism");
  EXPECT_EQ(m.buses[0].stuffing, BusStuffing::exact);
  EXPECT_EQ(m.buses[1].scope, BusScope::world);
  EXPECT_TRUE(m.buses[1].master);
  EXPECT_EQ(m.outlet_names(), (std::vector<std::string>{"n", "s", "r", "can", "i2c"}));
}

TEST_F(NetworkReader, OneWireForAllDocks) {
  const auto read = read_model(with_docks("<volvox:wire dock=\"*\" bit_rate=\"6000\"/>"));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ((*read)->wires.size(), 2u);
  expect_bad("<volvox:wire dock=\"*\"/><volvox:wire dock=\"n\"/>", "dock n has two wires");
}

TEST_F(NetworkReader, BadInterfaces) {
  expect_bad("<volvox:radio name=\"r\" power=\"-1\"/>", "power=\"-1\"", "above 0");
  expect_bad("<volvox:radio name=\"r\" power=\"2000\"/>", "power=\"2000\"");
  expect_bad("<volvox:radio name=\"r\" bit_rate=\"0\"/>", "bit_rate=\"0\"", "positive");
  expect_bad("<volvox:radio name=\"r\" slot=\"0\"/>", "slot=\"0\"");
  expect_bad("<volvox:radio name=\"r\" window=\"0\"/>", "window=\"0\"", "whole number");
  expect_bad("<volvox:radio name=\"r\" capture_ratio=\"0.5\"/>", "capture_ratio=\"0.5\"");
  expect_bad("<volvox:radio name=\"r\" noise_factor=\"0\"/>", "noise_factor=\"0\"");
  expect_bad("<volvox:radio name=\"r\" retries=\"1000\"/>", "retries=\"1000\"");
  expect_bad("<volvox:radio name=\"r\" pwoer=\"1\"/>", "no attribute pwoer=", "did you mean power?");
  expect_bad("<volvox:radio name=\"r\" modulation=\"am\"/>", "modulation=\"am\"", "carrier, ts-ook");
  expect_bad("<volvox:radio name=\"r\" spread=\"10\"/>", "sends on a carrier, and has no pulse=, spread= or repairs=");
  expect_bad("<volvox:radio name=\"r\" modulation=\"ts-ook\" bit_rate=\"6e3\"/>", "has no bit_rate=", "pulse= times");
  expect_bad("<volvox:radio name=\"r\" modulation=\"ts-ook\" acknowledge=\"true\"/>", "cannot acknowledge=");
  expect_bad("<volvox:radio name=\"r\" modulation=\"ts-ook\" pulse=\"0\"/>", "pulse=\"0\"");
  expect_bad("<volvox:radio name=\"r\" link=\"b\"/>", "names the link b");
  expect_bad("<volvox:radio/>", "name");
  expect_bad("<volvox:radio name=\"n\"/>", "two docks, radios or buses named n");
  expect_bad("<volvox:wire dock=\"n\" bit_rate=\"0\"/>", "bit_rate=\"0\"", "positive");
  expect_bad("<volvox:wire dock=\"n\" bit_rate=\"-6000\"/>", "bit_rate=\"-6000\"");
  expect_bad("<volvox:wire dock=\"n\" delay=\"-1\"/>", "delay=\"-1\"");
  expect_bad("<volvox:wire dock=\"north\"/>", "dock north, which m does not have", "n, s");
  expect_bad("<volvox:wire/>", "dock");
  expect_bad("<volvox:wire dock=\"n\" timing=\"slow\"/>", "timing=\"slow\"", "live, delayed");
  expect_bad("<volvox:wire dock=\"n\" timing=\"delayed\"/>", "no capacity=", "bytes");
  expect_bad("<volvox:wire dock=\"n\" timing=\"delayed\" capacity=\"0\"/>", "capacity=\"0\"");
  expect_bad("<volvox:wire dock=\"n\" capacity=\"9\"/>", "a live wire has no capacity=");
  expect_bad("<volvox:wire dock=\"n\" queue=\"0\"/>", "queue=\"0\"");
  expect_bad("<volvox:bus name=\"b\" kind=\"lin\"/>", "kind=\"lin\"", "can, serial");
  expect_bad("<volvox:bus name=\"b\" master=\"true\"/>", "the CAN bus b has no master");
  expect_bad("<volvox:bus name=\"b\" kind=\"serial\" stuffing=\"worst\"/>", "has no bit stuffing");
  expect_bad("<volvox:bus name=\"b\" bit_rate=\"inf\"/>", "bit_rate=\"inf\"");
}

TEST_F(NetworkReader, Channels) {
  const auto read = read_world(
      folder.write(
          "w.sdf",
          world("<volvox:channel name=\"air\" frequency=\"60e9\" propagation=\"two_ray\" passes_bodies=\"0.1\"/>")),
      {}, library);
  ASSERT_TRUE(read.ok()) << read.error().text();
  ASSERT_EQ(read->channels.size(), 1u);
  EXPECT_EQ(read->channels[0].frequency, 60e9);
  EXPECT_EQ(read->channels[0].law, PropagationLaw::two_ray);
  EXPECT_EQ(read->channels[0].passes_bodies, 0.1);
  const auto bad = [&](const std::string& attributes, const std::string& what) {
    expect_error(this->read(world("<volvox:channel name=\"air\" " + attributes + "/>")), 3, what);
  };
  bad("frequency=\"0\"", "frequency=\"0\"");
  bad("exponnt=\"2\"", "no attribute exponnt=");
  const auto law = read_world(
      folder.write("w.sdf", world("<volvox:channel name=\"air\" propagation=\"mine\" walls=\"3\"/>")), {}, library);
  ASSERT_TRUE(law.ok()) << law.error().text();  // a plugin may bring it
  EXPECT_EQ(law->channels[0].custom_law, "mine");
  EXPECT_EQ(law->channels[0].custom_parameters.at("walls"), "3");
  bad("passes_bodies=\"2\"", "passes_bodies=\"2\"");
  bad("cull_radius=\"-1\"", "cull_radius=\"-1\"");
  bad("shadowing_db=\"nan\"", "shadowing_db=\"nan\"");
  expect_error(this->read(world("<volvox:channel name=\"air\"/>\n<volvox:channel name=\"air\"/>")), 4, "twice");
}

TEST_F(NetworkReader, FurtherBehaviors) {
  const auto read =
      read_model(with_docks("<volvox:mind behavior=\"walk\"><volvox:behavior name=\"talk\"><volvox:parameter "
                            "name=\"x\" value=\"1\"/></volvox:behavior></volvox:mind>"));
  ASSERT_TRUE(read.ok()) << read.error().text();
  ASSERT_EQ((*read)->mind->further.size(), 1u);
  EXPECT_EQ((*read)->mind->further[0].behavior, "talk");
  EXPECT_EQ((*read)->mind->further[0].parameters.at("x"), "1");
  expect_bad("<volvox:mind behavior=\"walk\"><volvox:behavior/></volvox:mind>", "name");
}

}  // namespace
}  // namespace volvox::model::test
