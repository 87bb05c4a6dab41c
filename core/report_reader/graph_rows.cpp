#include "core/report_reader/graph_rows.hpp"

#include <tmeter/abi/base.h>
#include <tmeter/abi/metadata.h>

#include <limits>
#include <tmeter/cpp/dtype.hpp>
#include <tmeter/cpp/vocabulary.hpp>

#include "core/base/text.hpp"
#include "core/ir/limits.hpp"

namespace tmeter::core::report_reader {
namespace {

/// A pointer to an optional item.
class OptionalItem {
 public:
  explicit OptionalItem(std::optional<Item> item) : item_(item) {}
  const Item* get() const { return item_ ? &*item_ : nullptr; }

 private:
  std::optional<Item> item_;
};

std::string integer_text(const std::optional<Item>& item) {
  return item ? std::to_string(item->integer()) : std::string();
}

double not_finite(std::string_view word) {
  if (word == "inf" || word == "-inf")
    return (word == "inf" ? 1 : -1) * std::numeric_limits<double>::infinity();
  if (word != "nan") refuse("'" + printable(word, 40) + "' is not a number");
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

std::unique_ptr<Graph> GraphRows::read() {
  properties();
  symbols();
  metadata();
  modules();
  document_.has("module_calls") ? module_calls() : guess_module_calls();
  tensors();
  inputs();
  nodes();
  outputs();
  graph_values_.require_all_produced();
  auto graph = builder_.finish();
  check_repeats(*graph);
  return graph;
}

void GraphRows::properties() {
  const auto m = document_.whole("model").members();
  for (const char* key : {"name", "file", "format", "producer", "part"})
    if (const auto text = m.text(key); !text.empty()) builder_.property(key, text);
  const auto sizes = m.find("sizes");
  if (!sizes) return;
  const auto s = sizes->members();
  builder_.property("sizes", s.text("text"));
  builder_.property("literals.replaced", integer_text(s.find("literals_replaced")));
  builder_.property("literals.kept", integer_text(s.find("literals_kept")));
}

void GraphRows::symbols() {
  document_.rows("symbols", [&](size_t, const Item& row) {
    const auto m = row.members();
    const auto name = m.at("name").text();
    const auto max = m.find("max");
    const auto value = m.at("value").integer();
    const auto symbol =
        builder_.symbol(name, m.at("min").integer(),
                        max ? max->integer() : std::numeric_limits<int64_t>::max(), value);
    graph_values_.add_symbol(name, symbol, value);
  });
}

void GraphRows::metadata() {
  document_.rows("metadata", [&](size_t, const Item& row) {
    const auto m = row.members();
    MetadataSpec fact;
    fact.space = m.at("space").text();
    fact.key = m.at("key").text();
    fact.type = vocabulary::kMetadataTypes.number(m.at("type").text());
    const auto values = m.find("values");
    std::vector<tmeter_str> texts;
    std::vector<int64_t> ints;
    std::vector<double> floats;
    const auto add = [&](const Item& item) {
      switch (fact.type) {
        case TMETER_METADATA_TEXT:
          texts.push_back({item.text().data(), item.text().size()});
          break;
        case TMETER_METADATA_INT:
          ints.push_back(item.integer());
          break;
        case TMETER_METADATA_BOOL:
          ints.push_back(item.boolean());
          break;
        case TMETER_METADATA_FLOAT:
          floats.push_back(item.is(simdjson::dom::element_type::STRING) ? not_finite(item.text())
                                                                        : item.real());
          break;
        default:
          refuse("its type is unknown to this tmeter");
      }
    };
    if (values)
      for (const auto item : values->list()) add({item, "values"});
    else
      add(m.at("value"));
    fact.is_array = values.has_value();
    fact.length = values ? m.at("length").integer() : 1;
    fact.texts = texts, fact.ints = ints, fact.floats = floats;
    builder_.metadata(fact);
  });
}

void GraphRows::modules() {
  document_.rows("modules", [&](size_t i, const Item& row) { module(i, row.members()); });
  if (parents_.empty()) refuse("modules: there must be a root");
}

/// Rows are in pre-order: the parent is on the branch to the row before.
void GraphRows::enter(size_t index, const Members& m) {
  const auto parent = m.find("parent");
  if ((index == 0) == parent.has_value())
    refuse(index == 0 ? "the first module must be the root" : "only the first module is the root");
  if (index == 0) {
    branch_.push_back({"0", 0, 0});
  } else {
    const auto id = parent->text();
    while (!branch_.empty() && branch_.back().id != id) branch_.pop_back();
    if (branch_.empty())
      refuse("its parent '" + printable(id) + "' is not above it: modules must be in pre-order");
    auto& up = branch_.back();
    const auto number = std::to_string(++up.children);
    branch_.push_back({(branch_.size() == 1 ? "" : up.id + ".") + number, index, 0});
  }
  if (branch_.back().id != m.at("id").text())
    refuse("its id is '" + printable(m.at("id").text()) + "', and '" + branch_.back().id +
           "' is expected there");
}

void GraphRows::module(size_t index, const Members& m) {
  enter(index, m);
  const size_t parent = index == 0 ? 0 : branch_[branch_.size() - 2].index;
  parents_.push_back(parent);
  const auto id = builder_.module(index == 0 ? 0 : static_cast<Id>(parent + 1), m.at("name").text(),
                                  m.at("qualified_type").text());
  paths_.try_emplace(std::string(m.at("path").text()), id);
  const auto calls = m.at("calls").natural();
  if (calls > limits::kNodes) refuse("it has more calls than tmeter accepts");
  calls_.push_back(calls);
  texts(m);
  attributes(id, m);
  metric_values_.row(m, TMETER_AXIS_MODULE, index);
}

void GraphRows::texts(const Members& m) {
  for (size_t i = 0; i < kModuleTexts.size(); ++i)
    descriptions_.texts[i].emplace_back(m.text(kModuleTexts[i]));
  auto& repeat = descriptions_.repeats.emplace_back();
  const auto stated = m.find("repeat");
  if (!stated) return;
  const auto r = stated->members();
  repeat.window = r.at("window").index(limits::kModules);
  repeat.times = r.at("times").index(limits::kModules);
  if (repeat.window < 1 || repeat.times < 2) refuse("'repeat' must have a window and times");
}

void GraphRows::attributes(Id module, const Members& m) {
  const auto list = m.find("attributes");
  if (!list) return;
  const auto details = m.find("attribute_details");
  const auto detail_members = details ? std::optional(details->members()) : std::nullopt;
  size_t i = 0;
  for (const auto field : list->members().object()) {
    const OptionalItem detail(detail_members ? detail_members->find(field.key) : std::nullopt);
    const bool unnamed = field.key == "#" + std::to_string(i++);
    builder_.module_attribute(module, unnamed ? std::string_view() : field.key,
                              graph_values_.fresh({field.value, field.key}, detail.get()));
  }
}

void GraphRows::module_calls() {
  std::vector<size_t> counted(parents_.size());
  document_.rows("module_calls", [&](size_t i, const Item& row) {
    const auto m = row.members();
    const auto module = m.at("module").index(parents_.size());
    const auto parent = m.find("parent");
    builder_.module_call(static_cast<Id>(module + 1),
                         parent ? static_cast<Id>(parent->index(i) + 1) : 0);
    nth_calls_[{module, ++counted[module]}] = static_cast<Id>(++call_count_);
    metric_values_.row(m, TMETER_AXIS_MODULE_CALL, i);
  });
  for (size_t i = 0; i < counted.size(); ++i)
    if (counted[i] != calls_[i])
      refuse("modules[" + std::to_string(i) + "]: 'calls' is " + std::to_string(calls_[i]) +
             ", and 'module_calls' has " + std::to_string(counted[i]));
}

/// Older reports give the number of calls of a module, not their callers.
void GraphRows::guess_module_calls() {
  std::vector<Id> within(parents_.size());  // by module: its first call, or that around it
  for (size_t i = 0; i < parents_.size(); ++i) {
    const Id around = i == 0 ? 0 : within[parents_[i]];
    within[i] = around;
    for (size_t n = 1; n <= calls_[i]; ++n) {
      const auto call = builder_.module_call(static_cast<Id>(i + 1), around);
      if (n == 1) within[i] = call;
      nth_calls_[{i, n}] = call;
      ++call_count_;
    }
  }
}

void GraphRows::tensors() {
  document_.rows("tensors", [&](size_t i, const Item& row) { tensor(i, row.members()); });
}

/// `shapes` has the dims of the parts and must outlive the spec.
void GraphRows::encoding(const Members& m, TensorSpec& spec,
                         std::vector<std::vector<int64_t>>& shapes) const {
  const auto natural = [&](std::string_view key) {
    const auto value = m.find(key);
    return value ? value->integer() : 0;
  };
  auto& e = spec.encoding.emplace();
  e.id = m.at("id").text();
  e.parameters = m.text("parameters");
  e.block_elements = natural("block_elements");
  e.block_bytes = natural("block_bytes");
  e.stored_dtype = DType::parse(m.text("stored_dtype")).id();
  int64_t own = natural("stored_bytes");
  shapes.reserve(limits::kParts);
  for (const auto item : m.at("parts").list()) {
    const auto p = Item(item, "parts").members();
    if (shapes.size() == limits::kParts) refuse("it has more than 16 parts");
    const auto& dims = shapes.emplace_back(graph_values_.shape(p.at("shape")));
    const auto bytes = static_cast<int64_t>(p.at("bytes").index(size_t{1} << 62));
    if (bytes > own) refuse("its parts have more bytes than it has");
    own -= bytes;
    e.parts.push_back({DType::parse(p.at("dtype").text()).id(), p.at("role").text(),
                       p.at("name").text(), dims, -1, bytes, nullptr});
  }
  if (own < 0) refuse("it has a negative number of bytes");
  spec.storage_bytes = own;
}

void GraphRows::tensor(size_t index, const Members& m) {
  if (m.at("index").natural() != index) refuse("'index' must be its place in the list");
  const auto shape = graph_values_.shape(m.at("shape"));
  const auto owner = m.find("owner");
  const auto it = paths_.find(std::string(owner ? owner->text() : ""));
  if (it == paths_.end()) refuse("its owner is not among the 'modules'");
  const auto tied = m.find("tied_to");
  TensorSpec spec;
  spec.kind = vocabulary::kTensorKinds.number(m.at("kind").text());
  spec.dtype = DType::parse(m.at("dtype").text()).id();
  spec.name = m.at("name").text();
  // Each tensor gets a place of its own in the model's memory; tied tensors share one.
  const std::string storage(tied ? tied->text() : spec.name);
  spec.storage_key = storage;
  spec.owner = it->second;
  spec.dims = shape;
  spec.trainable = m.at("trainable").boolean();
  std::vector<std::vector<int64_t>> shapes;
  if (const auto stated = m.find("encoding")) encoding(stated->members(), spec, shapes);
  const auto id = builder_.tensor(spec);
  graph_values_.add_tensor(spec.name, id);
  metric_values_.row(m, TMETER_AXIS_TENSOR, index);
}

void GraphRows::inputs() {
  document_.rows("inputs", [&](size_t, const Item& row) {
    const auto m = row.members();
    const auto plain = m.get("value");  // null is a value, too
    const OptionalItem detail(m.find("detail"));
    const auto value =
        plain ? graph_values_.fresh(*plain, detail.get()) : graph_values_.fresh(row, nullptr);
    const auto name = m.at("name").text();
    builder_.input(name, m.text("origin"), value);
    graph_values_.add_input(name, value);
  });
}

void GraphRows::nodes() {
  document_.rows("nodes", [&](size_t i, const Item& row) { node(i, row.members()); });
}

GraphRows::Id GraphRows::call_of(const Members& m) {
  if (const auto call = m.find("module_call")) return static_cast<Id>(call->index(call_count_) + 1);
  const auto module = paths_.find(std::string(m.text("module")));
  if (module == paths_.end()) refuse("its module is not among the 'modules'");
  const auto nth = m.find("call");
  const auto call = nth_calls_.find({module->second - 1, nth ? nth->natural() : 1});
  if (call == nth_calls_.end()) refuse("its module has fewer calls");
  return call->second;
}

void GraphRows::node(size_t index, const Members& m) {
  if (m.at("index").natural() != index) refuse("'index' must be its place in the list");
  const auto details = m.find("details"), result_details = m.find("result_details");
  const auto detail_members = details ? std::optional(details->members()) : std::nullopt;
  std::vector<std::pair<std::string_view, Id>> arguments;
  for (const auto field : m.at("arguments").members().object()) {
    const OptionalItem detail(detail_members ? detail_members->find(field.key) : std::nullopt);
    const bool unnamed = field.key == "#" + std::to_string(arguments.size());
    arguments.emplace_back(unnamed ? std::string_view() : field.key,
                           graph_values_.used({field.value, field.key}, detail.get()));
  }
  const auto results = graph_values_.results(m.at("results"), OptionalItem(result_details).get());
  const auto id = builder_.node(m.at("op").text(), m.text("overload"), call_of(m), arguments,
                                results, m.text("location"));
  if (const auto name = m.text("name"); !name.empty()) builder_.node_name(id, name);
  metric_values_.row(m, TMETER_AXIS_NODE, index);
}

void GraphRows::outputs() {
  document_.rows("outputs", [&](size_t, const Item& row) {
    const auto m = row.members();
    const auto plain = m.get("value");  // null is a value, too
    const OptionalItem detail(m.find("detail"));
    builder_.output(plain ? graph_values_.used(*plain, detail.get())
                          : graph_values_.used(row, nullptr));
  });
}

/// Checks that a run of repeats does not exceed its siblings.
void GraphRows::check_repeats(const Graph& graph) const {
  for (const auto* parent : graph.modules()) {
    const auto& siblings = parent->children;
    for (size_t i = 0; i < siblings.size(); ++i) {
      const auto& r = descriptions_.repeats[siblings[i]->index];
      if (r.times > 0 && r.times > (siblings.size() - i) / r.window)
        refuse("modules[" + std::to_string(siblings[i]->index) +
               "]: it starts a run of more modules than it has siblings");
    }
  }
  if (descriptions_.repeats[0].times > 0) refuse("modules[0]: the root cannot begin a run");
}

}  // namespace tmeter::core::report_reader
