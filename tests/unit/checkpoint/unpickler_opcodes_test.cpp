// Every opcode that torch.save writes, by the description in Python's pickletools, and the limits
// of accepted values.
#include <gtest/gtest.h>

#include "bad_file.hpp"
#include "pickle/unpickler.hpp"
#include "pickle_text.hpp"

namespace checkpoint {
namespace {

using namespace std::string_literals;
using testing::get;
using testing::global;
using testing::little;
using testing::put;
using testing::text;

/// A pickle and its values, with the same lifetime.
struct Read {
  explicit Read(std::string bytes, const char* place = "data.pkl", uint64_t first_byte = 0)
      : data(std::move(bytes)) {
    pickle = Unpickler(data, place, first_byte, arena).run();
  }
  const Value& root() const { return *pickle.root; }
  const Value& item(size_t i) const { return *root().list().at(i); }
  std::string data;
  Arena arena;
  Pickle pickle{};
};

std::string complaint(const std::string& bytes, const char* place = "data.pkl",
                      uint64_t first_byte = 0) {
  try {
    Read(bytes, place, first_byte);
  } catch (const loading::BadFile& e) {
    return e.what();
  }
  return "accepted";
}
void expect_refused(const std::string& bytes, const std::string& words) {
  EXPECT_NE(complaint(bytes).find(words), std::string::npos) << complaint(bytes);
}

std::vector<int64_t> integers(const Value& v) {
  std::vector<int64_t> out;
  for (const auto* item : v.list()) out.push_back(item->integer);
  return out;
}
using Integers = std::vector<int64_t>;

// --- numbers and texts --------------------------------------------------------------------------

TEST(Opcodes, LongIntegersOfAnyWidth) {
  const auto value = [](const std::string& bytes) {
    const Read r("\x8a"s + little(bytes.size(), 1) + bytes + ".");
    EXPECT_TRUE(r.root().is(Kind::kInt));
    return r.root().integer;
  };
  EXPECT_EQ(value(""), 0);
  EXPECT_EQ(value("\x7f"), 127);
  EXPECT_EQ(value("\x80"), -128);
  EXPECT_EQ(value("\xff\x00"s), 255);
  EXPECT_EQ(value("\xff\xff\xff\xff\xff\xff\xff\x7f"), INT64_MAX);
  EXPECT_EQ(value("\x00\x00\x00\x00\x00\x00\x00\x80"s), INT64_MIN);
  const Read big("\x8b"s + little(9, 4) + "\x00\x00\x00\x00\x00\x00\x00\x00\x01."s);
  EXPECT_TRUE(big.root().is(Kind::kBigInt));
}

TEST(Opcodes, DecimalIntegers) {
  const Read r("](I00\nI01\nI0\nI-12\nL34L\nL56\nL9223372036854775808L\ne."s);
  EXPECT_TRUE(r.item(0).is(Kind::kBool) && r.item(0).integer == 0);
  EXPECT_TRUE(r.item(1).is(Kind::kBool) && r.item(1).integer == 1);
  EXPECT_TRUE(r.item(2).is(Kind::kInt) && r.item(2).integer == 0);
  EXPECT_EQ(r.item(3).integer, -12);
  EXPECT_EQ(r.item(4).integer, 34);
  EXPECT_EQ(r.item(5).integer, 56);
  EXPECT_TRUE(r.item(6).is(Kind::kBigInt));
  EXPECT_EQ(r.item(6).text, "9223372036854775808");
  for (const auto* wrong : {"Ix\n.", "I\n.", "I5x\n.", "I5LL\n.", "I 5\n.", "LL\n."})
    expect_refused(wrong, "a malformed number");
}

TEST(Opcodes, BooleansAndNone) {
  const Read r("](\x88\x89Ne."s);  // NEWTRUE, NEWFALSE, NONE
  EXPECT_TRUE(r.item(0).is(Kind::kBool) && r.item(0).integer == 1);
  EXPECT_TRUE(r.item(1).is(Kind::kBool) && r.item(1).integer == 0);
  EXPECT_TRUE(r.item(2).is(Kind::kNone));
}

TEST(Opcodes, BinaryIntegersOfAnyWidth) {
  const Read r("](K\xffM\xff\x00M\x00\x01M\xff\xffJ\xff\xff\xff\x7fJ\x00\x00\x00\x80"s + "e.");
  EXPECT_EQ(integers(r.root()), (Integers{255, 255, 256, 65535, INT32_MAX, INT32_MIN}));
  EXPECT_EQ(&r.item(0), &r.item(1));  // small integers are shared
}

TEST(Opcodes, TextsAndBytes) {
  const Read r("]("s + text("a") + "\x8c\x02" + "bc" + "\x8d" + little(1, 8) + "d" + "U\x01" + "e" +
               "T" + little(1, 4) + "f" + "C\x01" + "g" + "B" + little(1, 4) + "h" + "\x8e" +
               little(1, 8) + "i" + "\x96" + little(1, 8) + "j" + "e.");
  const char* expected[] = {"a", "bc", "d", "e", "f", "g", "h", "i", "j"};
  ASSERT_EQ(r.root().list().size(), std::size(expected));
  for (size_t i = 0; i < std::size(expected); ++i) {
    EXPECT_EQ(r.item(i).text, expected[i]);
    EXPECT_TRUE(r.item(i).is(i < 5 ? Kind::kText : Kind::kBytes)) << expected[i];
  }
}

// --- containers ---------------------------------------------------------------------------------

TEST(Opcodes, TuplesKeepTheirOrder) {
  const Read r("](K\x01\x85K\x01K\x02\x86K\x01K\x02K\x03\x87(K\x01K\x02K\x03K\x04t)e."s);
  EXPECT_EQ(integers(r.item(0)), (Integers{1}));
  EXPECT_EQ(integers(r.item(1)), (Integers{1, 2}));
  EXPECT_EQ(integers(r.item(2)), (Integers{1, 2, 3}));
  EXPECT_EQ(integers(r.item(3)), (Integers{1, 2, 3, 4}));
  EXPECT_TRUE(r.item(4).list().empty());
  for (size_t i = 0; i < 5; ++i) EXPECT_TRUE(r.item(i).is(Kind::kTuple));
}

TEST(Opcodes, ListsAndSetsGrow) {
  const Read list("]K\x01"s + "a(K\x02K\x03" + "e."s);
  EXPECT_TRUE(list.root().is(Kind::kList));
  EXPECT_EQ(integers(list.root()), (Integers{1, 2, 3}));
  const Read set("\x8f(K\x01\x90(K\x02K\x03\x90."s);
  EXPECT_TRUE(set.root().is(Kind::kSet));
  EXPECT_EQ(integers(set.root()), (Integers{1, 2, 3}));
  const Read frozen("(K\x01K\x02\x91."s);
  EXPECT_TRUE(frozen.root().is(Kind::kSet));
  EXPECT_EQ(integers(frozen.root()), (Integers{1, 2}));
}

TEST(Opcodes, DictsGrow) {
  const Read r("}"s + text("a") + "K\x01s(" + text("b") + "K\x02" + text("c") + "K\x03u.");
  EXPECT_EQ(r.root().find("a")->integer, 1);
  EXPECT_EQ(r.root().find("b")->integer, 2);
  EXPECT_EQ(r.root().find("c")->integer, 3);
  EXPECT_EQ(r.root().find("d"), nullptr);
}

TEST(Opcodes, UnhashableValuesAreNotKeys) {
  for (const auto& key : {"]"s, "}"s, "\x8f"s})
    expect_refused("}" + key + "K\x01s.", "a list, dict or set cannot be a key");
  for (const auto& key : {")"s, "N"s, "K\x01"s, "G\x00\x00\x00\x00\x00\x00\x00\x00"s})
    EXPECT_EQ(complaint("}" + key + "K\x01s."), "accepted");
}

TEST(Opcodes, ObjectsOfUnknownClassesMayBeContainers) {
  const Read r(global("my", "List") + ")\x81K\x01" + "aK\x05K\x06s.");
  EXPECT_EQ(integers(r.root()), (Integers{1}));
  EXPECT_EQ(r.root().items->pairs.at(0).second->integer, 6);
}

// --- stack and memo -----------------------------------------------------------------------------

TEST(Opcodes, PopDropsAValueOrAMark) {
  EXPECT_EQ(Read("K\x01K\x02" + "0."s).root().integer, 1);
  EXPECT_EQ(Read("K\x01(0."s).root().integer, 1);
  EXPECT_EQ(Read("K\x01(K\x02" + "00."s).root().integer, 1);
  EXPECT_EQ(Read("K\x01(K\x02K\x03" + "1."s).root().integer, 1);
}

TEST(Opcodes, DupIsTheSameValue) {
  const Read r("]2\x86."s);
  EXPECT_EQ(&r.item(0), &r.item(1));
}

TEST(Opcodes, MemoStoresTheTopOfTheStack) {
  const Read r("(]\x94}\x94)q\x02h\x00h\x01h\x02j\x00\x00\x00\x00t."s);
  EXPECT_EQ(&r.item(0), &r.item(3));
  EXPECT_EQ(&r.item(1), &r.item(4));
  EXPECT_EQ(&r.item(2), &r.item(5));
  EXPECT_EQ(&r.item(0), &r.item(6));
  EXPECT_EQ(Read("K\x01q\x00K\x02q\x00h\x00."s).root().integer, 2);  // overwritten
}

TEST(Opcodes, MemoNumbersMayRunALittleAhead) {
  EXPECT_EQ(complaint("N" + put(256) + get(256) + "."), "accepted");
  EXPECT_EQ(complaint("N" + put(256) + put(513) + "."), "accepted");
  expect_refused("N" + put(257) + ".", "memo entry 257 is out of order");
  expect_refused("N" + put(5) + get(3) + ".", "memo entry 3 does not exist");
  expect_refused("N" + put(5) + get(6) + ".", "memo entry 6 does not exist");
}

TEST(Opcodes, FramesEndInThePickle) {
  EXPECT_EQ(complaint("\x95"s + little(2, 8) + "N."), "accepted");
  expect_refused("\x95"s + little(3, 8) + "N.", "a frame reaches beyond the end");
}

TEST(Opcodes, PickleEndsAtItsStop) {
  EXPECT_EQ(Read("N.N.").pickle.end, 2u);
  EXPECT_TRUE(Read("N.N.").root().is(Kind::kNone));
}

TEST(Opcodes, ErrorsNameTheByteOfTheFile) {
  EXPECT_TRUE(complaint("NN\xff", "data.pkl", 100).starts_with("data.pkl byte 102: "));
  EXPECT_TRUE(complaint("\xff", "", 0).starts_with("byte 0: "));
}

TEST(Opcodes, MarksAreClosedInTheirOrder) {
  const Read r("(K\x01(K\x02K\x03tK\x04t."s);
  EXPECT_EQ(integers(r.item(1)), (Integers{2, 3}));
  EXPECT_EQ(r.item(2).integer, 4);
  expect_refused("(N.", "stops inside a container");
  expect_refused("(\x85.", "the stack is empty");
}

// --- names --------------------------------------------------------------------------------------

TEST(Opcodes, NamesHaveALength) {
  const auto named = [](size_t module, size_t name) {
    return complaint(global(std::string(module, 'a'), std::string(name, 'b')) + ".");
  };
  EXPECT_EQ(named(4095, 1), "accepted");
  EXPECT_NE(named(4095, 2).find("too long"), std::string::npos);
  EXPECT_NE(named(4096, 1).find("a line has no end"), std::string::npos);
}

TEST(Opcodes, NamesAreText) {
  expect_refused(global("my\xff", "x") + ".", "not UTF-8");
  expect_refused(global("my", "x\xc3") + ".", "not UTF-8");
  EXPECT_EQ(Read("\x8c\x02" + "my\x8c\x01x\x93."s).root().text, "my.x");
  expect_refused("K\x01\x8c\x01x\x93."s, "is not a string");
  expect_refused("\x8c\x01xK\x01\x93."s, "is not a string");
}

// --- calls --------------------------------------------------------------------------------------

TEST(Opcodes, DictsAreMadeOfPairsOrDicts) {
  const auto pairs = "](]("s + text("a") + "K\x01" + "e" + text("b") + "K\x02\x86" + "e\x85";
  const Read listed(global("collections", "OrderedDict") + pairs + "R.");
  ASSERT_TRUE(listed.root().is(Kind::kDict));
  EXPECT_EQ(listed.root().find("a")->integer, 1);
  EXPECT_EQ(listed.root().find("b")->integer, 2);
  const Read copied(global("collections", "Counter") + "}" + text("a") + "K\x03s\x85R.");
  EXPECT_EQ(copied.root().find("a")->integer, 3);
  const Read empty(global("collections", "defaultdict") + global("builtins", "list") + "\x85R.");
  EXPECT_TRUE(empty.root().is(Kind::kDict));
  for (const auto& wrong : {"K\x01"s, ")"s, "K\x01\x85"s, "K\x01K\x02K\x03\x87"s})
    expect_refused(global("builtins", "dict") + "]" + wrong + "a\x85R.", "not pairs");
}

TEST(Opcodes, SequencesAreMadeOfSequences) {
  const auto made = [](const char* module, const char* name, const std::string& content) {
    Read r(global(module, name) + content + "\x85R.");
    return std::pair(r.root().kind, integers(r.root()));
  };
  const auto list = "](K\x01K\x02" + "e"s, tuple = "K\x01K\x02\x86"s, set = "\x8f(K\x01K\x02\x90"s;
  const Integers both{1, 2};
  for (const auto& content : {list, tuple, set}) {
    EXPECT_EQ(made("builtins", "list", content), std::pair(Kind::kList, both));
    EXPECT_EQ(made("collections", "deque", content), std::pair(Kind::kList, both));
    EXPECT_EQ(made("builtins", "set", content), std::pair(Kind::kSet, both));
    EXPECT_EQ(made("builtins", "frozenset", content), std::pair(Kind::kSet, both));
    EXPECT_EQ(made("torch", "Size", content), std::pair(Kind::kTuple, both));
    EXPECT_EQ(made("builtins", "tuple", content), std::pair(Kind::kTuple, both));
  }
  EXPECT_EQ(made("builtins", "list", "N"), std::pair(Kind::kList, Integers{}));
  EXPECT_TRUE(Read(global("torch", "Size") + ")R.").root().list().empty());
}

TEST(Opcodes, OtherCallsAreKeptAsTheyAre) {
  const Read r(global("torch", "device") + text("cuda") + "K\x01\x86R.");
  ASSERT_TRUE(r.root().is_object_of("torch.device"));
  EXPECT_EQ(r.root().items->arguments->list().at(1)->integer, 1);
  expect_refused("K\x01)R.", "REDUCE calls a value that is not a class or function");
  expect_refused(global("torch", "device") + "]R.", "REDUCE has no tuple");
}

TEST(Opcodes, ObjectsOfProtocol1) {
  const auto reconstruct = global("copy_reg", "_reconstructor");
  const auto object = global("builtins", "object");
  const Read net(reconstruct + global("my", "Net") + object + "N\x87R}b.");
  EXPECT_TRUE(net.root().is_object_of("my.Net"));
  EXPECT_TRUE(net.root().items->arguments->list().empty());
  const Read dict(reconstruct + global("collections", "OrderedDict") + object + "N\x87R.");
  EXPECT_TRUE(dict.root().is(Kind::kDict));
  expect_refused(reconstruct + global("my", "Net") + object + "\x86R.", "wrong arguments");
  expect_refused(reconstruct + "N" + object + "N\x87R.", "wrong arguments");
}

TEST(Opcodes, NewObjects) {
  const Read net(global("my", "Net") + "K\x07\x85\x81.");
  EXPECT_TRUE(net.root().is_object_of("my.Net"));
  EXPECT_EQ(integers(*net.root().items->arguments), (Integers{7}));
  EXPECT_TRUE(Read(global("collections", "OrderedDict") + ")\x81.").root().is(Kind::kDict));
  EXPECT_TRUE(Read(global("my", "Net") + ")}\x92.").root().is_object_of("my.Net"));
  expect_refused("N)\x81.", "of a value that is not a class");
  expect_refused(global("my", "Net") + "]\x81.", "NEWOBJ has no tuple");
  expect_refused(global("my", "Net") + "))\x92.", "NEWOBJ_EX has no dict");
}

TEST(Opcodes, StateOfAnObjectOrDict) {
  EXPECT_EQ(Read(global("my", "Net") + ")\x81K\x05" + "b.").root().items->state->integer, 5);
  EXPECT_EQ(Read("}K\x05" + "b."s).root().items->state->integer, 5);
  for (const auto& other : {"]"s, ")"s, "N"s, text("a")})
    expect_refused(other + "}b.", "BUILD sets the state of a value that is not an object");
}

TEST(Opcodes, MembersOfClassesAreNamesAndNoOtherUseOfGetattrIsRead) {
  // Python 3.11: pickle.dumps(timm.layers.Format.NCHW)
  const auto member = [](const std::string& object, const std::string& name) {
    return global("builtins", "getattr") + object + name + "\x86R";
  };
  const auto format = global("timm.layers", "Format");
  const Read r(member(format, text("NCHW_2")) + ".");
  EXPECT_TRUE(r.root().is_global("timm.layers.Format.NCHW_2"));
  const Read again("](" + member(format, text("A")) + member(format, text("B")) + "e.");
  EXPECT_TRUE(again.item(1).is_global("timm.layers.Format.B"));
  for (const auto* name : {"", "_value_", "__init__", "a.b", "a-b", "a b", "ä"})
    expect_refused(member(format, text(name)) + ".", "calls builtins.getattr");
  expect_refused(member(format, text("os")) + ".", "refers to timm.layers.Format.os");
  for (const auto& object : {"N"s, text("Format"), global("torch", "device"), global("my", "f")})
    expect_refused(member(object, text("A")) + ".", "calls builtins.getattr");
  expect_refused(member(format, "N") + ".", "calls builtins.getattr");
  expect_refused(global("builtins", "getattr") + format + text("A") + "N\x87R.",
                 "calls builtins.getattr");
  expect_refused(global("builtins", "getattr") + ".", "byte 0: refers to builtins.getattr");
  expect_refused("](" + member(format, text("A")) + global("builtins", "getattr") + "e.",
                 "refers to builtins.getattr");
}

TEST(Opcodes, RefusedNamesAreReportedWithTheirPlace) {
  EXPECT_EQ(complaint("N0" + global("os", "system") + ".", "data.pkl", 100),
            "data.pkl byte 102: refers to os.system, which can run code when Python loads the "
            "file; tmeter ran nothing");
  EXPECT_TRUE(
      complaint(global("my", "f") + ")R.", "").starts_with("byte 0: calls my.f, which can"));
}

TEST(Opcodes, CallsOfUnknownClassesAreCounted) {
  const auto format = global("timm.layers", "Format");
  const Read r("](" + format + ")R" + format + "K\x01\x85R" + global("my", "Net") + ")R" + "e.");
  EXPECT_TRUE(r.item(0).is_placeholder);
  EXPECT_EQ(integers(*r.item(1).items->arguments), (Integers{1}));
  EXPECT_EQ(r.pickle.called.at("timm.layers.Format"), 2u);
  EXPECT_EQ(r.pickle.called.at("my.Net"), 1u);
  EXPECT_EQ(r.pickle.called.size(), 2u);
}

TEST(Opcodes, ADifferentNameOfAClassAHundredThousandTimes) {
  const auto names = [](int count) {
    std::string bytes;
    for (int i = 0; i < count; ++i) bytes += global("m", std::to_string(i)) + "0";
    return bytes + global("m", "0") + ".";
  };
  EXPECT_EQ(complaint(names(100'000)), "accepted");
  expect_refused(names(100'001), "more than 100,000 different names of classes");
}

TEST(Opcodes, CopiesAreCountedItemByItem) {
  // A list, or a dict, of a hundred thousand, copied n times.
  std::string nones(100'000, 'N'), pairs;
  for (int i = 0; i < 100'000; ++i) pairs += "NN";
  const auto copies = [](int count, const std::string& type, const std::string& content) {
    std::string bytes = global("builtins", type) + put(0) + "0" + content + put(1) + "0";
    for (int i = 0; i < count; ++i) bytes += get(0) + get(1) + "\x85R0";
    return complaint(bytes + "N.");
  };
  EXPECT_EQ(copies(100, "list", "](" + nones + "e"), "accepted");
  EXPECT_NE(copies(101, "list", "](" + nones + "e").find("copied"), std::string::npos);
  EXPECT_EQ(copies(100, "dict", "}(" + pairs + "u"), "accepted");
  EXPECT_NE(copies(101, "dict", "}(" + pairs + "u").find("copied"), std::string::npos);
}

TEST(Opcodes, PersistentIds) {
  const auto storage = [](const char* key) {
    return "("s + text("storage") + global("torch", "FloatStorage") + text(key) + "tQ";
  };
  const Read r("](" + storage("7") + storage("8") + "e.");
  ASSERT_EQ(r.pickle.storages.size(), 2u);
  EXPECT_EQ(r.pickle.storages[0]->list().at(2)->text, "7");
  EXPECT_EQ(r.pickle.storages[1], &r.item(1));
  // Files of torch 0.3 also name classes so, with their source.
  const auto module = "("s + text("module") + global("my", "Net") + text("net.py") + text("class…");
  EXPECT_TRUE(Read(module + "tQ.").root().is_global("my.Net"));
  for (const auto& id :
       {"N"s, ")"s, text("storage"), text("other") + "\x85", "](" + text("a") + "e",
        "("s + text("module") + global("my", "Net") + text("net.py") + "t",
        "("s + text("module") + text("my.Net") + "NNt"})
    expect_refused(id + "Q.", "refers to a value that is not a storage");
}

}  // namespace
}  // namespace checkpoint
