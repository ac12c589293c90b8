package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

const (
	nodeName    = "node-1"
	gpuResource = v1.ResourceName("nvidia.com/gpu")
)

// kubelet stands in for the scheduler and the kubelet of one node.
type kubelet struct {
	client *kubernetes.Clientset
	root   string
	images images

	mu   sync.Mutex
	free []int              // GPUs that no pod has
	pods map[types.UID]*pod // pods that have begun
	runs sync.WaitGroup
}

// start registers the node and starts looking after pods, until ctx ends.
func (k *kubelet) start(ctx context.Context, gpus int) error {
	k.pods = map[types.UID]*pod{}
	for i := range gpus {
		k.free = append(k.free, i)
	}
	port, err := k.serveLogs(ctx)
	if err != nil {
		return err
	}
	n, err := k.client.CoreV1().Nodes().Create(ctx, &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: nodeName}}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	have := v1.ResourceList{
		v1.ResourceCPU: resource.MustParse("4"), v1.ResourceMemory: resource.MustParse("16Gi"), v1.ResourcePods: resource.MustParse("100"),
		gpuResource: *resource.NewQuantity(int64(gpus), resource.DecimalSI),
	}
	n.Status.Capacity, n.Status.Allocatable = have, have
	n.Status.Conditions = []v1.NodeCondition{{Type: v1.NodeReady, Status: v1.ConditionTrue}}
	n.Status.Addresses = []v1.NodeAddress{{Type: v1.NodeInternalIP, Address: "127.0.0.1"}}
	n.Status.DaemonEndpoints.KubeletEndpoint.Port = int32(port)
	if _, err := k.client.CoreV1().Nodes().UpdateStatus(ctx, n, metav1.UpdateOptions{}); err != nil {
		return err
	}
	go func() {
		for ctx.Err() == nil {
			k.look(ctx)
			time.Sleep(100 * time.Millisecond)
		}
	}()
	return nil
}

func (k *kubelet) look(ctx context.Context) {
	list, err := k.client.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return
	}
	for i := range list.Items {
		p := &list.Items[i]
		k.mu.Lock()
		known := k.pods[p.UID]
		k.mu.Unlock()
		switch {
		case p.DeletionTimestamp != nil:
			k.end(ctx, p, known)
		case known == nil && p.Status.Phase == v1.PodPending:
			k.begin(ctx, p)
		}
	}
}

// end terminates a deleted pod, and removes it once it has ended.
func (k *kubelet) end(ctx context.Context, p *v1.Pod, known *pod) {
	ended := p.Status.Phase == v1.PodSucceeded || p.Status.Phase == v1.PodFailed
	if known != nil && !ended {
		known.terminate(grace(p.DeletionGracePeriodSeconds))
		return
	}
	now := int64(0)
	k.client.CoreV1().Pods(p.Namespace).Delete(ctx, p.Name, metav1.DeleteOptions{GracePeriodSeconds: &now})
}

// begin binds a pod to the node and runs it. Without its volume claims or enough free GPUs the pod is marked as unschedulable.
func (k *kubelet) begin(ctx context.Context, p *v1.Pod) {
	if why := k.missingClaim(ctx, p); why != "" {
		k.unschedulable(ctx, p, why)
		return
	}
	want := 0
	if q, ok := p.Spec.Containers[0].Resources.Limits[gpuResource]; ok {
		want = int(q.Value())
	}
	k.mu.Lock()
	if len(k.free) < want {
		k.mu.Unlock()
		k.unschedulable(ctx, p, "0/1 nodes are available: 1 Insufficient "+string(gpuResource)+".")
		return
	}
	gpus := slices.Clone(k.free[:want])
	k.free = k.free[want:]
	k.mu.Unlock()
	release := func() {
		k.mu.Lock()
		k.free = append(k.free, gpus...)
		k.mu.Unlock()
	}
	if p.Spec.NodeName == "" {
		bind := &v1.Binding{ObjectMeta: metav1.ObjectMeta{Name: p.Name}, Target: v1.ObjectReference{Kind: "Node", Name: nodeName}}
		if err := k.client.CoreV1().Pods(p.Namespace).Bind(ctx, bind, metav1.CreateOptions{}); err != nil {
			release()
			return
		}
	}
	run := &pod{kubelet: k, spec: p.DeepCopy(), gpus: gpus, started: metav1.Now()}
	k.mu.Lock()
	k.pods[p.UID] = run
	k.mu.Unlock()
	k.runs.Go(func() {
		defer release()
		run.run(ctx)
	})
}

func (k *kubelet) missingClaim(ctx context.Context, p *v1.Pod) string {
	for _, v := range p.Spec.Volumes {
		if v.PersistentVolumeClaim == nil {
			continue
		}
		name := v.PersistentVolumeClaim.ClaimName
		if _, err := k.client.CoreV1().PersistentVolumeClaims(p.Namespace).Get(ctx, name, metav1.GetOptions{}); err != nil {
			return fmt.Sprintf("persistentvolumeclaim %q not found", name)
		}
	}
	return ""
}

func (k *kubelet) unschedulable(ctx context.Context, p *v1.Pod, why string) {
	for _, c := range p.Status.Conditions {
		if c.Type == v1.PodScheduled && c.Message == why {
			return
		}
	}
	p.Status.Conditions = append(p.Status.Conditions, v1.PodCondition{
		Type: v1.PodScheduled, Status: v1.ConditionFalse, Reason: v1.PodReasonUnschedulable, Message: why})
	k.client.CoreV1().Pods(p.Namespace).UpdateStatus(ctx, p, metav1.UpdateOptions{})
}

// wait terminates all pods and waits until they have ended.
func (k *kubelet) wait() {
	k.mu.Lock()
	for _, p := range k.pods {
		p.terminate(2 * time.Second)
	}
	k.mu.Unlock()
	k.runs.Wait()
}
