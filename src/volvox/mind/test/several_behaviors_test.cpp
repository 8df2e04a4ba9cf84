// Several behaviours on one module: mailboxes, models, parameters and access rights.
#include "volvox/base/index.h"
#include "volvox/exchange/exchange.h"

#include <gtest/gtest.h>

#include <cmath>

#include "network_fixture.h"
#include "volvox/mind/actuator.h"

namespace volvox::mind {
namespace {

struct Sees {
  std::vector<int> mailboxes;
};
VOLVOX_TYPE(Sees, mailboxes)

class Clerk : public Behavior {
 public:
  void start(Agent& agent) override {
    const int first = agent.parameter("first", 10);
    for (int box = 1; box <= agent.parameter("boxes", 0); ++box) agent.open(narrow<MailboxNumber>(first + box));
    spoke_ = !agent.parameter("speaks", false) || agent.name() != "m0";
  }
  void step(Agent& agent) override {
    if (!spoke_)
      for (const int box : {0, 11, 12, 21, 99}) agent.send("east", 1.0, {.mailbox = narrow<MailboxNumber>(box)});
    spoke_ = true;
    while (const auto message = agent.read()) agent.model<Sees>().mailboxes.push_back(100 + message->mailbox);
  }
  bool receive(Agent& agent, const Message& message) override {
    if (message.mailbox == 12) return false;  // stays in the mailbox
    agent.model<Sees>().mailboxes.push_back(message.mailbox);
    return true;
  }
  VOLVOX_STATE(spoke_)

 private:
  bool spoke_ = false;
};

class TwoClerks : public testing::TestWithParam<bool> {};

TEST_P(TwoClerks, HaveTheirOwnMailboxesAndModels) {
  Theatre theatre;
  theatre.registries.behaviors.add("clerk", [] { return std::make_unique<Clerk>(); });
  model::ModuleModel model = GetParam() ? wired(1e6) : actor();
  model.mind = model::Mind{"clerk",
                           {{"speaks", "true"}, {"boxes", "2"}},
                           "f",
                           1,
                           {model::Mind{"clerk", {{"first", "20"}, {"boxes", "1"}}, "f", 2}}};
  auto builder = chain_of(2, model);
  ASSERT_TRUE(theatre.open(builder).ok());
  theatre.ticks(3);
  // Of the two, the first has mailboxes 0, 11 and 12, the second 21; no behaviour opens 99.
  Agent& agent = theatre.minds->agent(1);
  EXPECT_EQ(agent.model<Sees>().mailboxes, (std::vector<int>{0, 11, 112}));
  EXPECT_EQ(theatre.minds->network().sent, 5);
  EXPECT_EQ(theatre.minds->network().lost, 1);
  EXPECT_EQ(theatre.minds->network().delivered, 4) << "what nobody receives is lost and nothing else";
}
INSTANTIATE_TEST_SUITE_P(OverBothNetworks, TwoClerks, testing::Bool());

TEST(Exchange, AMailboxIsOneBehaviors) {
  Theatre theatre;
  theatre.registries.behaviors.add("clerk", [] { return std::make_unique<Clerk>(); });
  model::ModuleModel model = actor();
  model.mind = model::Mind{"clerk", {{"boxes", "1"}}, "f", 1, {model::Mind{"clerk", {{"boxes", "1"}}, "f", 2}}};
  auto builder = chain_of(1, model);
  const auto opened = theatre.open(builder);
  ASSERT_FALSE(opened.ok());
  EXPECT_NE(opened.error().text().find("mailbox 11, which is another behavior's"), std::string::npos)
      << opened.error().text();
}

TEST(Behaviors, OmniscienceIsOnesOwn) {
  for (const int all_seeing : {0, 1}) {
    Theatre theatre;
    int made = 0;
    std::vector<int> saw;
    theatre.prepare = [&](Scripted& b) {
      const int number = made++ % 2;  // two behaviours a module
      b.sees_all = number == all_seeing;
      b.on_step = [&saw, number](Agent& agent) { saw.push_back(number), (void)agent.module_count(); };
    };
    model::ModuleModel model = actor();
    model.mind = model::Mind{"scripted", {}, "f", 1, {model::Mind{"scripted", {}, "f", 2}}};
    auto builder = chain_of(1, model);
    ASSERT_TRUE(theatre.open(builder).ok());
    const StepStatus failure = theatre.tick();
    EXPECT_NE(failure.what.find("omniscient"), std::string::npos)
        << "the other behaviour must not see what its neighbour may";
    EXPECT_EQ(saw.back(), 1 - all_seeing);
  }
}

TEST(Behaviors, ABadCommandNamesAllThatMayHaveGivenIt) {
  Theatre theatre;
  theatre.registries.behaviors.add("sane", [] { return std::make_unique<Scripted>(); });
  theatre.prepare = [](Scripted& b) { b.on_step = [](Agent& agent) { agent.act("lamp", Light{std::nan(""), 0, 0}); }; };
  model::ModuleModel model = actor();
  model.actuators.push_back({"lamp", "lamp", 0, {}, {}, 0});
  model.mind = model::Mind{"sane", {}, "f", 1, {model::Mind{"scripted", {}, "f", 2}}};
  auto builder = chain_of(1, model);
  ASSERT_TRUE(theatre.open(builder).ok());
  EXPECT_EQ(theatre.tick().what,
            "behavior 'sane' or 'scripted' commanded a value that is not a number for the action 'lamp'");
}

// Changes much state before it checks the value.
class Rash : public Behavior {
 public:
  void start(Agent& agent) override { tune(agent); }
  void step(Agent&) override {}
  void tune(Agent& agent) override {
    ++tuned_;
    agent.log("tuned");
    agent.broadcast(1.0);
    agent.enable_dock("east");
    agent.model<Sees>().mailboxes.push_back(tuned_);
    (void)agent.random().bits();
    limit_ = agent.parameter("limit", 1.0);
    if (limit_ > 10) throw AgentError("too much");
  }
  double limit() const { return limit_; }
  VOLVOX_STATE(tuned_)

 private:
  int tuned_ = 0;
  double limit_ = 0;  // taken from the parameters, so not a part of the state
};

TEST(Behaviors, ARefusedTuneLeavesNoTrace) {
  Theatre theatre;
  theatre.registries.behaviors.add("rash", [] { return std::make_unique<Rash>(); });
  model::ModuleModel model = actor();
  model.mind = model::Mind{"rash", {{"limit", "2"}}, "f", 1};
  auto builder = chain_of(1, model);
  ASSERT_TRUE(theatre.open(builder).ok());
  const auto hash = [&] {
    HashArchive archive;
    theatre.minds->archive(archive);
    return archive.value();
  };
  const std::uint64_t before = hash();
  const auto& rash = dynamic_cast<const Rash&>(*theatre.minds->behavior(0));
  for (const char* value : {"11", "much", "nan"}) {
    EXPECT_FALSE(theatre.minds->tune(0, "limit", value)) << value;
    EXPECT_EQ(hash(), before) << value;
    EXPECT_EQ(rash.limit(), 2);
    EXPECT_EQ(theatre.minds->agent(0).behavior_parameters().at("limit"), "2");
  }
  EXPECT_TRUE(theatre.minds->tune(0, "limit", "3"));
  EXPECT_NE(hash(), before);
  EXPECT_EQ(rash.limit(), 3);
}

TEST(Behaviors, AllParametersAreShown) {
  Theatre theatre;
  theatre.registries.behaviors.add("clerk", [] { return std::make_unique<Clerk>(); });
  theatre.registries.behaviors.add("rash", [] { return std::make_unique<Rash>(); });
  model::ModuleModel model = actor();
  model.mind = model::Mind{"clerk", {{"boxes", "2"}}, "f", 1, {model::Mind{"rash", {{"limit", "4"}}, "f", 2}}};
  auto builder = chain_of(1, model);
  ASSERT_TRUE(theatre.open(builder).ok());
  using Shown = std::map<std::string, std::string>;
  EXPECT_EQ(theatre.minds->agent(0).behavior_parameters(),
            (Shown{{"boxes", "2"}, {"first", "10"}, {"limit", "4"}, {"speaks", "false"}}));
}

// Between two ticks a module's clock shows the same after a restore as before it.
TEST(Behaviors, ARestoredModuleKnowsTheTime) {
  Theatre theatre, restored;
  auto builder = chain_of(2, with_radio());
  ASSERT_TRUE(theatre.open(builder).ok());
  ASSERT_TRUE(restored.open(builder = chain_of(2, with_radio())).ok());
  theatre.ticks(30);
  SaveArchive save;
  theatre.minds->archive(save);
  LoadArchive load(save.bytes());
  restored.minds->archive(load);
  ASSERT_TRUE(load.ok()) << load.failure();
  EXPECT_EQ(theatre.minds->agent(1).time(), 0.5);
  EXPECT_EQ(restored.minds->agent(1).time(), 0.5);
}

}  // namespace
}  // namespace volvox::mind
