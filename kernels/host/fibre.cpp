#include "fibre.h"

#include <cstdint>
#include <cstdlib>

#if AMTRL_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#if !defined(__x86_64__) && !defined(__aarch64__)
#include <ucontext.h>
#endif

#if defined(__x86_64__) || defined(__aarch64__)
extern "C" __attribute__((visibility("hidden"))) void amtrl_host_switch(void **save, void *to);
#endif

#if defined(__x86_64__)
asm(R"(
.text
.p2align 4
.globl amtrl_host_switch
.hidden amtrl_host_switch
.type amtrl_host_switch, @function
amtrl_host_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size amtrl_host_switch, . - amtrl_host_switch
)");
#elif defined(__aarch64__)
asm(R"(
.text
.p2align 4
.globl amtrl_host_switch
.hidden amtrl_host_switch
.type amtrl_host_switch, %function
amtrl_host_switch:
  sub sp, sp, #160
  stp x19, x20, [sp, #0]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x19, x20, [sp, #0]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
.size amtrl_host_switch, . - amtrl_host_switch
)");
#endif

namespace host {

namespace {

#if defined(__x86_64__) || defined(__aarch64__)
void jump(Context &from, Context &to) { amtrl_host_switch(&from.sp, to.sp); }
#else
// sp is a ucontext_t, made on first use and kept.
ucontext_t *place(Context &c) {
  if (c.sp == nullptr) c.sp = new ucontext_t;
  return static_cast<ucontext_t *>(c.sp);
}
void jump(Context &from, Context &to) { swapcontext(place(from), place(to)); }
#endif

} // namespace

void forget(void *p, std::size_t size) {
#if AMTRL_ASAN
  ASAN_UNPOISON_MEMORY_REGION(p, size);
#else
  (void)p, (void)size;
#endif
}

void prepare(Context &c, void *bottom, std::size_t size, std::size_t skew, void (*entry)()) {
  forget(static_cast<char *>(bottom) + size - 8192, 8192); // the frame of the previous entry
  c.bottom = bottom;
  c.size = size;
  c.fake = nullptr;
  std::uintptr_t top = (reinterpret_cast<std::uintptr_t>(bottom) + size - skew) & ~std::uintptr_t(63);
#if defined(__x86_64__)
  // Six saved registers, the entry as return address, and a return address of
  // zero that puts the stack where the ABI wants it at a function's first line.
  void **sp = reinterpret_cast<void **>(top - 8) - 7;
  for (int i = 0; i < 6; i++) sp[i] = nullptr;
  sp[6] = reinterpret_cast<void *>(entry);
  sp[7] = nullptr;
  c.sp = sp;
#elif defined(__aarch64__)
  void **sp = reinterpret_cast<void **>(top - 160);
  for (int i = 0; i < 20; i++) sp[i] = nullptr;
  sp[11] = reinterpret_cast<void *>(entry); // x30
  c.sp = sp;
#else
  ucontext_t *u = place(c);
  getcontext(u);
  u->uc_stack.ss_sp = bottom;
  u->uc_stack.ss_size = top - reinterpret_cast<std::uintptr_t>(bottom);
  u->uc_link = nullptr;
  makecontext(u, entry, 0);
#endif
}

void change(Context &from, Context &to) {
#if AMTRL_ASAN
  __sanitizer_start_switch_fiber(&from.fake, to.bottom, to.size);
#endif
  jump(from, to);
#if AMTRL_ASAN
  __sanitizer_finish_switch_fiber(from.fake, nullptr, nullptr);
#endif
}

void leave(Context &from, Context &to) {
#if AMTRL_ASAN
  __sanitizer_start_switch_fiber(nullptr, to.bottom, to.size);
#endif
  jump(from, to);
  std::abort();
}

void entered(Context &, Context &origin) {
#if AMTRL_ASAN
  const void *bottom = nullptr;
  std::size_t size = 0;
  __sanitizer_finish_switch_fiber(nullptr, &bottom, &size);
  if (origin.bottom == nullptr) {
    origin.bottom = bottom;
    origin.size = size;
  }
#else
  (void)origin;
#endif
}

} // namespace host
