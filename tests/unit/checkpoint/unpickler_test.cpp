// The unpickler alone: the values it builds, its refusals, and that no input makes it crash.
#include "pickle/unpickler.hpp"

#include <gtest/gtest.h>

#include <random>

#include "bad_file.hpp"
#include "pickle_text.hpp"

namespace checkpoint {
namespace {

using namespace std::string_literals;
using testing::get;
using testing::global;
using testing::little;
using testing::proto;
using testing::put;
using testing::text;

/// A pickle and its values, with the same lifetime.
struct Read {
  explicit Read(std::string bytes) : data(std::move(bytes)) {
    pickle = Unpickler(data, "data.pkl", 0, arena).run();
  }
  const Value& root() const { return *pickle.root; }
  std::string data;
  Arena arena;
  Pickle pickle{};
};

std::string complaint(const std::string& bytes) {
  try {
    Read{bytes};
  } catch (const loading::BadFile& e) {
    return e.what();
  }
  return "accepted";
}

void expect_refused(const std::string& bytes, std::string_view word) {
  const auto message = complaint(bytes);
  EXPECT_NE(message.find(word), std::string::npos) << message;
  EXPECT_TRUE(message.starts_with("data.pkl byte ")) << message;
}

/// Calls `module.name("true")`, like the pickle of an object with __reduce__.
std::string attack(std::string_view module, std::string_view name) {
  return proto() + global(module, name) + text("true") + "\x85R."s;
}

// --- values ------------------------------------------------------------------------------------

TEST(Unpickler, ReadsNumbersOfEveryWidthAndSign) {
  // Python: pickle.dumps([0, 255, 256, 65535, -1, 2**31, -2**40, 2**70, True, None, 0.5], 2)
  const Read r(
      proto() + "](K\x00K\xffM\x00\x01M\xff\xffJ\xff\xff\xff\xff"s +
      "\x8a\x05\x00\x00\x00\x80\x00\x8a\x06\x00\x00\x00\x00\x00\xff"s +
      "\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x00\x40\x88NG\x3f\xe0\x00\x00\x00\x00\x00\x00"s +
      "e."s);
  const auto& list = r.root().list();
  ASSERT_EQ(list.size(), 11u);
  const int64_t expected[] = {0, 255, 256, 65535, -1, 2147483648, -1099511627776};
  for (size_t i = 0; i < std::size(expected); ++i) EXPECT_EQ(list[i]->integer, expected[i]);
  EXPECT_TRUE(list[7]->is(Kind::kBigInt));
  EXPECT_TRUE(list[8]->is(Kind::kBool));
  EXPECT_TRUE(list[9]->is(Kind::kNone));
  EXPECT_EQ(list[10]->real, 0.5);
}

TEST(Unpickler, ReadsBoolsAndIntegersOfProtocol1) {
  const Read r("](I00\nI01\nI-7\nL9000000000L\ne."s);
  EXPECT_TRUE(r.root().list()[0]->is(Kind::kBool));
  EXPECT_EQ(r.root().list()[1]->integer, 1);
  EXPECT_EQ(r.root().list()[2]->integer, -7);
  EXPECT_EQ(r.root().list()[3]->integer, 9000000000);
}

TEST(Unpickler, TheLastOfTwoEqualKeysCountsAsInPython) {
  const Read r(proto() + "}(" + text("a") + "K\x01"s + text("a") + "K\x02u."s);
  EXPECT_EQ(r.root().find("a")->integer, 2);
}

TEST(Unpickler, OrderedDictIsADictAndKeepsItsState) {
  const Read r(proto() + global("collections", "OrderedDict") + ")R(" + text("w") + "K\x01u}b."s);
  ASSERT_TRUE(r.root().is(Kind::kDict));
  EXPECT_EQ(r.root().find("w")->integer, 1);
}

TEST(Unpickler, ObjectOfAnyClassIsItsNameAndItsState) {
  const Read r(proto() + global("my.net", "Net") + ")\x81}" + text("eps") + "K\x05sb."s);
  ASSERT_TRUE(r.root().is(Kind::kObject));
  EXPECT_EQ(r.root().items->callable->text, "my.net.Net");
  EXPECT_EQ(r.root().items->state->find("eps")->integer, 5);
}

TEST(Unpickler, NamesOfPython2AreMappedToPython3) {
  const Read r(proto() + global("__builtin__", "set") + "](K\x01K\x02" + "e\x85R."s);
  EXPECT_TRUE(r.root().is(Kind::kSet));
  EXPECT_EQ(r.root().list().size(), 2u);
}

TEST(Unpickler, StorageIsAReference) {
  const Read r(proto() + "(" + text("storage") + global("torch", "FloatStorage") + text("0") +
               text("cpu") + "K\x04tQ."s);
  EXPECT_TRUE(r.root().is(Kind::kStorage));
  EXPECT_EQ(r.pickle.storages.size(), 1u);
}

TEST(Unpickler, AListThatContainsItselfIsRead) {
  const Read r(proto() + "]" + put(0) + get(0) + "a.");
  EXPECT_EQ(r.root().list().front(), &r.root());
}

// --- pickles that would run code ---------------------------------------------------------------

TEST(Unpickler, NameThatRunsCodeIsRefusedWithItsPlace) {
  EXPECT_EQ(
      complaint(attack("posix", "system")),
      "data.pkl byte 2: refers to posix.system, which can run code when Python loads the file; "
      "tmeter ran nothing");
}

TEST(Unpickler, KnownWaysToRunCodeAreRefused) {
  const std::pair<const char*, const char*> names[] = {
      {"os", "system"},
      {"nt", "system"},
      {"subprocess", "Popen"},
      {"builtins", "eval"},
      {"builtins", "exec"},
      {"__builtin__", "eval"},
      {"builtins", "getattr"},
      {"__builtin__", "getattr"},
      {"builtins", "__import__"},
      {"runpy", "_run_code"},
      {"importlib", "import_module"},
      {"pickle", "loads"},
      {"torch.hub", "load"},
      {"torch", "load"},
      {"torch.storage", "_load_from_bytes"},
      {"pip", "main"},
      {"asyncio.unix_events", "_UnixSubprocessTransport._start"},
      {"timeit", "timeit"},
      {"numpy.testing._private.utils", "runstring"},
      {"torch.serialization", "os.system"},
      {"collections", "_sys.modules"},
      {"torch._utils", "_rebuild_tensor.__globals__"},
      {"my.module", "function"},
      {"torch.fx.graph_module", "reduce_graph_module"},
      {"operator", "attrgetter"},
      {"ctypes", "CDLL"},
      {"webbrowser", "open"},
      {"socket", "create_connection"},
  };
  for (const auto& [module, name] : names) expect_refused(attack(module, name), "can run code");
}

TEST(Unpickler, AClassOfALibraryThatIsCalledIsAPlaceholder) {
  const Read r(attack("timm.layers.format", "Format"));
  EXPECT_TRUE(r.root().is_placeholder);
  EXPECT_EQ(r.root().items->callable->text, "timm.layers.format.Format");
  EXPECT_EQ(r.root().items->arguments->list().size(), 1u);
  EXPECT_EQ(r.pickle.called.at("timm.layers.format.Format"), 1u);
}

TEST(Unpickler, ClassesThatReachFilesOrCodeAreNotPlaceholders) {
  const std::pair<const char*, const char*> names[] = {
      {"code", "InteractiveConsole"},    {"zipfile", "ZipFile"},
      {"numpy", "DataSource"},           {"torch.jit", "CompilationUnit"},
      {"torch._C", "PyTorchFileReader"}, {"_mine", "Class"},
      {"builtins", "MyClass"},           {"my", "Class.method"},
  };
  for (const auto& [module, name] : names) expect_refused(attack(module, name), "can run code");
}

TEST(Unpickler, NameOnTheStackIsRefusedLikeOneInTheText) {
  expect_refused(proto(4) + "\x8c\x02os\x8c\x06system\x93."s, "os.system");
}

TEST(Unpickler, TheResultOfACallCannotBeCalled) {
  expect_refused(proto() + global("functools", "partial") + global("my", "f") + "\x85R)R.",
                 "not a class or function");
}

TEST(Unpickler, ClassItselfCannotBeChanged) {
  expect_refused(proto() + global("my", "Net") + "}b.", "is not an object");
}

TEST(Unpickler, ProtocolZeroAndOldClassesAreRefusedByName) {
  expect_refused("(iposix\nsystem\n.", "INST");
  expect_refused("(cposix\nsystem\no.", "can run code");
  expect_refused("(cmy\nNet\no.", "OBJ");
  expect_refused("P1\n.", "PERSID");
  expect_refused(proto() + "\x82\x01.", "EXT1");
  expect_refused(proto(5) + "\x97.", "NEXT_BUFFER");
  expect_refused(proto() + "\xff.", "no pickle opcode 255");
}

// --- damage ------------------------------------------------------------------------------------

TEST(Unpickler, ItemsAreOnlyAddedToContainers) {
  for (const auto& target : {text("a"), "K\x01"s, "]"s, ")"s, "N"s, global("torch", "float32")})
    expect_refused(proto() + target + "K\x01K\x02s.", "SETITEM");
  for (const auto& target : {text("a"), "}"s, ")"s})
    expect_refused(proto() + target + "K\x01" + "a.", "APPEND");
  expect_refused(proto() + "](K\x01\x90.", "ADDITEMS");
  const auto size = global("torch", "Size") + "(K\x01K\x02t\x85R";
  expect_refused(proto() + size + "K\x01K\x02s.", "SETITEM");
}

TEST(Unpickler, EmptyStackMissingMarkAndMemoAreRefused) {
  expect_refused(".", "stack is empty");
  expect_refused("(0..", "stack is empty");
  expect_refused("(K\x01\x85.", "inside a container");
  expect_refused("K\x01(a.", "stack is empty");
  expect_refused("t.", "mark is missing");
  expect_refused("h\x00."s, "memo entry 0 does not exist");
  expect_refused("}(K\x01u.", "key without a value");
  expect_refused("}]K\x01s.", "cannot be a key");
  expect_refused("K\x01Q.", "is not a storage");
}

TEST(Unpickler, WrongLengthsAreRefused) {
  expect_refused("X" + little(0xffffffff, 4) + "abc.", "truncated");
  expect_refused("\x8d"s + little(~uint64_t{0}, 8) + "abc.", "truncated");
  expect_refused("\x95"s + little(1u << 30, 8) + "N.", "frame");
  expect_refused("\x8b"s + little(0x80000000, 4) + "N.", "truncated");
}

TEST(Unpickler, MemoNumberOfBillionsTakesNoMemory) {
  expect_refused("N" + put(0xffffffff) + ".", "out of order");
}

TEST(Unpickler, UnterminatedNamesAreRefused) {
  expect_refused("c" + std::string(100'000, 'a'), "no end");
}

// Each list contains the previous one ten times: 10^30 elements when written out.
TEST(Unpickler, ListsThatDoubleEachOtherStaySmall) {
  auto bomb = proto() + "]" + put(0);
  for (uint64_t level = 1; level <= 30; ++level) {
    bomb += "](";
    for (int i = 0; i < 10; ++i) bomb += get(level - 1);
    bomb += "e" + put(level);
  }
  const Read r(bomb + ".");
  EXPECT_LT(r.arena.size(), 1'000u);
}

TEST(Unpickler, DeepNestingDoesNotOverflowTheStack) {
  const Read r(std::string(1'000'000, ']') + std::string(999'999, 'a') + ".");
  EXPECT_EQ(r.root().list().size(), 1u);
}

TEST(Unpickler, CopiesOfCopiesAreLimited) {
  // dict(d) copies; a thousand keys, copied a million times.
  auto bomb = proto() + global("builtins", "list") + put(0) + "0](";
  for (int i = 0; i < 1'000; ++i) bomb += "N";
  bomb += "e" + put(1) + "0";
  for (int i = 0; i < 100'000; ++i) bomb += get(0) + get(1) + "\x85R0";
  expect_refused(bomb + "N.", "10,000,000 copied references");
}

std::string everything() {
  return proto(4) + "\x95"s + little(0, 8) + "(" + text("storage") +
         global("torch", "FloatStorage") + text("0") + text("cpu") + "K\x04tQ\x94" +
         global("collections", "OrderedDict") + ")R\x94(" + text("w") + "K\x01\x8a\x02\x00\x01"s +
         "](N\x88\x89J\xff\xff\xff\xff" + "e" + "u}b" + global("my", "Net") + ")\x81}b" +
         "\x8f(K\x01\x90" + "\x87h\x00\x86."s;
}

TEST(Unpickler, TruncationAtEveryByteIsAClearError) {
  const auto whole = everything();
  EXPECT_EQ(complaint(whole), "accepted");
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_TRUE(complaint(whole.substr(0, size)).starts_with("data.pkl byte ")) << size;
}

TEST(Unpickler, AnyByteAnywhereIsReadOrRefused) {
  const auto whole = everything();
  for (size_t at = 0; at < whole.size(); ++at) {
    for (int byte = 0; byte < 256; ++byte) {
      auto changed = whole;
      changed[at] = static_cast<char>(byte);
      const auto message = complaint(changed);
      EXPECT_TRUE(message == "accepted" || message.starts_with("data.pkl byte ")) << message;
    }
  }
}

TEST(Unpickler, OpcodeSoupIsReadOrRefused) {
  constexpr std::string_view kOpcodes =
      "\x80\x95.N\x88\x89KMJ\x8a\x8bILGX\x8c\x8dUTCB\x8e\x96]}\x8f)t\x85\x86\x87\x91"
      "aesu\x90(012qr\x94hjc\x93R\x81\x92"
      "bQ\x00\x01\n";
  std::mt19937 random(20261121);
  for (int round = 0; round < 20'000; ++round) {
    std::string soup;
    for (int i = 0; i < 60; ++i) soup += kOpcodes[random() % kOpcodes.size()];
    const auto message = complaint(soup);
    EXPECT_TRUE(message == "accepted" || message.starts_with("data.pkl byte ")) << message;
  }
}

}  // namespace
}  // namespace checkpoint
