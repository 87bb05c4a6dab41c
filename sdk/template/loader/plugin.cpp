// Reads a custom model file:
//
//   acme-net 1
//   input 4 16
//   linear enter 32
//   relu
//
// An error of the file becomes one sentence and a status, so this builds and works with
// -fno-exceptions, too.
#include <charconv>
#include <tmeter/cpp/plugin.hpp>

namespace {

using Id = tmeter::GraphBuilder::Id;

std::string quoted(std::string_view word) { return std::string("'").append(word).append("'"); }

/// The words of a line, one by one.
class Words {
 public:
  explicit Words(std::string_view line) : rest_(line) {}
  std::string_view next() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(' '), rest_.size()));
    const auto word = rest_.substr(0, rest_.find(' '));
    rest_.remove_prefix(word.size());
    return word;
  }

 private:
  std::string_view rest_;
};

class Reader {
 public:
  explicit Reader(tmeter::GraphBuilder& graph)
      : graph_(graph), root_(graph.module(0, "", "AcmeNet")), call_(graph.module_call(root_, 0)) {}

  /// The error; empty if there is none.
  const std::string& wrong() const { return wrong_; }

  void line(std::string_view text) {
    Words words(text);
    const auto what = words.next();
    if (what.empty()) return;
    if (what == "input") return input(words);
    if (!value_) return refuse(std::string("no input before ").append(quoted(what)));
    if (what == "linear") return linear(words);
    if (what == "relu") return relu();
    refuse(quoted(what).append(" is not a kind of layer"));
  }
  void finish() {
    if (!value_) return refuse("the file has no input");
    graph_.output(value_);
  }

 private:
  void refuse(const std::string& why) {
    if (wrong_.empty()) wrong_ = why;
  }
  int64_t number(Words& words) {
    const auto word = words.next();
    const auto end = word.data() + word.size();
    int64_t value = 0;
    const bool is_one = std::from_chars(word.data(), end, value).ptr == end && value >= 1;
    if (!is_one)
      refuse(std::string("a number of at least 1 is expected, not ").append(quoted(word)));
    return is_one ? value : 1;
  }
  Id values(int64_t columns) {
    columns_ = columns;
    return graph_.tensor_value(tmeter::DType(TMETER_DTYPE_FLOAT32),
                               {graph_.dim(rows_), graph_.dim(columns)});
  }
  void input(Words& words) {
    rows_ = number(words);
    value_ = values(number(words));
    graph_.input("x", "file", value_);
  }
  void linear(Words& words) {
    const auto name = words.next();
    const auto features = number(words);
    const Id module = graph_.module(root_, name, "Linear");
    const int64_t dims[] = {features, columns_};
    const auto full = std::string(name) + ".weight";
    tmeter_tensor_desc weight{};
    weight.kind = TMETER_TENSOR_PARAMETER;
    weight.name = tmeter::to_abi(full);
    weight.owner = module;
    weight.dtype = TMETER_DTYPE_FLOAT32;
    weight.dims = dims;
    weight.rank = 2;
    weight.storage_key = weight.name;
    weight.file_offset = -1;
    weight.trainable = 1;
    const Id bound = graph_.bound(graph_.tensor(weight));
    const Id result = values(features);
    graph_.node("aten::linear", "", graph_.module_call(module, call_),
                {graph_.arg("input", value_), graph_.arg("weight", bound)}, {result});
    value_ = result;
  }
  void relu() {
    const Id result = values(columns_);
    graph_.node("aten::relu", "", call_, {graph_.arg("self", value_)}, {result});
    value_ = result;
  }

  tmeter::GraphBuilder& graph_;
  Id root_, call_, value_ = 0;
  int64_t rows_ = 0, columns_ = 0;
  std::string wrong_;
};

tmeter_status load(const tmeter::Request& request, tmeter::GraphBuilder& graph,
                   tmeter::Call& call) {
  constexpr std::string_view kFirst = "acme-net 1\n";
  auto text = request.source().bytes();
  if (!text.starts_with(kFirst))
    return call.refuse(TMETER_BAD_MODEL, "the first line is not 'acme-net 1'");
  text.remove_prefix(kFirst.size());
  graph.property("format", "acme-net");
  Reader reader(graph);
  for (int number = 2; !text.empty(); ++number) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    reader.line(line);
    if (!reader.wrong().empty())
      return call.refuse(
          TMETER_BAD_MODEL,
          std::string("line ").append(std::to_string(number)).append(": ").append(reader.wrong()));
  }
  reader.finish();
  return reader.wrong().empty() ? TMETER_OK : call.refuse(TMETER_BAD_MODEL, reader.wrong());
}

}  // namespace

TMETER_PLUGIN("com.example.@name@", "1.0.0", [](tmeter::Registrar& r) {
  // "acme-net", as bytes.
  r.loader("@name@", "acme-net files", {{"magic:61636d652d6e6574", 80}}, load);
});
