// The part of `tmeter plugin check` about operators: shape rules, handlers, classes of work; on
// arguments of 4 × 4 and on calls that the user gives.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "apps/tmeter/check_lines.hpp"
#include "apps/tmeter/operator_call.hpp"
#include "core/config/hardware.hpp"
#include "core/plugin_host/registry.hpp"

namespace tmeter::app {

class OperatorCheck {
 public:
  OperatorCheck(core::Registry& registry, core::Plugin& plugin, core::CallLog& log,
                const core::HardwareSource& hardware, CheckLines& lines);

  /// Every operator that the plugin supports.
  void try_all();
  void try_call(const OperatorCall& call);

 private:
  /// The operator's place in a graph. A handler by signature must not depend on it.
  struct Place {
    const char* module;
    int before;  // operators of the graph that come first
  };
  struct Trial;
  using Figures = std::map<std::string, std::string>;  // by metric

  void try_one(const OperatorCall& call, bool by_user);
  void try_class(const tmeter_op_class& c);
  const tmeter_shape_rule* rule_of(const std::string& op) const;
  bool handles(const std::string& op) const;
  bool goes_by_signature(const std::string& op) const;
  OperatorCall usual_call(const std::string& op) const;
  Trial make(const OperatorCall& call, const Place& place);
  std::vector<uint32_t> infer(const tmeter_shape_rule& rule, const OperatorCall& call,
                              tmeter_builder& builder, const std::vector<uint32_t>& arguments);
  Figures figures_of(const Trial& trial);
  void tell_figures(const OperatorCall& call, const std::string& name);

  core::Registry& registry_;
  core::Plugin& plugin_;
  core::CallLog& log_;
  const core::HardwareSource& hardware_;
  CheckLines& lines_;
  std::vector<core::Plugin*> plugins_;  // owners of its handlers' metrics, and itself
};

}  // namespace tmeter::app
