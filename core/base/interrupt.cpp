#include "core/base/interrupt.hpp"

#include <atomic>

namespace tmeter::core {
namespace {

std::atomic<bool> asked{false};
static_assert(std::atomic<bool>::is_always_lock_free);  // read by a signal handler

void on_interrupt(int) { asked = true; }

}  // namespace

Interrupt::Interrupt() {
  asked = false;
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  sigaction(SIGINT, &action, &before_);
  if (before_.sa_handler == SIG_IGN)
    sigaction(SIGINT, &before_, nullptr);  // ignored, as with nohup
}

Interrupt::~Interrupt() {
  sigaction(SIGINT, &before_, nullptr);
  asked = false;
}

bool Interrupt::requested() { return asked; }
void Interrupt::answered() { asked = false; }

}  // namespace tmeter::core
