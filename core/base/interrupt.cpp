#include "core/base/interrupt.hpp"

#include <atomic>

namespace tmeter::core {
namespace {

std::atomic<bool> pending{false};
static_assert(std::atomic<bool>::is_always_lock_free);  // read by a signal handler

void on_interrupt(int) { pending = true; }

}  // namespace

Interrupt::Interrupt() {
  pending = false;
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  sigaction(SIGINT, &action, &before_);
  if (before_.sa_handler == SIG_IGN)
    sigaction(SIGINT, &before_, nullptr);  // ignored, as with nohup
}

Interrupt::~Interrupt() {
  sigaction(SIGINT, &before_, nullptr);
  pending = false;
}

bool Interrupt::requested() { return pending; }
void Interrupt::answered() { pending = false; }

}  // namespace tmeter::core
