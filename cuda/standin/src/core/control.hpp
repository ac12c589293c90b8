// Orders to the stand-in: the same words in the environment of a child process
// and in a call from the test's own.
#pragma once

namespace standin {

struct State;

// configure obeys orders separated by ';':
//
//	devices=N memory=BYTES driver=13000 cc=MAJOR.MINOR version=KIND:NUMBER
//	fail=FUNCTION:NTH:CODE[:forever] work=NTH:CODE lost lost=DEVICE:WORK name=DEVICE:NAME log
//
// It returns nullptr, or the order that it does not understand.
const char* configure(State& s, const char* orders);

}  // namespace standin
