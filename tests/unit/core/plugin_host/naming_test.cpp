// The plugin that a name selects among plugins of several vendors.
#include "core/plugin_host/naming.hpp"

#include <gtest/gtest.h>

#include "core/plugin_host/registry.hpp"
#include "tests/support/expect_error.hpp"

namespace tmeter::core::naming_test {
namespace {
using testing::expect_error;

struct Entry {
  const char *id, *name;
  bool usable = true;
};

PluginList plugins_of(std::initializer_list<Entry> entries) {
  PluginList out;
  for (const auto& k : entries) {
    auto p = std::make_unique<Plugin>();
    p->manifest.id = k.id;
    p->manifest.name = k.name;
    p->library = k.usable ? "/plugins/" + std::string(k.id) : "";
    p->described = k.usable;
    out.push_back(std::move(p));
  }
  return out;
}

std::string found(const PluginList& plugins, std::string_view name) {
  const auto* p = find_plugin(plugins, name);
  return p ? p->manifest.id : "";
}

TEST(Naming, AnIdIsExactAndAShortNameBelongsToOne) {
  const auto plugins = plugins_of({{"org.tmeter.flops", "flops"}, {"com.acme.heat", "heat"}});
  EXPECT_EQ(found(plugins, "org.tmeter.flops"), "org.tmeter.flops");
  EXPECT_EQ(found(plugins, "heat"), "com.acme.heat");
  EXPECT_EQ(found(plugins, "com.acme.flops"), "");
  EXPECT_EQ(found(plugins, ""), "");
}

TEST(Naming, AnIdWinsAgainstTheSameShortName) {
  EXPECT_EQ(found(plugins_of({{"com.acme.a", "b"}, {"b", "other"}}), "b"), "b");
}

TEST(Naming, AnAmbiguousNameListsTheCandidatesAndTheWayOut) {
  const auto plugins = plugins_of({{"org.tmeter.flops", "flops"}, {"com.acme.flops", "flops"}});
  expect_error(
      ErrorKind::kUsage,
      {"2 plugins are called 'flops'", "com.acme.flops (/plugins/com.acme.flops), org.tmeter",
       "--plugins=-org.tmeter.flops"},
      [&] { find_plugin(plugins, "flops"); });
  EXPECT_EQ(found(plugins, "com.acme.flops"), "com.acme.flops");
}

TEST(Naming, AUsablePluginWinsAgainstUnusableOnes) {
  EXPECT_EQ(found(plugins_of({{"a.x", "x", false}, {"b.x", "x"}}), "x"), "b.x");
  EXPECT_EQ(found(plugins_of({{"a.x", "x", false}}), "x"), "a.x");
  expect_error(ErrorKind::kUsage, {"whose library is missing"}, [] {
    find_plugin(plugins_of({{"a.x", "x", false}, {"b.x", "x", false}}), "x");
  });
}

TEST(Naming, ANeedPrefersPluginsOfTheSameMaker) {
  const auto plugins = plugins_of(
      {{"org.tmeter.flops", "flops"}, {"com.acme.flops", "flops"}, {"com.acme.heat", "heat"}});
  EXPECT_EQ(find_needed(plugins, "flops", *plugins[2])->manifest.id, "com.acme.flops");
  EXPECT_EQ(find_needed(plugins, "flops", *plugins[0])->manifest.id, "org.tmeter.flops");
  EXPECT_EQ(find_needed(plugins, "org.tmeter.flops", *plugins[2])->manifest.id, "org.tmeter.flops");
  EXPECT_EQ(find_needed(plugins, "params", *plugins[2]), nullptr);
  const auto stranger = plugins_of({{"net.other.x", "x"}});
  expect_error(ErrorKind::kUsage, {"2 plugins are called 'flops'"},
               [&] { find_needed(plugins, "flops", *stranger[0]); });
}

TEST(Naming, AFamilyIsTheIdUpToItsLastDot) {
  EXPECT_EQ(family_of("com.acme.flops"), "com.acme.");
  EXPECT_EQ(family_of("com.acme.x.y"), "com.acme.x.");
  EXPECT_EQ(family_of("alone"), "alone");
}

}  // namespace
}  // namespace tmeter::core::naming_test
