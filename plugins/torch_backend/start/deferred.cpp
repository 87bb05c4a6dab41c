#include "start/deferred.hpp"

#include <algorithm>
#include <utility>

namespace tmeter::torch_backend::start {
namespace {

void sort_by_overload(std::vector<Deferred::Entry>& entries) {
  std::vector<std::string_view> overloads;  // as they were first mentioned
  const auto rank = [&](const Deferred::Entry& entry) {
    const auto overload = entry->overload();
    return overload ? std::find(overloads.begin(), overloads.end(), *overload) - overloads.begin()
                    : static_cast<std::ptrdiff_t>(overloads.size());
  };
  for (const auto& entry : entries) {
    if (const auto o = entry->overload(); o && rank(entry) == std::ssize(overloads))
      overloads.push_back(*o);
  }
  std::stable_sort(entries.begin(), entries.end(),
                   [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
}

}  // namespace

std::string_view shared_name(std::string_view op) {
  size_t end = 0;  // a call for each letter, as find_first_of makes, is seen in the time of a start
  while (end < op.size() && op[end] != '.' && op[end] != '(') ++end;
  return op.substr(0, end);
}

std::string_view overload_of(std::string_view op) {
  const auto name = op.substr(0, op.find('('));
  const auto dot = name.find('.');
  return dot == std::string_view::npos ? std::string_view() : name.substr(dot + 1);
}

void Deferred::add(std::string_view name, Entry entry) {
  const std::lock_guard lock(mutex_);
  auto chain = chains_.find(name);
  if (chain == chains_.end()) {
    chain = chains_.emplace(std::string(name), std::vector<Entry>()).first;
    chain->second.reserve(8);
    ++count_;
  }
  chain->second.push_back(std::move(entry));
}

void Deferred::enter(Chains::iterator chain) {
  auto entries = std::move(chain->second);
  chains_.erase(chain);  // first: entering looks for its own name
  sort_by_overload(entries);
  struct Done {
    ~Done() { --count; }
    std::atomic<size_t>& count;
  } const done{count_};
  for (const auto& entry : entries) entry->enter();
}

void Deferred::enter(std::string_view name) {
  if (names() == 0) return;
  const std::lock_guard lock(mutex_);
  if (const auto chain = chains_.find(name); chain != chains_.end()) enter(chain);
}

void Deferred::enter_all() {
  if (names() == 0) return;
  const std::lock_guard lock(mutex_);
  while (!chains_.empty()) enter(chains_.begin());
}

bool Deferred::waits(std::string_view name) {
  const std::lock_guard lock(mutex_);
  return chains_.contains(name);
}

std::vector<std::string> Deferred::script_names() {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> out;
  for (const auto& [name, entries] : chains_) {
    for (const auto& entry : entries) {
      if (!entry->of_script()) continue;
      out.push_back(name);
      break;
    }
  }
  return out;
}

}  // namespace tmeter::torch_backend::start
