package main

import (
	"context"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// pod is a pod that the node runs: its first container, as a process in a
// process group and a mount namespace of its own.
type pod struct {
	kubelet *kubelet
	spec    *v1.Pod
	gpus    []int
	started metav1.Time

	mu       sync.Mutex
	group    int // process group, 0 before the start
	ended    bool
	told     bool // the pod was told to end
	deadline bool // the time of the pod is over
}

// terminate sends SIGTERM, and SIGKILL after the grace period. Only the first call counts.
func (p *pod) terminate(grace time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.told {
		return
	}
	p.told = true
	if p.group == 0 || p.ended {
		return
	}
	syscall.Kill(-p.group, syscall.SIGTERM)
	time.AfterFunc(grace, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if !p.ended {
			syscall.Kill(-p.group, syscall.SIGKILL)
		}
	})
}

func (p *pod) run(ctx context.Context) {
	cmd, log, reason, err := p.command()
	if err != nil {
		p.setWaiting(ctx, reason, err.Error())
		for !p.isTold() && ctx.Err() == nil {
			time.Sleep(50 * time.Millisecond)
		}
		p.setEnded(ctx, 128, err.Error())
		return
	}
	defer log.Close()
	p.mu.Lock()
	if p.told {
		p.mu.Unlock()
		p.setEnded(ctx, 143, "")
		return
	}
	err = cmd.Start()
	if err == nil {
		p.group = cmd.Process.Pid
	}
	p.mu.Unlock()
	if err != nil {
		p.setEnded(ctx, 128, err.Error())
		return
	}
	if s := p.spec.Spec.ActiveDeadlineSeconds; s != nil {
		limit := time.AfterFunc(time.Duration(*s)*time.Second, func() {
			p.mu.Lock()
			p.deadline = true
			p.mu.Unlock()
			p.terminate(grace(p.spec.Spec.TerminationGracePeriodSeconds))
		})
		defer limit.Stop()
	}
	go p.setRunning(ctx)
	cmd.Wait()
	p.mu.Lock()
	p.ended = true
	p.mu.Unlock()
	syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // processes that it left behind
	code := cmd.ProcessState.ExitCode()
	if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		code = 128 + int(ws.Signal())
	}
	message := ""
	if code != 0 && p.spec.Spec.Containers[0].TerminationMessagePolicy == v1.TerminationMessageFallbackToLogsOnError {
		message = tail(log.Name(), 2048)
	}
	p.setEnded(context.WithoutCancel(ctx), int32(code), message)
}

func grace(seconds *int64) time.Duration {
	if seconds != nil {
		return time.Duration(*seconds) * time.Second
	}
	return 30 * time.Second
}

func (p *pod) isTold() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.told
}

func tail(path string, n int) string {
	raw, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.ToValidUTF8(string(raw[max(0, len(raw)-n):]), "?")
}

func (p *pod) setRunning(ctx context.Context) {
	p.set(ctx, v1.PodRunning, v1.ContainerState{Running: &v1.ContainerStateRunning{StartedAt: p.started}})
}

func (p *pod) setWaiting(ctx context.Context, reason, message string) {
	p.set(ctx, v1.PodPending, v1.ContainerState{Waiting: &v1.ContainerStateWaiting{Reason: reason, Message: message}})
}

func (p *pod) setEnded(ctx context.Context, code int32, message string) {
	phase, reason := v1.PodSucceeded, "Completed"
	if code != 0 {
		phase, reason = v1.PodFailed, "Error"
	}
	p.set(ctx, phase, v1.ContainerState{Terminated: &v1.ContainerStateTerminated{
		ExitCode: code, Reason: reason, Message: message, StartedAt: p.started, FinishedAt: metav1.Now()}})
}

// set writes the phase and the state of the container into the pod's status. It keeps conditions that others set, such
// as DisruptionTarget.
func (p *pod) set(ctx context.Context, phase v1.PodPhase, state v1.ContainerState) {
	pods := p.kubelet.client.CoreV1().Pods(p.spec.Namespace)
	c := p.spec.Spec.Containers[0]
	for range 50 {
		now, err := pods.Get(ctx, p.spec.Name, metav1.GetOptions{})
		if err != nil || now.UID != p.spec.UID {
			return
		}
		if phase == v1.PodRunning && now.Status.Phase != v1.PodPending {
			return // it has ended meanwhile
		}
		now.Status.Phase = phase
		now.Status.StartTime = &p.started
		p.mu.Lock()
		if p.deadline && phase == v1.PodFailed {
			now.Status.Reason, now.Status.Message = "DeadlineExceeded", "Pod was active on the node longer than the specified deadline"
		}
		p.mu.Unlock()
		now.Status.ContainerStatuses = []v1.ContainerStatus{{Name: c.Name, Image: c.Image, State: state, Ready: state.Running != nil}}
		ready := v1.ConditionFalse
		if state.Running != nil {
			ready = v1.ConditionTrue
		}
		keep := []v1.PodCondition{{Type: v1.PodReady, Status: ready}, {Type: v1.PodScheduled, Status: v1.ConditionTrue}}
		for _, old := range now.Status.Conditions {
			if old.Type != v1.PodReady && old.Type != v1.PodScheduled {
				keep = append(keep, old)
			}
		}
		now.Status.Conditions = keep
		if _, err = pods.UpdateStatus(ctx, now, metav1.UpdateOptions{}); err == nil {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}
