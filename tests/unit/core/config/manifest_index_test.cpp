// The index of a plugin folder's manifests: a written index is read back; any other file is
// refused.
#include "core/config/manifest_index.hpp"

#include <string>

#include "tests/support/expect_error.hpp"

namespace tmeter::core {
namespace {
using testing::expect_error;

/// A different value in every field, with characters that would break a format of lines or quotes.
IndexedManifest full_entry() {
  Manifest m;
  m.id = "com.acme.everything";
  m.name = "every\nthing";
  m.version = std::string("1\0002", 3);
  m.description = "12:34:\"'\\";
  m.unavailable = "no LibTorch";
  m.needs = {"flops", ""};
  m.metrics = {"macs"};
  m.options = {"a", "b", "c"};
  m.handles = {"acme::mlp"};
  m.shape_rules = {"acme::mlp(Tensor x) -> Tensor"};
  m.loaders = {{"l", "Loader", {{"zip:*/models/*.json", 90}, {"", -2147483647 - 1}}}};
  m.decoders = {"acme.q4"};
  m.propagators = {"p"};
  m.executors = {"e"};
  m.measured = {"o", "oo"};
  m.writers = {{"w", "ext", "text/plain"}, {}};
  m.rights = "threads";
  m.library_folders = {"$ORIGIN/../libs"};
  m.when_missing = "pip install torch";
  m.schema = 7;
  m.abi_minor = 3;
  m.made_from = {~uint64_t{0}, -5, "cafe", "beef"};
  return {{123, 456}, m};
}

ManifestIndex two() { return {{"a.tmeter.toml", full_entry()}, {"b.tmeter.toml", {}}}; }

TEST(ManifestIndex, IsReadAsWritten) {
  const auto back = parse_index(write_index(two()));
  ASSERT_EQ(back.size(), 2u);
  const auto& entry = back.at("a.tmeter.toml");
  const auto& m = entry.manifest;
  EXPECT_EQ(entry.made_from, (FileStamp{123, 456}));
  EXPECT_TRUE(same_offer(m, full_entry().manifest));
  EXPECT_EQ(m.description, full_entry().manifest.description);
  EXPECT_EQ(m.unavailable, "no LibTorch");
  EXPECT_EQ(m.library_folders, full_entry().manifest.library_folders);
  EXPECT_EQ(m.when_missing, "pip install torch");
  EXPECT_EQ(m.schema, 7u);
  EXPECT_EQ(m.made_from.size, ~uint64_t{0});
  EXPECT_EQ(m.made_from.mtime, -5);
  EXPECT_EQ(m.made_from.sha256, "cafe");
  EXPECT_EQ(m.made_from.build_id, "beef");
}

TEST(ManifestIndex, IsDamagedIfItIsTruncatedAnywhere) {
  const auto text = write_index(two());
  const auto header = text.find('\n') + 1;
  const auto second = text.find("13:b.tmeter.toml");
  for (size_t size = 0; size < text.size(); ++size) {
    if (size == header || size == second) continue;  // shorter, but complete
    expect_error(ErrorKind::kPlugin, {"it is"},
                 [&] { parse_index(std::string_view(text).substr(0, size)); });
  }
}

TEST(ManifestIndex, IsDamagedIfALengthIsWrong) {
  const std::string header = "tmeter plugin index 4\n";
  for (const auto* body : {"99999999999999999999:x", "18446744073709551615:x", "-1:x", "5:x", ":x",
                           "1x:", "1", "1:a1:2:1:i1:n0:0:0:0:0:0:888888888888:"}) {
    expect_error(ErrorKind::kPlugin, {"damaged"}, [&] { parse_index(header + body); });
  }
  expect_error(ErrorKind::kPlugin, {"not one of this version"},
               [] { parse_index("tmeter plugin index 5\n"); });
}

}  // namespace
}  // namespace tmeter::core
