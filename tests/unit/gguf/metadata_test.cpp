// The key-value pairs of a GGUF file (docs/gguf.md of ggml): every type of value, what is refused
// and with which message, and what the graph receives.
#include "plugins/loaders/gguf/metadata.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace gguf {
namespace {

constexpr int32_t kU8Id = 0, kI8Id = 1, kU16Id = 2, kI16Id = 3, kU32Id = 4, kI32Id = 5, kF32Id = 6,
                  kBoolId = 7, kTextId = 8, kArrayId = 9, kU64Id = 10, kI64Id = 11, kF64Id = 12;

/// Pairs as a file has them; version 3 unless `short_counts`.
struct Pairs {
  bool short_counts = false;
  std::string bytes = {};
  uint64_t count = 0;

  template <class T>
  Pairs& number(T value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  Pairs& length(uint64_t n) { return short_counts ? number(static_cast<uint32_t>(n)) : number(n); }
  Pairs& text(const std::string& s) {
    length(s.size());
    bytes += s;
    return *this;
  }
  /// The value follows.
  Pairs& key(const std::string& name, int32_t type) {
    ++count;
    return text(name).number(type);
  }
  template <class T>
  Pairs& value(const std::string& name, int32_t type, T v) {
    return key(name, type).number(v);
  }
  Pairs& value(const std::string& name, const std::string& v) { return key(name, kTextId).text(v); }
  template <class T>
  Pairs& array(const std::string& name, int32_t type, const std::vector<T>& items) {
    key(name, kArrayId).number(type).length(items.size());
    for (const T item : items) number(item);
    return *this;
  }
  Pairs& texts(const std::string& name, const std::vector<std::string>& items) {
    key(name, kArrayId).number(kTextId).length(items.size());
    for (const auto& item : items) text(item);
    return *this;
  }

  Metadata read() const {
    Cursor cursor(bytes);
    if (short_counts) cursor.use_short_counts();
    Metadata metadata;
    metadata.read(cursor, count);
    EXPECT_EQ(cursor.at(), bytes.size()) << "the end of the last value";
    return metadata;
  }
};

/// The message about the pairs, or "accepted".
std::string refusal(const Pairs& pairs) {
  try {
    pairs.read();
  } catch (const BadFile& e) {
    return e.what();
  }
  return "accepted";
}

std::vector<Scalar> all_items(const Metadata& metadata, const std::string& key) {
  const auto* value = metadata.find(key);
  return value ? metadata.items(*value, value->length) : std::vector<Scalar>();
}

/// One value of each type, with the limits of the type.
Pairs every_type(bool short_counts) {
  Pairs p{short_counts};
  p.value<uint8_t>("u8", kU8Id, 255).value<int8_t>("i8", kI8Id, -128);
  p.value<uint16_t>("u16", kU16Id, 65'535).value<int16_t>("i16", kI16Id, -32'768);
  p.value<uint32_t>("u32", kU32Id, 4'294'967'295u).value<int32_t>("i32", kI32Id, INT32_MIN);
  p.value("f32", kF32Id, 0.5f).value("f64", kF64Id, -1e300);
  p.value<uint8_t>("yes", kBoolId, 1).value<uint8_t>("no", kBoolId, 0).value("text", "größer");
  p.value<uint64_t>("u64", kU64Id, INT64_MAX).value<uint64_t>("huge", kU64Id, UINT64_MAX);
  return p.value<int64_t>("i64", kI64Id, INT64_MIN).value<uint8_t>("last", kU8Id, 7);
}

TEST(GgufMetadata, HasEveryTypeOfValue) {
  for (const bool short_counts : {false, true}) {
    const auto pairs = every_type(short_counts);
    const auto m = pairs.read();
    const auto is = [&](const char* key, ValueType type, const Scalar& expected) {
      const auto* value = m.find(key);
      ASSERT_NE(value, nullptr) << key;
      EXPECT_EQ(value->type, type) << key;
      EXPECT_FALSE(value->is_array) << key;
      EXPECT_EQ(value->length, 1u) << key;
      EXPECT_EQ(all_items(m, key), std::vector<Scalar>{expected}) << key;
    };
    is("u8", ValueType::kUint8, int64_t{255});
    is("i8", ValueType::kInt8, int64_t{-128});
    is("u16", ValueType::kUint16, int64_t{65'535});
    is("i16", ValueType::kInt16, int64_t{-32'768});
    is("u32", ValueType::kUint32, int64_t{4'294'967'295});
    is("i32", ValueType::kInt32, int64_t{INT32_MIN});
    is("f32", ValueType::kFloat32, 0.5);
    is("f64", ValueType::kFloat64, -1e300);
    is("yes", ValueType::kBool, true);
    is("no", ValueType::kBool, false);
    is("text", ValueType::kText, std::string_view("größer"));
    is("u64", ValueType::kUint64, int64_t{INT64_MAX});
    is("huge", ValueType::kUint64, 18446744073709551616.0);
    is("i64", ValueType::kInt64, int64_t{INT64_MIN});
    is("last", ValueType::kUint8, int64_t{7});
  }
}

TEST(GgufMetadata, KeepsTheOrderOfTheFile) {
  const auto pairs = every_type(false);
  const auto m = pairs.read();
  std::string keys;
  for (const auto& value : m.values()) keys += std::string(value.key) + " ";
  EXPECT_EQ(keys, "u8 i8 u16 i16 u32 i32 f32 f64 yes no text u64 huge i64 last ");
  EXPECT_EQ(m.find("missing"), nullptr);
  EXPECT_EQ(m.find(""), nullptr);
}

TEST(GgufMetadata, HasArraysOfEveryType) {
  for (const bool short_counts : {false, true}) {
    Pairs p{short_counts};
    p.array<uint8_t>("u8", kU8Id, {1, 2, 3}).array<int8_t>("i8", kI8Id, {-1, 2});
    p.array<uint16_t>("u16", kU16Id, {1, 65'535}).array<int16_t>("i16", kI16Id, {-1, 2, 3});
    p.array<uint32_t>("u32", kU32Id, {1, 2}).array<int32_t>("i32", kI32Id, {-1, 2});
    p.array<float>("f32", kF32Id, {0.5f, 2}).array<double>("f64", kF64Id, {0.25, -2});
    p.array<uint8_t>("bool", kBoolId, {1, 0, 1}).texts("texts", {"a", "", "bc"});
    p.array<uint64_t>("u64", kU64Id, {1, UINT64_MAX}).array<int64_t>("i64", kI64Id, {-1});
    p.array<uint32_t>("empty", kU32Id, {}).texts("no texts", {});
    p.value<uint8_t>("last", kU8Id, 7);
    const auto m = p.read();
    const auto is = [&](const char* key, ValueType type, const std::vector<Scalar>& expected) {
      const auto* value = m.find(key);
      ASSERT_NE(value, nullptr) << key;
      EXPECT_EQ(value->type, type) << key;
      EXPECT_TRUE(value->is_array) << key;
      EXPECT_EQ(value->length, expected.size()) << key;
      EXPECT_EQ(all_items(m, key), expected) << key;
    };
    const auto i = [](int64_t x) { return Scalar(x); };
    is("u8", ValueType::kUint8, {i(1), i(2), i(3)});
    is("i8", ValueType::kInt8, {i(-1), i(2)});
    is("u16", ValueType::kUint16, {i(1), i(65'535)});
    is("i16", ValueType::kInt16, {i(-1), i(2), i(3)});
    is("u32", ValueType::kUint32, {i(1), i(2)});
    is("i32", ValueType::kInt32, {i(-1), i(2)});
    is("f32", ValueType::kFloat32, {0.5, 2.0});
    is("f64", ValueType::kFloat64, {0.25, -2.0});
    is("bool", ValueType::kBool, {true, false, true});
    is("texts", ValueType::kText,
       {std::string_view("a"), std::string_view(), std::string_view("bc")});
    is("u64", ValueType::kUint64, {i(1), 18446744073709551616.0});
    is("i64", ValueType::kInt64, {i(-1)});
    is("empty", ValueType::kUint32, {});
    is("no texts", ValueType::kText, {});
    EXPECT_EQ(all_items(m, "last"), std::vector<Scalar>{i(7)});
  }
}

TEST(GgufMetadata, HasAtMostTheRequestedItems) {
  const auto pairs = Pairs{}.array<uint16_t>("a", kU16Id, {1, 2, 3, 4, 5}).value("t", "x");
  const auto m = pairs.read();
  const auto& a = *m.find("a");
  EXPECT_EQ(m.items(a, 0), std::vector<Scalar>{});
  EXPECT_EQ(m.items(a, 2), (std::vector<Scalar>{int64_t{1}, int64_t{2}}));
  EXPECT_EQ(m.items(a, 5).size(), 5u);
  EXPECT_EQ(m.items(a, 6).size(), 5u);
  EXPECT_EQ(m.items(*m.find("t"), 9).size(), 1u);
}

/// Arrays in arrays: each has a type and a length of its own.
TEST(GgufMetadata, SkipsArraysOfArrays) {
  for (const bool short_counts : {false, true}) {
    Pairs p{short_counts};
    p.key("k", kArrayId).number(kArrayId).length(3);
    p.number(kU16Id).length(2).number<uint16_t>(1).number<uint16_t>(2);
    p.number(kTextId).length(1).text("abc");
    p.number(kArrayId).length(1).number(kU8Id).length(0);
    p.value<uint8_t>("last", kU8Id, 7);
    const auto m = p.read();
    const auto& k = *m.find("k");
    EXPECT_EQ(k.type, ValueType::kArray);
    EXPECT_TRUE(k.is_array);
    EXPECT_EQ(k.length, 3u);
    EXPECT_EQ(m.items(k, 3), std::vector<Scalar>{});
    EXPECT_EQ(all_items(m, "last"), std::vector<Scalar>{int64_t{7}});
  }
}

/// An array of texts, below `depth - 1` others.
Pairs texts_below(int depth) {
  Pairs p;
  p.key("k", kArrayId);
  for (int i = 1; i < depth; ++i) p.number(kArrayId).length(1);
  return p.number(kTextId).length(1).text("a");
}

TEST(GgufMetadata, HasArraysEightDeep) {
  EXPECT_EQ(refusal(texts_below(8)), "accepted");
  EXPECT_EQ(refusal(texts_below(9)), "key 'k': its arrays are nested more than 8 deep");
}

/// The smallest text is its length, the smallest array its type and its length.
TEST(GgufMetadata, RefusesArraysThatTheFileCannotHold) {
  for (const bool short_counts : {false, true})
    for (const int32_t type : {kTextId, kArrayId}) {
      const auto array = [&](uint64_t claimed, uint64_t present) {
        Pairs p{short_counts};
        p.key("k", kArrayId).number(type).length(claimed);
        for (uint64_t i = 0; i < present; ++i) {
          if (type == kArrayId) p.number(kU8Id);
          p.length(0);
        }
        return p;
      };
      const size_t item = (short_counts ? 4 : 8) + (type == kArrayId ? 4 : 0);
      EXPECT_EQ(refusal(array(5, 5)), "accepted") << type;
      EXPECT_EQ(refusal(array(6, 5)), "key 'k': an array of 6 items is claimed; the file has " +
                                          std::to_string(5 * item) + " bytes after it (truncated?)")
          << type;
    }
}

TEST(GgufMetadata, RefusesValuesThatEndBeyondTheFile) {
  for (const int32_t type : {kU8Id, kI8Id, kU16Id, kI16Id, kU32Id, kI32Id, kF32Id, kBoolId, kTextId,
                             kU64Id, kI64Id, kF64Id}) {
    const std::map<int32_t, size_t> bytes{{kU8Id, 1},   {kI8Id, 1},  {kBoolId, 1}, {kU16Id, 2},
                                          {kI16Id, 2},  {kU32Id, 4}, {kI32Id, 4},  {kF32Id, 4},
                                          {kTextId, 8}, {kU64Id, 8}, {kI64Id, 8},  {kF64Id, 8}};
    // The long key makes the pairs longer than the smallest ones, whatever the value.
    Pairs p = Pairs{}.value<uint8_t>("long", kU8Id, 1).key(std::string(20, 'k'), type);
    p.bytes.append(bytes.at(type), '\0');
    EXPECT_EQ(refusal(p), "accepted") << type;
    p.bytes.pop_back();
    EXPECT_NE(refusal(p), "accepted") << type;
  }
}

TEST(GgufMetadata, RefusesUnknownTypes) {
  const auto valued = [](int32_t type) { return Pairs{}.key("k", type).number(uint64_t{0}); };
  EXPECT_EQ(refusal(valued(13)), "key 'k': the value has the unknown type 13");
  EXPECT_EQ(refusal(valued(-1)), "key 'k': the value has the unknown type -1");
  const auto array = Pairs{}.key("k", kArrayId).number(int32_t{13}).length(0);
  EXPECT_EQ(refusal(array), "key 'k': the value has the unknown type 13");
}

/// docs/gguf.md: keys have at most 2^16 - 1 bytes.
TEST(GgufMetadata, HasKeysOf1To65535Bytes) {
  const auto keyed = [](const std::string& key) {
    return refusal(Pairs{}.value("a", kF64Id, 1.0).value(key, kF64Id, 1.0));
  };
  const std::string message = "metadata pair 1 has no key of 1 to 65,535 bytes of UTF-8";
  EXPECT_EQ(keyed("b"), "accepted");
  EXPECT_EQ(keyed("größe"), "accepted");
  EXPECT_EQ(keyed(std::string(65'535, 'k')), "accepted");
  EXPECT_EQ(keyed(std::string(65'536, 'k')), message);
  EXPECT_EQ(keyed(""), message);
  EXPECT_EQ(keyed("k\xc3"), message);
  EXPECT_EQ(keyed("a"), "the key 'a' occurs twice");
  const Pairs cut{.bytes = Pairs{}.length(9).bytes + std::string(8, 'k'), .count = 1};
  EXPECT_EQ(refusal(cut),
            "metadata pair 0: a string of 9 bytes is claimed; the file has 8 bytes after it "
            "(truncated?)");
}

TEST(GgufMetadata, HasAtMost100000Pairs) {
  Pairs p;
  for (int i = 0; i < 100'000; ++i) p.value<uint8_t>(std::to_string(i), kU8Id, 0);
  EXPECT_EQ(refusal(p), "accepted");
  p.value<uint8_t>("one more", kU8Id, 0);
  EXPECT_EQ(refusal(p), "it has 100001 metadata pairs; tmeter reads at most 100,000");
}

TEST(GgufMetadata, FindsSizes) {
  Pairs p = every_type(false);
  p.value<int32_t>("zero", kI32Id, 0).value<int8_t>("minus one", kI8Id, -1);
  p.array<uint32_t>("array", kU32Id, {1});
  const auto m = p.read();
  EXPECT_EQ(m.find_size("missing"), std::nullopt);
  EXPECT_EQ(m.find_size("u8"), 255u);
  EXPECT_EQ(m.find_size("u16"), 65'535u);
  EXPECT_EQ(m.find_size("u32"), 4'294'967'295u);
  EXPECT_EQ(m.find_size("u64"), static_cast<uint64_t>(INT64_MAX));
  EXPECT_EQ(m.find_size("zero"), 0u);
  for (const std::string key :
       {"minus one", "i8", "i64", "huge", "f32", "f64", "yes", "text", "array"}) {
    std::string message;
    try {
      m.find_size(key);
    } catch (const BadFile& e) {
      message = e.what();
    }
    EXPECT_EQ(message, "key '" + key + "' is not an integer of 0 or more");
  }
}

TEST(GgufMetadata, FindsTexts) {
  const auto pairs = every_type(false).texts("texts", {"a"}).value("none", "");
  const auto m = pairs.read();
  EXPECT_EQ(m.find_text("text"), "größer");
  for (const char* key : {"missing", "texts", "none", "u8", "f32", "yes"})
    EXPECT_EQ(m.find_text(key), "") << key;
}

/// A fact as the graph receives it.
struct Fact {
  std::string space, key;
  int32_t type = 0;
  bool is_array = false;
  int64_t length = 0;
  std::vector<std::string> texts = {};
  std::vector<int64_t> ints = {};
  std::vector<double> floats = {};
};

tmeter_status keep(tmeter_builder* builder, const tmeter_metadata* m) {
  Fact fact{std::string(tmeter::to_view(m->space)), std::string(tmeter::to_view(m->key)), m->type,
            m->is_array != 0, m->length};
  for (uint32_t i = 0; i < m->count; ++i) {
    if (m->type == TMETER_METADATA_TEXT) fact.texts.emplace_back(tmeter::to_view(m->texts[i]));
    if (m->type == TMETER_METADATA_INT || m->type == TMETER_METADATA_BOOL)
      fact.ints.push_back(m->ints[i]);
    if (m->type == TMETER_METADATA_FLOAT) fact.floats.push_back(m->floats[i]);
  }
  reinterpret_cast<std::vector<Fact>*>(builder)->push_back(std::move(fact));
  return TMETER_OK;
}

const void* builder_only(const tmeter_host_v1*, tmeter_str id) {
  static const tmeter_builder_api api = [] {
    tmeter_builder_api a{};
    a.struct_size = sizeof a;
    a.metadata = keep;
    return a;
  }();
  return tmeter::to_view(id) == TMETER_HOST_BUILDER ? &api : nullptr;
}

/// The facts that the graph receives, in order.
std::vector<Fact> pushed(const Pairs& pairs) {
  static const tmeter_host_v1 host{sizeof host, 0, {}, {}, builder_only};
  tmeter::detail::host() = &host;
  std::vector<Fact> facts;
  tmeter::GraphBuilder graph(reinterpret_cast<tmeter_builder*>(&facts));
  push_metadata(pairs.read(), graph);
  return facts;
}
Fact only(const Pairs& pairs) {
  const auto facts = pushed(pairs);
  EXPECT_EQ(facts.size(), 1u);
  return facts.empty() ? Fact{} : facts[0];
}

TEST(GgufFacts, AreTheValuesInTheOrderOfTheFile) {
  const auto facts = pushed(every_type(false));
  std::string keys;
  std::map<std::string, Fact> by_key;
  for (const auto& fact : facts) {
    keys += fact.key + " ";
    by_key[fact.key] = fact;
    EXPECT_EQ(fact.space, "gguf");
    EXPECT_FALSE(fact.is_array);
    EXPECT_EQ(fact.length, 1);
  }
  EXPECT_EQ(keys, "u8 i8 u16 i16 u32 i32 f32 f64 yes no text u64 huge i64 last ");
  const auto is_int = [&](const char* key, int64_t value, int32_t type = TMETER_METADATA_INT) {
    EXPECT_EQ(by_key[key].type, type) << key;
    EXPECT_EQ(by_key[key].ints, std::vector<int64_t>{value}) << key;
  };
  const auto is_float = [&](const char* key, double value) {
    EXPECT_EQ(by_key[key].type, TMETER_METADATA_FLOAT) << key;
    EXPECT_EQ(by_key[key].floats, std::vector<double>{value}) << key;
  };
  is_int("u8", 255);
  is_int("i8", -128);
  is_int("u64", INT64_MAX);
  is_int("i64", INT64_MIN);
  is_int("yes", 1, TMETER_METADATA_BOOL);
  is_int("no", 0, TMETER_METADATA_BOOL);
  is_float("f32", 0.5);
  is_float("f64", -1e300);
  is_float("huge", 18446744073709551616.0);
  EXPECT_EQ(by_key["text"].type, TMETER_METADATA_TEXT);
  EXPECT_EQ(by_key["text"].texts, std::vector<std::string>{"größer"});
}

TEST(GgufFacts, AreArraysOfTheirTypes) {
  const auto ints = only(Pairs{}.array<int16_t>("a", kI16Id, {3, -1}));
  EXPECT_EQ(ints.space, "gguf");
  EXPECT_EQ(ints.key, "a");
  EXPECT_EQ(ints.type, TMETER_METADATA_INT);
  EXPECT_TRUE(ints.is_array);
  EXPECT_EQ(ints.length, 2);
  EXPECT_EQ(ints.ints, (std::vector<int64_t>{3, -1}));
  const auto unsigned_ints = only(Pairs{}.array<uint64_t>("a", kU64Id, {1, INT64_MAX}));
  EXPECT_EQ(unsigned_ints.type, TMETER_METADATA_INT);
  EXPECT_EQ(unsigned_ints.ints, (std::vector<int64_t>{1, INT64_MAX}));
  const auto beyond = only(Pairs{}.array<uint64_t>("a", kU64Id, {1, UINT64_MAX}));
  EXPECT_EQ(beyond.type, TMETER_METADATA_FLOAT);
  EXPECT_EQ(beyond.floats, (std::vector<double>{1, 18446744073709551616.0}));
  EXPECT_EQ(beyond.length, 2);
  const auto singles = only(Pairs{}.array<float>("a", kF32Id, {0.5f, -2}));
  EXPECT_EQ(singles.type, TMETER_METADATA_FLOAT);
  EXPECT_EQ(singles.floats, (std::vector<double>{0.5, -2}));
  const auto doubles = only(Pairs{}.array<double>("a", kF64Id, {0.1}));
  EXPECT_EQ(doubles.type, TMETER_METADATA_FLOAT);
  EXPECT_TRUE(doubles.is_array);
  EXPECT_EQ(doubles.floats, std::vector<double>{0.1});
  const auto bools = only(Pairs{}.array<uint8_t>("a", kBoolId, {1, 0, 1}));
  EXPECT_EQ(bools.type, TMETER_METADATA_BOOL);
  EXPECT_EQ(bools.length, 3);
  EXPECT_EQ(bools.ints, (std::vector<int64_t>{1, 0, 1}));
  const auto texts = only(Pairs{}.texts("a", {"x", "", "yz"}));
  EXPECT_EQ(texts.type, TMETER_METADATA_TEXT);
  EXPECT_TRUE(texts.is_array);
  EXPECT_EQ(texts.length, 3);
  EXPECT_EQ(texts.texts, (std::vector<std::string>{"x", "", "yz"}));
  const auto empty = only(Pairs{}.array<uint32_t>("a", kU32Id, {}));
  EXPECT_TRUE(empty.is_array);
  EXPECT_EQ(empty.length, 0);
  EXPECT_EQ(empty.ints, std::vector<int64_t>{});
}

TEST(GgufFacts, LeaveOutArraysOfArrays) {
  Pairs p;
  p.value<uint8_t>("first", kU8Id, 1);
  p.key("k", kArrayId).number(kArrayId).length(1).number(kU8Id).length(0);
  const auto facts = pushed(p.value<uint8_t>("last", kU8Id, 7));
  ASSERT_EQ(facts.size(), 2u);
  EXPECT_EQ(facts[0].key, "first");
  EXPECT_EQ(facts[1].key, "last");
}

TEST(GgufFacts, HaveTheFirstItemsOfALongArray) {
  const auto numbers = [](size_t count) {
    std::vector<int32_t> items;
    for (size_t i = 0; i < count; ++i) items.push_back(static_cast<int32_t>(i));
    return only(Pairs{}.array("a", kI32Id, items));
  };
  EXPECT_EQ(numbers(2'000).ints.size(), 2'000u);
  EXPECT_EQ(numbers(2'000).ints.back(), 1'999);
  EXPECT_EQ(numbers(2'000).length, 2'000);
  EXPECT_EQ(numbers(2'001).ints, (std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(numbers(2'001).length, 2'001);
  const auto texts = [](size_t count) {
    std::vector<std::string> items;
    for (size_t i = 0; i < count; ++i) items.push_back(std::to_string(i));
    return only(Pairs{}.texts("a", items));
  };
  EXPECT_EQ(texts(100).texts.size(), 100u);
  EXPECT_EQ(texts(100).texts.back(), "99");
  EXPECT_EQ(texts(101).texts, (std::vector<std::string>{"0", "1", "2", "3", "4", "5", "6", "7"}));
  EXPECT_EQ(texts(101).length, 101);
}

TEST(GgufFacts, HaveLongTextsCutTo64KiB) {
  const auto text = [](const std::string& t) { return only(Pairs{}.value("t", t)).texts.at(0); };
  const std::string whole(65'536, 'a');
  EXPECT_EQ(text(""), "");
  EXPECT_EQ(text(whole), whole);
  EXPECT_EQ(text(whole + "b"), whole + "…");
  EXPECT_EQ(only(Pairs{}.texts("t", {whole + "b", "c"})).texts,
            (std::vector<std::string>{whole + "…", "c"}));
}

TEST(GgufFacts, HaveReplacementsForInvalidBytes) {
  const auto text = [](const std::string& t) { return only(Pairs{}.value("t", t)).texts.at(0); };
  EXPECT_EQ(text("größer €"), "größer €");
  EXPECT_EQ(text("\xff"), "\uFFFD");
  EXPECT_EQ(text("a\xc3"), "a\uFFFD");
  EXPECT_EQ(text("a\xc3\xc3\xa4z"), "a\uFFFDäz");
  EXPECT_EQ(only(Pairs{}.texts("t", {"a\xff", "b"})).texts,
            (std::vector<std::string>{"a\uFFFD", "b"}));
}

}  // namespace
}  // namespace gguf
