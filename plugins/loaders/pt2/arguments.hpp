// Arguments: turns an argument of a node (a union of some thirty kinds) into a value of the host's
// graph. Kinds of later versions become "other" values with the name of the kind.
#pragma once
#include "scope.hpp"

namespace pt2 {

class Arguments {
 public:
  explicit Arguments(Building& building) : building_(building) {}

  /// One value; lists become list values.
  tmeter_id value(json::element argument, Scope& scope);
  /// The same with lists flattened, as higher-order operators pass operands to their sub-graphs.
  void append_flat(json::element argument, Scope& scope, std::vector<tmeter_id>& out);

  /// Shared values of constants.
  tmeter_id integer(int64_t n) {
    return cached(integers_[n], [&] { return building_.graph.integer(n); });
  }
  tmeter_id boolean(bool b) {
    return cached(b ? true_ : false_, [&] { return building_.graph.boolean(b); });
  }
  tmeter_id none() {
    return cached(none_, [&] { return building_.graph.none(); });
  }

 private:
  using Ids = std::vector<tmeter_id>;
  using ReadOne = tmeter_id (Arguments::*)(json::element, Scope&);
  struct Kind {
    std::string_view name;
    ReadOne read;  // of the value, or of each item of a list
    bool is_list;
  };
  static const Kind* find_kind(std::string_view name);

  tmeter_id list(json::element items, ReadOne read, Scope& scope);
  tmeter_id tensor(json::element, Scope&);
  tmeter_id optional_tensor(json::element, Scope&);
  tmeter_id tensors(json::element, Scope&);
  tmeter_id integer(json::element, Scope&);
  tmeter_id integers(json::element, Scope&);
  tmeter_id real(json::element, Scope&);
  tmeter_id reals(json::element, Scope&);
  tmeter_id boolean(json::element, Scope&);
  tmeter_id text(json::element, Scope&);
  tmeter_id symbolic(json::element, Scope&);
  tmeter_id no_value(json::element, Scope&) { return none(); }
  tmeter_id scalar_type_value(json::element, Scope&);
  tmeter_id layout(json::element, Scope&);
  tmeter_id memory_format(json::element, Scope&);
  tmeter_id device(json::element, Scope&);
  tmeter_id graph(json::element, Scope&);
  tmeter_id custom_object(json::element, Scope&);
  tmeter_id operator_name(json::element, Scope&);
  tmeter_id complex_number(json::element, Scope&);
  tmeter_id dictionary(json::element, Scope&);

  template <class Make>
  tmeter_id cached(tmeter_id& id, Make&& make) {
    if (id == 0) id = make();
    return id;
  }

  Building& building_;
  // Constants have no producer, so one value of each is enough.
  tmeter_id none_ = 0, true_ = 0, false_ = 0;
  std::unordered_map<int64_t, tmeter_id> integers_;
};

}  // namespace pt2
