// Orders to the stand-in, in the same syntax from the environment of a child process
// and from a call in the test's own process.
#pragma once

namespace standin {

struct State;

// configure obeys orders separated by ';':
//
//	devices=N memory=BYTES driver=N cc=MAJOR.MINOR version=KIND:MAJOR takes=FUNCTION:BYTES
//	fail=FUNCTION:NTH:CODE[:forever] work=NTH:CODE lost lost=DEVICE:WORK name=DEVICE:NAME log
//	memory=DEVICE:BYTES
//
// The Go function Environment explains them. configure returns nullptr, or the first order
// that it does not understand.
const char* configure(State& s, const char* orders);

}  // namespace standin
