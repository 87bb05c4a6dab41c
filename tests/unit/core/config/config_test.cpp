// Settings, plugin options, manifests and hardware profiles: files that users write, and the places
// in error messages about them.
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "core/config/hardware.hpp"
#include "core/config/manifest.hpp"
#include "core/config/settings.hpp"
#include "core/plugin_host/options.hpp"
#include "tests/support/expect_error.hpp"

namespace tmeter::core {
namespace {
using testing::expect_error;

/// Used by this process alone, because tests run in parallel.
std::string folder() {
  const auto path = ::testing::TempDir() + "config-" + std::to_string(getpid()) + "/";
  std::filesystem::create_directories(path);
  return path;
}

std::string file_with(const std::string& name, const std::string& text) {
  const auto path = folder() + name;
  std::ofstream(path) << text;
  return path;
}

TEST(Settings, FileIsReadWithThePlaceOfEachOption) {
  const auto s = read_settings(
      file_with("ok.toml", "hardware = 'h'\n[plugin.flops]\nconvention = 'fvcore'\n"));
  EXPECT_EQ(s.hardware, "h");
  EXPECT_EQ(s.options.at("flops").at("convention").value, "fvcore");
  EXPECT_NE(s.options.at("flops").at("convention").origin.find(":3:"), std::string::npos);
}

TEST(Settings, MistakesHaveAPlace) {
  expect_error(ErrorKind::kUsage, {":1:1", "unknown key 'hardwear'", "hardware"},
               [] { read_settings(file_with("bad.toml", "hardwear = 'h'\n")); });
  expect_error(ErrorKind::kUsage, {"syntax.toml:1:"},
               [] { read_settings(file_with("syntax.toml", "a = = 1")); });
  expect_error(ErrorKind::kUsage, {"cannot be read"}, [] { read_settings("/nonexistent/x.toml"); });
}

std::string times(const std::string& text, size_t n) {
  std::string out;
  for (size_t i = 0; i < n; ++i) out += text;
  return out;
}

/// Texts whose tables or lists are nested this deep.
std::vector<std::string> nested(size_t levels) {
  const auto dots = times("a.", levels - 1) + "a";
  return {dots + " = 1\n",
          times("a . \t", levels - 1) + "a = 1\n",
          times("'a'.\"b\".", levels / 2) + "c = 1\n",
          "[" + dots + "]\nb = 1\n",
          "[[" + dots + "]]\nb = 1\n",
          "b = " + times("[", levels) + times("]", levels) + "\n",
          "b = " + times("[\n", levels) + times("]\n", levels),
          "b = " + times("{ a = ", levels) + "1" + times(" }", levels) + "\n",
          "b = " + times("{ a.b.c = ", levels / 3) + "1" + times(" }", levels / 3) + "\n",
          "b = " + times("[ { a = ", levels / 2) + "1" + times(" } ]", levels / 2) + "\n",
          "t = 'x' # .\n" + dots + " = 1\n",
          "t = \"\\\"\" \n" + dots + " = 1\n",
          "t = '\\'\n" + dots + " = 1\n",
          "t = \"\"\"\n\\\"\"\"\"\"\n" + dots + " = 1\n",
          "t = '''a''''\n" + dots + " = 1\n"};
}

TEST(Toml, TooDeepNestingIsRefusedBeforeParsing) {
  for (const size_t levels : {size_t{200}, size_t{40'000}}) {
    for (const auto& text : nested(levels)) {
      expect_error(ErrorKind::kUsage, {"deep.toml:", "more than 64 deep"},
                   [&] { read_settings(file_with("deep.toml", text)); });
      expect_error(ErrorKind::kUsage, {"more than 64 deep"}, [&] { parse_hardware(text, "x"); });
      expect_error(ErrorKind::kPlugin, {"more than 64 deep"},
                   [&] { read_manifest(file_with("deep.tmeter.toml", text)); });
    }
  }
}

/// Found by ./dev fuzz: undefined behaviour or a failed assertion in toml++ 3.3.
TEST(Toml, LettersOutsideOfAsciiAndCommentsInThePlaceOfAKeyAreRefused) {
  for (const char* text : {"p\uFEFBl = 1\n", "\u00E9 = 1\n", "a\u0100 = 1\n", "a\u2100 = 1\n",
                           "a = \u00E9\n", "[a.#\n", "[#\n", "[\u00E9]\n"})
    expect_error(ErrorKind::kUsage, {"odd.toml:1:"},
                 [&] { read_settings(file_with("odd.toml", text)); });
}

TEST(Toml, DotsAndBracketsInTextsAndNumbersDoNotNest) {
  const auto dots = times(".", 1000), brackets = times("[{", 1000);
  std::string keys;
  for (int i = 0; i < 1000; ++i) keys += "k" + std::to_string(i) + ".x = 1.5\n";
  const auto path = file_with(
      "flat.toml", "# " + dots + brackets + "\n[plugin.x]\na = \"" + dots + brackets + "\\\"" +
                       dots + "\"\nb = '" + brackets + "\\'\nc = \"\"\"\n" + brackets + "\"\"" +
                       dots + "\"\"\"\"\"\nd = '''" + brackets + "''" + dots + "'''''\ne = [" +
                       times("1.5,\n", 1000) + "]\nf.g = 1\n" + keys);
  EXPECT_EQ(read_settings(path).options.at("x").size(), 1006u);
}

TEST(Toml, OnlyRegularFilesOfAReasonableLengthAreRead) {
  const auto fifo = folder() + "words.fifo";
  unlink(fifo.c_str());
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  const auto large = file_with("large.toml", std::string((1 << 20) + 1, '\n'));
  const std::pair<std::string, std::string> files[] = {{folder(), "is a folder"},
                                                       {fifo, "is not a regular file"},
                                                       {"/dev/zero", "is not a regular file"},
                                                       {"/dev/null", "is not a regular file"},
                                                       {large, "is longer than 1024 KiB"},
                                                       {"/nonexistent/x", "No such file"}};
  for (const auto& file : files) {
    const auto& path = file.first;
    expect_error(ErrorKind::kUsage, {path, file.second}, [&] { read_settings(path); });
    expect_error(ErrorKind::kUsage, {path, file.second}, [&] { load_hardware(path, {}); });
    expect_error(ErrorKind::kPlugin, {path, file.second}, [&] { read_manifest(path); });
  }
  EXPECT_NO_THROW(read_settings(file_with("full.toml", std::string(1 << 20, '\n'))));
  // Its size is 0, but it has contents.
  expect_error(ErrorKind::kUsage, {"/proc/version:1:"}, [] { read_settings("/proc/version"); });
}

TEST(Settings, SetNeedsPluginKeyAndValue) {
  Settings s;
  add_set_option(s, "flops.convention=torch");
  EXPECT_EQ(s.options["flops"]["convention"].value, "torch");
  add_set_option(s, "org.tmeter.flops.convention=full");
  EXPECT_EQ(s.options["org.tmeter.flops"]["convention"].value, "full");
  for (const auto* bad : {"convention=torch", "flops.convention", ".x=1", "flops.=1"}) {
    expect_error(ErrorKind::kUsage, {"--set"}, [&] { add_set_option(s, bad); });
  }
}

tmeter_str abi(std::string_view s) { return {s.data(), s.size()}; }
const tmeter_option_desc kOptions[] = {
    {sizeof(tmeter_option_desc),
     TMETER_OPTION_CHOICE,
     abi("convention"),
     abi("torch"),
     abi("torch fvcore"),
     {},
     1,
     0},
    {sizeof(tmeter_option_desc), TMETER_OPTION_INT, abi("limit"), abi("5"), {}, {}, 1, 10},
    {sizeof(tmeter_option_desc), TMETER_OPTION_BOOL, abi("fast"), abi("true"), {}, {}, 1, 0}};

TEST(Options, DefaultsAndGivenValues) {
  const auto o = resolve_options("flops", kOptions, {{"limit", {"7", "--set"}}});
  EXPECT_EQ(o.at("convention").text, "torch");
  EXPECT_EQ(o.at("limit").i, 7);
  EXPECT_TRUE(o.at("fast").b);
}

TEST(Options, WrongValuesNameTheSettingAndTheAllowedValues) {
  const auto given = [](const char* key, const char* value) {
    return std::map<std::string, Setting>{{key, {value, "--set flops.x"}}};
  };
  expect_error(ErrorKind::kUsage, {"--set flops.x", "torch fvcore"},
               [&] { resolve_options("flops", kOptions, given("convention", "torsh")); });
  expect_error(ErrorKind::kUsage, {"1 … 10"},
               [&] { resolve_options("flops", kOptions, given("limit", "11")); });
  expect_error(ErrorKind::kUsage, {"whole number"},
               [&] { resolve_options("flops", kOptions, given("limit", "1.5")); });
  expect_error(ErrorKind::kUsage, {"no option 'limits'", "did you mean 'limit'"},
               [&] { resolve_options("flops", kOptions, given("limits", "1")); });
}

TEST(Settings, TablesOfAPluginAreOptionsWithDots) {
  const auto s =
      read_settings(file_with("t.toml",
                              "[plugin.text.column.macs]\nstyle = \"größer\"\n"
                              "pad = [0, 1]\n[plugin.text]\nx = '''ab'''\ny = \"\\t\"\n"));
  const auto& text = s.options.at("text");
  const auto& style = text.at("column.macs.style");
  EXPECT_EQ(style.value, "größer");
  // Characters, not bytes: ö and ß are two each.
  EXPECT_TRUE(style.place(0).ends_with("t.toml:2:10")) << style.place(0);
  EXPECT_TRUE(style.place(6).ends_with("t.toml:2:14")) << style.place(6);
  EXPECT_EQ(text.at("column.macs.pad").value, "0, 1");
  EXPECT_TRUE(text.at("column.macs.pad").list);
  // If characters of the value have no column of their own, the message gives their index.
  EXPECT_TRUE(text.at("x").place(1).ends_with("t.toml:5:5, character 2")) << text.at("x").place(1);
  EXPECT_TRUE(text.at("y").place(0).ends_with("t.toml:6:5")) << text.at("y").place(0);
}

TEST(OptionTables, NamesOfTheUserReplaceTheStar) {
  const std::array<tmeter_option_desc, 3> declared{
      {{sizeof(tmeter_option_desc),
        TMETER_OPTION_INT,
        abi("column.*.width"),
        abi("0"),
        {},
        {},
        0,
        9},
       {sizeof(tmeter_option_desc), TMETER_OPTION_TEXT, abi("column.id.width"), {}, {}, {}, 1, 0},
       {sizeof(tmeter_option_desc), TMETER_OPTION_TEXT, abi("pad"), {}, abi("list"), {}, 1, 0}}};
  const auto taken = take_tables(declared, {{"column.macs.width", {"7", "a"}},
                                            {"column.id.width", {"wide", "b"}},
                                            {"pad", {"0, 1", "c", true}},
                                            {"column.a b.width", {"7", "d"}},
                                            {"column.x.y.width", {"7", "e"}},
                                            {"flat", {"1", "f"}}});
  ASSERT_EQ(taken.of_tables.size(), 3u);
  EXPECT_EQ(taken.of_tables[0].declared, 1u);  // an exact declaration takes precedence
  EXPECT_EQ(taken.of_tables[1].declared, 0u);
  EXPECT_EQ(taken.of_tables[1].value.i, 7);
  EXPECT_EQ(taken.flat.size(), 3u);
  expect_error(ErrorKind::kUsage, {"here", "0 … 9"}, [&] {
    take_tables(declared, {{"column.macs.width", {"10", "here"}}});
  });
  expect_error(ErrorKind::kUsage, {"not a list"}, [&] {
    take_tables(declared, {{"column.macs.width", {"1", "here", true}}});
  });
  expect_error(ErrorKind::kUsage, {"'column.macs.wdith'", "did you mean 'column.macs.width'"}, [&] {
    resolve_options("text", {}, {{"column.macs.wdith", {"1", "x"}}}, declared);
  });
}

TEST(Manifest, SurvivesARoundTrip) {
  Manifest m;
  m.id = "com.acme.x";
  m.name = "x";
  m.version = "1.2.3";
  m.needs = {"flops"};
  m.handles = {"acme::op"};
  m.loaders = {{"x", "X file", {{"zip:*/x !zip:*/y", 40}}}};
  m.writers = {{"w", "txt", "text/plain"}};
  m.abi_minor = 3;
  m.made_from = {123, 456, "abc", "def"};
  const auto back = read_manifest(file_with("m.toml", write_manifest(m)));
  EXPECT_EQ(back.id, m.id);
  EXPECT_EQ(back.needs, m.needs);
  EXPECT_EQ(back.handles, m.handles);
  EXPECT_EQ(back.loaders[0].matches[0].conditions, "zip:*/x !zip:*/y");
  EXPECT_EQ(back.writers[0].name, "w");
  EXPECT_EQ(back.made_from.size, 123u);
  EXPECT_EQ(back.made_from.mtime, 456);
  EXPECT_EQ(back.made_from.build_id, "def");
  EXPECT_EQ(back.made_from.sha256, "abc");
  EXPECT_TRUE(same_offer(m, back));
}

// Each would otherwise be truncated to a number with another meaning, or count as absent.
TEST(Manifest, AMemberOfAnotherTypeOrBeyondItsRangeIsRefusedWithItsPlace) {
  const std::pair<std::string, std::string> cases[] = {
      {"schema = 4294967297", "'schema': a whole number from 0 to 4294967295 is expected"},
      {"abi_minor = -1", "'abi_minor': a whole number from 0 to 4294967295 is expected"},
      {"abi_minor = 4294967296", "'abi_minor': a whole number"},
      {"abi_minor = 1.5", "'abi_minor': a whole number"},
      {"schema = '1'", "'schema': a whole number"},
      {"needs = [1]", "'needs': a string is expected"},
      {"needs = 'flops'", "'needs': a list is expected"},
      {"rights = ['network']", "'rights': a string is expected"},
      {"library = 1", "'library': a table is expected"},
      {"library = { mtime = true }", "'mtime': a whole number"},
      {"writer = [1]", "'writer': a table is expected"},
      {"loader = [{ name = 'l', match = [{ score = 4294967396 }] }]", "'score': a whole number"},
      {"loader = [{ name = 'l', match = [{ score = 5, conditions = [] }] }]",
       "'conditions': a string"},
      {"loader = [{ name = \"a\\u001b\", match = [{ score = 0 }] }]",
       "loader 'a\\x1b' has a match"}};
  for (const auto& one : cases) {
    const auto path = file_with("wrong.tmeter.toml", "id = 'a'\nname = 'a'\n" + one.first + "\n");
    expect_error(ErrorKind::kPlugin, {path + ":", one.second}, [&] { read_manifest(path); });
  }
}

TEST(Hardware, NumbersAreFlattenedAndNeedASource) {
  const auto good = file_with(
      "good.toml",
      "title = 'T'\n[energy.mac]\nfloat32 = { value = 4.6e-12, unit = 'J', source = 'paper' }\n");
  const auto p = load_hardware(good, {});
  EXPECT_DOUBLE_EQ(p.numbers.at("energy.mac.float32").value, 4.6e-12);
  EXPECT_EQ(p.name, "good");
  expect_error(ErrorKind::kUsage, {"'a.b' must name its source", ":1:"},
               [] { load_hardware(file_with("nosource.toml", "a.b = { value = 1 }\n"), {}); });
  expect_error(ErrorKind::kUsage, {"at least 0"}, [] {
    load_hardware(file_with("neg.toml", "a = { value = -1, source = 's' }\n"), {});
  });
}

TEST(Hardware, UnknownNameGetsTheNearestProfile) {
  file_with("my-cpu.toml", "a = { value = 1, source = 's' }\n");
  expect_error(ErrorKind::kUsage, {"unknown hardware profile 'my-cpy'", "did you mean 'my-cpu'"},
               [] { load_hardware("my-cpy", {folder()}); });
}

}  // namespace
}  // namespace tmeter::core
