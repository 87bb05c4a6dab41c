// The existing graph builders. A plugin that keeps a builder would follow it into freed memory, so
// a handle is looked up here before anything behind it is read.
#pragma once
#include <tmeter/abi/builder.h>

namespace tmeter::core {

/// Any thread.
bool is_live(const tmeter_builder* builder);

/// A member of each builder: it is live as long as this.
class BuilderRegistration {
 public:
  explicit BuilderRegistration(const tmeter_builder* builder);
  ~BuilderRegistration();
  BuilderRegistration(const BuilderRegistration&) = delete;
  BuilderRegistration& operator=(const BuilderRegistration&) = delete;

 private:
  const tmeter_builder* builder_;
};

}  // namespace tmeter::core
