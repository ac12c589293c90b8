//go:build unix

package batch

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
)

// Damage in the middle of a result, which CheckResults alone finds, is named by its place. Once it is set aside, status no longer
// takes the task for done, and after it is handed over again it is what the engine says.
func TestDamageInTheMiddle(t *testing.T) {
	r := submitted(t)
	leaveAll(t, r)
	at := 0
	edit(t, r.resultPath(0), func(s string) string {
		at = strings.Index(s, `"method"`)
		return s[:at] + "\x00" + s[at+1:]
	})
	s := must.Get(r.Status(t.Context(), openSilent))(t)
	must.Equal(t, s.Tasks[0].State, Done, "state by the ends of the file")
	must.Do(t, r.CheckResults(s))
	if st := s.Tasks[0]; st.State != DamagedResult || !strings.Contains(st.Reason, fmt.Sprintf("result.json: byte %d: ", at)) {
		t.Errorf("%+v, expected damage at byte %d", st, at)
	}
	if _, ok := errors.AsType[*Damaged](must.Err(r.Result(0))); !ok {
		t.Errorf("%v", must.Err(r.Result(0)))
	}
	damaged, whole := must.Get(os.ReadFile(r.resultPath(0)))(t), must.Get(os.ReadFile(r.resultPath(1)))(t)
	must.Do(t, r.SetAside(s, []int{0, 1}))
	must.Hold(t, bytes.Equal(must.Get(os.ReadFile(r.resultPath(0)+".damaged"))(t), damaged), "the damaged file is not kept")
	must.Hold(t, bytes.Equal(must.Get(os.ReadFile(r.resultPath(1)))(t), whole), "a whole result is gone")
	s = must.Get(r.Status(t.Context(), openSilent))(t)
	if st := s.Tasks[0]; st.State != Lost || st.Reason == "" || fmt.Sprint(s.Failed()) != "[0]" {
		t.Errorf("%+v, failed %v", st, s.Failed())
	}
	again := must.Get(r.Status(t.Context(), func(string, Settings) (Engine, error) {
		return cancellingEngine{states: []State{Running, Done, Done, Done}}, nil
	}))(t)
	must.Equal(t, again.Tasks[0].State, Running, "state while it runs again")
}
