// Reads a model file of one's own:
//
//   acme-net 1
//   input 4 16
//   linear enter 32
//   relu
#include <tmeter/cpp/plugin.hpp>

#include <charconv>

namespace {

using Id = tmeter::GraphBuilder::Id;

/// The words of a line, one after another.
class Words {
 public:
  explicit Words(std::string_view line) : rest_(line) {}
  std::string_view next() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(' '), rest_.size()));
    const auto word = rest_.substr(0, rest_.find(' '));
    rest_.remove_prefix(word.size());
    return word;
  }
  int64_t number() {
    const auto word = next();
    int64_t value = 0;
    const auto end = word.data() + word.size();
    if (std::from_chars(word.data(), end, value).ptr != end || word.empty() || value < 1)
      throw tmeter::Error(TMETER_BAD_MODEL, "a number of at least 1 is expected, not '" + std::string(word) + "'");
    return value;
  }

 private:
  std::string_view rest_;
};

class Reader {
 public:
  explicit Reader(tmeter::GraphBuilder& graph)
      : graph_(graph), root_(graph.module(0, "", "AcmeNet")), call_(graph.module_call(root_, 0)) {}

  void line(std::string_view text) {
    Words words(text);
    const auto what = words.next();
    if (what.empty()) return;
    if (what == "input") return input(words);
    if (!value_) throw tmeter::Error(TMETER_BAD_MODEL, "no input before '" + std::string(what) + "'");
    if (what == "linear") return linear(words);
    if (what == "relu") return relu();
    throw tmeter::Error(TMETER_BAD_MODEL, "'" + std::string(what) + "' is no kind of layer");
  }
  void finish() {
    if (!value_) throw tmeter::Error(TMETER_BAD_MODEL, "the file has no input");
    graph_.output(value_);
  }

 private:
  Id values(int64_t columns) {
    columns_ = columns;
    return graph_.tensor_value(tmeter::DType(TMETER_DTYPE_FLOAT32), {graph_.dim(rows_), graph_.dim(columns)});
  }
  void input(Words& words) {
    rows_ = words.number();
    value_ = values(words.number());
    graph_.input("x", "file", value_);
  }
  void linear(Words& words) {
    const auto name = words.next();
    const auto features = words.number();
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
};

void load(const tmeter::Request& request, tmeter::GraphBuilder& graph, tmeter::Call&) {
  constexpr std::string_view kFirst = "acme-net 1\n";
  auto text = request.source().bytes();
  if (!text.starts_with(kFirst))
    throw tmeter::Error(TMETER_BAD_MODEL, "the first line is not 'acme-net 1'");
  text.remove_prefix(kFirst.size());
  graph.property("format", "acme-net");
  Reader reader(graph);
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    reader.line(line);
  }
  reader.finish();
}

}  // namespace

TMETER_PLUGIN("com.example.@name@", "1.0.0", [](tmeter::Registrar& r) {
  // "acme-net", as bytes.
  r.loader("@name@", "acme-net files", {{"magic:61636d652d6e6574", 80}}, load);
});
